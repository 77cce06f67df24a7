-- The health of a BenchmarkRun, for Argo CD: Progressing until it has finished, then Healthy or Degraded.
-- In the ConfigMap argocd-cm, this is the value of resource.customizations.health.benchrun.dev_BenchmarkRun.
local conditions = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    conditions[condition.type] = condition
  end
end

local function holds(name)
  return conditions[name] ~= nil and conditions[name].status == "True"
end

local function message(name, default)
  if conditions[name] ~= nil and conditions[name].message ~= nil then
    return conditions[name].message
  end
  return default
end

local hs = {}
if holds("Finished") and holds("Complete") then
  hs.status = "Healthy"
  hs.message = message("Complete", "")
elseif holds("Finished") then
  hs.status = "Degraded"
  hs.message = message("Failed", "")
elseif obj.spec ~= nil and obj.spec.suspend == true then
  hs.status = "Suspended"
  hs.message = "spec.suspend is true"
else
  hs.status = "Progressing"
  hs.message = message("Ready", "Waiting for the operator")
end
return hs
