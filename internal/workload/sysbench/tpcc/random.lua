-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- The random numbers of tpcc.lua, and the values that are made of them. The generator is the "minimal standard" one (Park and
-- Miller, multiplier of 1993), whose products are exact in doubles: everywhere the same numbers for the same seed.
--
-- Of the table tpcc it needs the cardinalities; it returns a table of functions.

local tpcc = ...

local bit = require("bit")
local ffi = require("ffi")

local random = {}

local state = 1

local function seed_with(...)
  state = 12345
  for _, part in ipairs({...}) do
    state = (state * 48271 + part % 2147483647) % 2147483647
    if state == 0 then state = 1 end
    for _ = 1, 3 do state = state * 48271 % 2147483647 end
  end
end

-- seed of the whole execution; without --rand-seed another one each time, as sysbench does it.
local function base_seed()
  local seed = tonumber(sysbench.opt.rand_seed) or 0
  return seed ~= 0 and seed or os.time()
end

local function uniform(low, high)
  state = state * 48271 % 2147483647
  return low + math.floor((state - 1) / 2147483646 * (high - low + 1))
end

-- The constants C of non-uniform numbers (clause 2.1.6), which say which rows are asked for most: the same in whatever is executed
-- on the same data, as a warm-up and from several Pods with random numbers of their own. For last names there is another one in a
-- run than when loading, by between 65 and 119, but not 96 or 112.
local c_last, c_id, i_id

-- draw_constants for loading, or for running; compatible with the published script or not.
function random.draw_constants(running, compatible)
  local seed = sysbench.opt.constants_seed
  if seed == 0 then seed = base_seed() end
  if running and compatible then
    seed_with(seed, 1, sysbench.tid) -- each thread of the published script has constants of its own
  else
    seed_with(seed, 1)
  end
  c_last, c_id, i_id = uniform(0, 255), uniform(0, 1023), uniform(0, 8191)
  if running then c_last = (c_last + 85) % 256 end
  if sysbench.tid == 0 then io.write(string.format("constants: c_last=%d c_id=%d i_id=%d\n", c_last, c_id, i_id)) end
end

local function nurand(a, c, low, high)
  return (bit.bor(uniform(0, a), uniform(low, high)) + c) % (high - low + 1) + low
end

local function customer_number() return nurand(1023, c_id, 1, tpcc.customers) end
local function item_number() return nurand(8191, i_id, 1, tpcc.items) end

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
local letters = ffi.new("char[?]", #alphabet, alphabet)
local buffer = ffi.new("char[512]")

local function text(low, high)
  local n = uniform(low, high)
  for i = 0, n - 1 do buffer[i] = letters[uniform(0, #alphabet - 1)] end
  return ffi.string(buffer, n)
end

local function digits(n)
  for i = 0, n - 1 do buffer[i] = 48 + uniform(0, 9) end
  return ffi.string(buffer, n)
end

-- One in ten has ORIGINAL somewhere (clause 4.3.3.1).
local function data()
  local s = text(26, 50)
  if uniform(1, 10) > 1 then return s end
  local at = uniform(1, #s - 7)
  return s:sub(1, at - 1) .. "ORIGINAL" .. s:sub(at + 8)
end

local syllables = {[0] = "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

local function last_name(n)
  return syllables[math.floor(n / 100)] .. syllables[math.floor(n / 10) % 10] .. syllables[n % 10]
end

-- customer_name is a last name that somebody of every district has.
local function customer_name() return last_name(nurand(255, c_last, 0, 999)) end

local function address()
  return string.format("'%s','%s','%s','%s','%s11111'", text(10, 20), text(10, 20), text(10, 20), text(2, 2), digits(4))
end

random.seed_with, random.base_seed, random.uniform = seed_with, base_seed, uniform
random.customer_number, random.item_number = customer_number, item_number
random.text, random.digits, random.data, random.address = text, digits, data, address
random.last_name, random.customer_name = last_name, customer_name

return random
