-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Reads rows by ranges of --range_size values: --ranges of them in a statement, of the primary key or of column k, which has a
-- secondary index. A column that is in the index is read there alone; any other is looked up in the row.

local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local micro = assert(loadfile(folder .. "micro.lua"))()

micro.options({
  select = {"What is selected", "*"},
  key = {"Column that the ranges are of: id or k", "id"},
  ranges = {"Number of ranges in a statement", 1},
})

micro.event({
  text = function(n)
    local range = sysbench.opt.key .. " BETWEEN ? AND ?"
    return string.format("SELECT %s FROM sbtest%d WHERE %s%s",
      sysbench.opt.select, n, range, string.rep(" OR " .. range, sysbench.opt.ranges - 1))
  end,
  types = function() return micro.ints(2 * sysbench.opt.ranges) end,
  set = function(parameters)
    for i = 1, #parameters, 2 do
      local first = micro.id()
      parameters[i]:set(first)
      parameters[i + 1]:set(first + sysbench.opt.range_size - 1)
    end
  end,
})
