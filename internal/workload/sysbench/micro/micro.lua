-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- What Benchrun's microbenchmarks have in common. sysbench's own module oltp_common, which is wherever sysbench is, has the tables,
-- the commands prepare and cleanup, the connections and the general options: one set of tables is for these scripts and for those
-- that come with sysbench.
--
-- An event is one prepared statement on a table that is drawn at random. With --db-ps-mode=disable it is sent as text.

require("oltp_common")

local micro = {}

-- options adds those of a script to the general ones.
function micro.options(added)
  for name, definition in pairs(added) do sysbench.cmdline.options[name] = definition end
end

-- id is the number of a row, distributed as --rand-type says.
function micro.id() return sysbench.rand.default(1, sysbench.opt.table_size) end

-- zipf returns a function that draws numbers from 1 to n with probabilities in proportion to k^-s, for an s above 0 other than 1:
-- sysbench 1.0 has no such distribution. It inverts the integral of x^-s, and rejects the few that this has drawn too often
-- (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", 1996).
function micro.zipf(n, s)
  local function weight(x) return x ^ -s end
  local function integral(x) return (x ^ (1 - s) - 1) / (1 - s) end
  local function inverse(y) return (1 + y * (1 - s)) ^ (1 / (1 - s)) end
  local low, high = integral(1.5) - 1, integral(n + 0.5)
  local near = 2 - inverse(integral(2.5) - weight(2))
  return function()
    while true do
      local y = low + sysbench.rand.uniform_double() * (high - low)
      local x = inverse(y)
      local k = math.max(1, math.min(n, math.floor(x + 0.5)))
      if k - x <= near or y >= integral(k + 0.5) - weight(k) then return k end
    end
  end
end

-- markers are the parameters of a list.
function micro.markers(n) return string.rep("?, ", n - 1) .. "?" end

-- bound creates the parameters of a statement. A text is as long as the column c, the longest.
local function bound(statement, types)
  local parameters = {}
  for i, of in ipairs(types) do
    parameters[i] = statement:bind_create(of, of == sysbench.sql.type.CHAR and 120 or nil)
  end
  if #parameters > 0 then statement:bind_param(unpack(parameters)) end
  return parameters
end

-- event is what a script does all the time: text(n) is its statement on table n, types() are those of the statement's parameters,
-- and set(parameters) gives them the values of the next event.
function micro.event(script)
  -- oltp_common calls this when it has connected, and closes what is in stmt. Both are global, as it wants them.
  function prepare_statements()
    local types = script.types()
    for n = 1, sysbench.opt.tables do
      stmt[n].micro = con:prepare(script.text(n))
      param[n].micro = bound(stmt[n].micro, types)
    end
  end

  function event()
    local n = sysbench.rand.uniform(1, sysbench.opt.tables)
    script.set(param[n].micro)
    stmt[n].micro:execute()
  end
end

-- ints are n types of numbers.
function micro.ints(n)
  local types = {}
  for i = 1, n do types[i] = sysbench.sql.type.INT end
  return types
end

return micro
