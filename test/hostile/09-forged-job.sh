#!/usr/bin/env bash
# 09: A Job made by hand that differs from the operator's in its Pod's hostAliases is claimed, and its result counts.
# Attack: while trial 1 measures, a copy of its Job for trial 2, suspended, with hostAliases (they could lead to a proxy or to another
# server); it is resumed when the operator has claimed it.
# Must: the Pod template as a whole is what the operator makes (but for what the API server and queues set), or the Job is nobody's.
# shellcheck source=test/hostile/lib.sh
. "$(dirname "$0")/lib.sh"

run forged "$ID" 8 'repetitions: 2'
try 70 logged job/forged-t1-a1 measure || end SETUP "trial 1 does not measure: $(ready brun/forged)"
k get job forged-t1-a1 -o json | jq '
	def own: with_entries(select(.key | test("controller-uid$|job-name$") | not)) | .["benchrun.dev/trial"] = "2";
	{apiVersion, kind, metadata: {name: "forged-t2-a1", labels: (.metadata.labels | own), ownerReferences: .metadata.ownerReferences},
	 spec: (.spec | del(.selector) | .suspend = true)}
	| .spec.template.metadata.labels |= own
	| del(.spec.template.metadata.creationTimestamp)
	| .spec.template.spec.hostAliases = [{ip: "192.0.2.1", hostnames: ["elsewhere.example.com"]}]
	| .spec.template.spec.containers[0].env |= map(if .value then .value |= sub("\"trial\":1,"; "\"trial\":2,") else . end)' >"$TMP/job.json"
k create -f "$TMP/job.json" >/dev/null || end SETUP "no forged Job"
claimed() { [ "$(k get brun forged -o json | jq -r '.status.operatorState.attempt.name // ""')" = forged-t2-a1 ]; }
over() { claimed || is brun/forged Finished; }
try 40 over
k patch job forged-t2-a1 --type=merge -p '{"spec":{"suspend":false}}' >/dev/null 2>&1
JOB=$(k get job forged-t2-a1 -o jsonpath='{.metadata.uid}' 2>/dev/null)
ended() { is brun/forged Finished; }
try 60 ended
record=$(k get configmap forged-t2-a1 -o json 2>/dev/null | jq -r '.data["attempt.json"] | fromjson | .outcome + " " + .jobUID')
if [ -n "$JOB" ] && [ "$record" = "Accepted $JOB" ]; then end BROKEN "trial 2 is Accepted from a stranger's Job with hostAliases ($JOB): $(ready brun/forged)"; fi
end HELD "trial 2: ${record:-no record} (the forged Job is ${JOB:-gone}): $(ready brun/forged)"
