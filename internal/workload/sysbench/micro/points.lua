-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Reads rows by a list of values: --points of them, of the primary key or of column k, which has a secondary index. A column that is
-- in the index is read there alone; any other is looked up in the row.

local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local micro = assert(loadfile(folder .. "micro.lua"))()

micro.options({
  select = {"What is selected", "*"},
  key = {"Column that the list is of: id or k", "id"},
  points = {"Number of values in the list", 10},
  hot = {"The list is always the same: the first rows of the table", false},
})

micro.event({
  text = function(n)
    return string.format("SELECT %s FROM sbtest%d WHERE %s IN (%s)",
      sysbench.opt.select, n, sysbench.opt.key, micro.markers(sysbench.opt.points))
  end,
  types = function() return micro.ints(sysbench.opt.points) end,
  set = function(parameters)
    for i, parameter in ipairs(parameters) do parameter:set(sysbench.opt.hot and i or micro.id()) end
  end,
})
