-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Updates --points rows by one statement. The column that changes has no index.

local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local micro = assert(loadfile(folder .. "micro.lua"))()

micro.options({
  points = {"Number of rows in the list", 10},
  zipf = {"Draw rows by Zipf's distribution with this exponent; 0: as --rand-type says", 0},
})

local id

micro.event({
  text = function(n)
    return string.format("UPDATE sbtest%d SET c = ? WHERE id IN (%s)", n, micro.markers(sysbench.opt.points))
  end,
  types = function()
    local exponent = sysbench.opt.zipf
    id = exponent == 0 and micro.id or micro.zipf(sysbench.opt.table_size, exponent)
    local types = micro.ints(sysbench.opt.points)
    table.insert(types, 1, sysbench.sql.type.CHAR)
    return types
  end,
  set = function(parameters)
    parameters[1]:set(get_c_value())
    for i = 2, #parameters do parameters[i]:set(id()) end
  end,
})
