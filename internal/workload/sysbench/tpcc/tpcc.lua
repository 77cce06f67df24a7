-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- A TPC-C-like load for sysbench 1.0, written from the public TPC-C specification (revision 5.11; "clause" below). It takes
-- the options of the published sysbench-tpcc. It is not TPC-C: there are no terminals, no keying and no think times, and no
-- thread has a home warehouse. Its numbers are transactions per second and committed new orders per minute, never tpmC.
--
--   sysbench tpcc.lua --tables=1 --scale=10 … prepare | check | run | cleanup
--
-- Rows are a function of --rand-seed, table set and warehouse, however many threads load. In a run, what a thread asks for is
-- a function of --rand-seed and its number. Each thread says at its end what it has done, in a line
-- "benchrun: new_order=N payment=N …".
--
-- Its parts lie in this script's folder: random.lua, schema.lua, load.lua, transactions.lua; with --compat=sysbench-tpcc, the
-- transactions are those of compat.lua.

local ffi = require("ffi")

ffi.cdef("int usleep(unsigned int microseconds);")

sysbench.cmdline.options = {
  scale = {"Number of warehouses in each set of tables", 100},
  tables = {"Number of table sets, of nine tables each", 1},
  use_fk = {"Create foreign keys: 1 or 0", 1},
  force_pk = {"Give history, which has no primary key, one: 1 or 0", 0},
  trx_level = {"Transaction isolation: RR, RC or SER", "RR"},
  constants_seed = {"Seed of the constants of non-uniform numbers, the same for all executions on the same data; 0: rand-seed", 0},
  compat = {"Send the statements of a published script: sysbench-tpcc; or none", "none"},
  enable_purge = {"Delete old orders, as a sixth transaction: yes or no", "no"},
  mysql_storage_engine = {"Storage engine", "innodb"},
  mysql_table_options = {"Further options of the tables", ""},
}

-- What the parts share: cardinalities (clause 1.2.1) of each warehouse, and of item; the connection.
local tpcc = {districts = 10, customers = 3000, orders = 3000, items = 100000}

function tpcc.sql(statement, ...) return tpcc.con:query(statement:format(...)) end

function tpcc.row(statement, ...) return tpcc.con:query_row(statement:format(...)) end

-- part loads one of the other files.
local function part(name)
  local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""
  return assert(loadfile(folder .. name .. ".lua"))(tpcc)
end

tpcc.random = part("random")
tpcc.transactions = part("transactions")

local schema, load = part("schema"), part("load")
local sql, row, random = tpcc.sql, tpcc.row, tpcc.random

-- compatible says whether the transactions are those of the published script.
local function compatible()
  local compat = sysbench.opt.compat
  if compat ~= "none" and compat ~= "sysbench-tpcc" then error("compat must be none or sysbench-tpcc, not " .. compat) end
  return compat == "sysbench-tpcc"
end

local levels = {RR = "REPEATABLE READ", RC = "READ COMMITTED", SER = "SERIALIZABLE"}

-- connect begins a session of the given transactions.
local function connect(transactions)
  tpcc.con = sysbench.sql.driver():connect()
  local level = levels[sysbench.opt.trx_level]
  if not level then error("trx_level must be RR, RC or SER, not " .. sysbench.opt.trx_level) end
  transactions.session(level)
end

-- Commands ------------------------------------------------------------------------------------------------------------------

-- barrier lets no thread load before all have made their tables. Threads of sysbench share nothing but the database. One that
-- fails says so, and the others end as well.
local function barrier(made, message)
  sql("INSERT INTO tpcc_barrier (thread, failed) VALUES (%d, %d)", sysbench.tid, made and 0 or 1)
  if not made then error(message, 0) end
  while true do
    local there, failed = row("SELECT COUNT(*), COALESCE(SUM(failed), 0) FROM tpcc_barrier")
    if tonumber(failed) > 0 then error("another thread could not make its tables") end
    if tonumber(there) == sysbench.opt.threads then return end
    ffi.C.usleep(20000)
  end
end

-- mine calls a function for each of n pieces of work that is this thread's.
local function mine(n, work)
  for i = sysbench.tid % sysbench.opt.threads, n - 1, sysbench.opt.threads do work(i) end
end

local function prepare()
  connect(tpcc.transactions)
  random.draw_constants(false, compatible())
  sql("SET foreign_key_checks = 0")
  sql("CREATE TABLE IF NOT EXISTS tpcc_barrier (thread INT NOT NULL PRIMARY KEY, failed INT NOT NULL)")
  local sets, scale = sysbench.opt.tables, sysbench.opt.scale
  barrier(pcall(mine, sets, function(i)
    print(string.format("Creating tables: set %d", i + 1))
    schema.create(i + 1)
  end))
  mine(sets, function(i) load.items(i + 1) end)
  mine(sets * scale, function(i)
    local set, w = math.floor(i / scale) + 1, i % scale + 1
    print(string.format("Loading warehouse %d of set %d", w, set))
    load.warehouse(set, w)
  end)
end

local function check()
  connect(tpcc.transactions)
  mine(sysbench.opt.tables, function(i) schema.check(i + 1) end)
end

local function cleanup()
  connect(tpcc.transactions)
  sql("SET foreign_key_checks = 0")
  if sysbench.tid == 0 then sql("DROP TABLE IF EXISTS tpcc_barrier") end
  mine(sysbench.opt.tables, function(i) schema.drop(i + 1) end)
end

sysbench.cmdline.commands = {
  prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND},
  check = {check, sysbench.cmdline.PARALLEL_COMMAND},
  cleanup = {cleanup, sysbench.cmdline.PARALLEL_COMMAND},
}

-- Events --------------------------------------------------------------------------------------------------------------------

-- The mix of the published script: 10 : 10 : 1 : 1 : 1.
local transactions, done, slots

function thread_init()
  transactions = compatible() and part("compat") or tpcc.transactions
  connect(transactions)
  random.draw_constants(true, compatible())
  random.seed_with(random.base_seed(), 4, sysbench.tid)
  done = {}
  slots = sysbench.opt.enable_purge == "yes" and 24 or 23
end

function event()
  local set, scale, kind = random.uniform(1, sysbench.opt.tables), sysbench.opt.scale, nil
  local slot = random.uniform(1, slots)
  if slot <= 10 then kind = transactions.new_order(set, scale)
  elseif slot <= 20 then kind = transactions.payment(set, scale)
  elseif slot == 21 then kind = transactions.order_status(set, scale)
  elseif slot == 22 then kind = transactions.delivery(set, scale)
  elseif slot == 23 then kind = transactions.stock_level(set, scale)
  else kind = tpcc.transactions.purge(set, scale)
  end
  done[kind] = (done[kind] or 0) + 1
end

-- An event that is tried again begins anew. A lock wait that timed out has rolled back one statement only.
function sysbench.hooks.before_restart_event() sql("ROLLBACK") end

function thread_done()
  local parts = {}
  for kind, n in pairs(done) do parts[#parts + 1] = kind .. "=" .. n end
  table.sort(parts)
  -- In one piece: print would write the end of the line by itself, when another thread may have written its own line.
  if #parts > 0 then io.write("benchrun: " .. table.concat(parts, " ") .. "\n") end
  tpcc.con:disconnect()
end
