-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- Reads a whole table. No row qualifies, because c and pad have different lengths: what is measured is reading rows, and not sending
-- them.

local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
local micro = assert(loadfile(folder .. "micro.lua"))()

micro.event({
  text = function(n) return string.format("SELECT id FROM sbtest%d WHERE c = pad", n) end,
  types = function() return {} end,
  set = function() end,
})
