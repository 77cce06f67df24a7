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
-- With --compat=sysbench-tpcc, the transactions are those of tpcc_compat.lua, in this script's folder.

local bit = require("bit")
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

local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or ""

-- Cardinalities (clause 1.2.1) of each warehouse, and of item.
local DISTRICTS, CUSTOMERS, ORDERS, ITEMS = 10, 3000, 3000, 100000
-- Orders up to this one are loaded as delivered (clause 4.3.3.1).
local DELIVERED = 2100
-- Loaded rows carry this in place of the time of loading: the same seed gives the same rows.
local LOADED_AT = "2000-01-01 00:00:00"

-- compatible says whether the transactions are those of the published script.
local function compatible()
  local compat = sysbench.opt.compat
  if compat ~= "none" and compat ~= "sysbench-tpcc" then error("compat must be none or sysbench-tpcc, not " .. compat) end
  return compat == "sysbench-tpcc"
end

-- Random numbers ------------------------------------------------------------------------------------------------------------
-- The "minimal standard" generator (Park and Miller, multiplier of 1993), whose products are exact in doubles.

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

local function constants(running)
  local seed = sysbench.opt.constants_seed
  if seed == 0 then seed = base_seed() end
  if running and compatible() then
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

local function customer_number() return nurand(1023, c_id, 1, CUSTOMERS) end
local function item_number() return nurand(8191, i_id, 1, ITEMS) end

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

-- Connection ----------------------------------------------------------------------------------------------------------------

local con

local levels = {RR = "REPEATABLE READ", RC = "READ COMMITTED", SER = "SERIALIZABLE"}

local function sql(statement, ...) return con:query(statement:format(...)) end

local function row(statement, ...) return con:query_row(statement:format(...)) end

local function isolate(level) sql("SET SESSION TRANSACTION ISOLATION LEVEL %s", level) end

-- connect begins a session with the given function, by default isolate.
local function connect(session)
  con = sysbench.sql.driver():connect()
  local level = levels[sysbench.opt.trx_level]
  if not level then error("trx_level must be RR, RC or SER, not " .. sysbench.opt.trx_level) end
  (session or isolate)(level)
end

-- bulk inserts rows, which the function each gives to the function that it is called with.
local function bulk(head, each)
  con:bulk_insert_init(head)
  each(function(format, ...) con:bulk_insert_next(format:format(...)) end)
  con:bulk_insert_done()
end

-- Tables (clause 1.3) -------------------------------------------------------------------------------------------------------

local address_columns = [[%s_street_1 VARCHAR(20), %s_street_2 VARCHAR(20), %s_city VARCHAR(20), %s_state CHAR(2), %s_zip CHAR(9)]]

local function address_of(prefix) return (address_columns:gsub("%%s", prefix)) end

-- Parents come before children. W_YTD and D_YTD are wider than specified: without think times 12 digits are full within hours.
local tables = {
  {"warehouse", [[w_id SMALLINT NOT NULL, w_name VARCHAR(10), ]] .. address_of("w") .. [[,
    w_tax DECIMAL(4,4), w_ytd DECIMAL(16,2), PRIMARY KEY (w_id)]]},
  {"item", [[i_id INT NOT NULL, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50), PRIMARY KEY (i_id)]]},
  {"district", [[d_id TINYINT NOT NULL, d_w_id SMALLINT NOT NULL, d_name VARCHAR(10), ]] .. address_of("d") .. [[,
    d_tax DECIMAL(4,4), d_ytd DECIMAL(16,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id)]],
    {"(d_w_id) REFERENCES warehouse%d (w_id)"}},
  {"customer", [[c_id INT NOT NULL, c_d_id TINYINT NOT NULL, c_w_id SMALLINT NOT NULL,
    c_first VARCHAR(16), c_middle CHAR(2), c_last VARCHAR(16), ]] .. address_of("c") .. [[, c_phone CHAR(16), c_since DATETIME,
    c_credit CHAR(2), c_credit_lim DECIMAL(12,2), c_discount DECIMAL(4,4), c_balance DECIMAL(12,2),
    c_ytd_payment DECIMAL(12,2), c_payment_cnt SMALLINT UNSIGNED, c_delivery_cnt SMALLINT UNSIGNED, c_data VARCHAR(500),
    PRIMARY KEY (c_w_id, c_d_id, c_id), KEY idx_customer (c_w_id, c_d_id, c_last, c_first)]],
    {"(c_w_id, c_d_id) REFERENCES district%d (d_w_id, d_id)"}},
  {"history", [[h_c_id INT, h_c_d_id TINYINT NOT NULL, h_c_w_id SMALLINT NOT NULL, h_d_id TINYINT NOT NULL,
    h_w_id SMALLINT NOT NULL, h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24),
    KEY idx_history_customer (h_c_w_id, h_c_d_id, h_c_id), KEY idx_history_district (h_w_id, h_d_id)]],
    {"(h_c_w_id, h_c_d_id, h_c_id) REFERENCES customer%d (c_w_id, c_d_id, c_id)",
     "(h_w_id, h_d_id) REFERENCES district%d (d_w_id, d_id)"}},
  {"orders", [[o_id INT NOT NULL, o_d_id TINYINT NOT NULL, o_w_id SMALLINT NOT NULL, o_c_id INT, o_entry_d DATETIME,
    o_carrier_id TINYINT, o_ol_cnt TINYINT, o_all_local TINYINT,
    PRIMARY KEY (o_w_id, o_d_id, o_id), KEY idx_orders (o_w_id, o_d_id, o_c_id, o_id)]],
    {"(o_w_id, o_d_id, o_c_id) REFERENCES customer%d (c_w_id, c_d_id, c_id)"}},
  {"new_orders", [[no_o_id INT NOT NULL, no_d_id TINYINT NOT NULL, no_w_id SMALLINT NOT NULL,
    PRIMARY KEY (no_w_id, no_d_id, no_o_id)]],
    {"(no_w_id, no_d_id, no_o_id) REFERENCES orders%d (o_w_id, o_d_id, o_id)"}},
  {"stock", [[s_i_id INT NOT NULL, s_w_id SMALLINT NOT NULL, s_quantity SMALLINT, s_dist_01 CHAR(24), s_dist_02 CHAR(24),
    s_dist_03 CHAR(24), s_dist_04 CHAR(24), s_dist_05 CHAR(24), s_dist_06 CHAR(24), s_dist_07 CHAR(24), s_dist_08 CHAR(24),
    s_dist_09 CHAR(24), s_dist_10 CHAR(24), s_ytd DECIMAL(8,0), s_order_cnt SMALLINT UNSIGNED, s_remote_cnt SMALLINT UNSIGNED,
    s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id), KEY idx_stock_item (s_i_id)]],
    {"(s_w_id) REFERENCES warehouse%d (w_id)", "(s_i_id) REFERENCES item%d (i_id)"}},
  {"order_line", [[ol_o_id INT NOT NULL, ol_d_id TINYINT NOT NULL, ol_w_id SMALLINT NOT NULL, ol_number TINYINT NOT NULL,
    ol_i_id INT, ol_supply_w_id SMALLINT, ol_delivery_d DATETIME, ol_quantity TINYINT, ol_amount DECIMAL(6,2),
    ol_dist_info CHAR(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number),
    KEY idx_order_line_stock (ol_supply_w_id, ol_i_id)]],
    {"(ol_w_id, ol_d_id, ol_o_id) REFERENCES orders%d (o_w_id, o_d_id, o_id)",
     "(ol_supply_w_id, ol_i_id) REFERENCES stock%d (s_w_id, s_i_id)"}},
}

local function create_tables(set)
  for _, t in ipairs(tables) do
    local name, columns = t[1], t[2]
    if name == "history" and tonumber(sysbench.opt.force_pk) ~= 0 then
      columns = "h_id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, " .. columns
    end
    if tonumber(sysbench.opt.use_fk) ~= 0 then
      for i, key in ipairs(t[3] or {}) do
        columns = string.format("%s, CONSTRAINT fk_%s%d_%d FOREIGN KEY %s", columns, name, set, i, key:format(set))
      end
    end
    sql("CREATE TABLE %s%d (%s) ENGINE=%s %s", name, set, columns, sysbench.opt.mysql_storage_engine,
      sysbench.opt.mysql_table_options)
  end
end

-- Loading (clause 4.3.3) ----------------------------------------------------------------------------------------------------

local function load_items(set)
  seed_with(base_seed(), 2, set)
  bulk(string.format("INSERT INTO item%d (i_id, i_im_id, i_name, i_price, i_data) VALUES", set), function(add)
    for i = 1, ITEMS do
      add("(%d,%d,'%s',%.2f,'%s')", i, uniform(1, 10000), text(14, 24), uniform(100, 10000) / 100, data())
    end
  end)
end

local function load_stock(set, w)
  bulk(string.format([[INSERT INTO stock%d (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
    s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) VALUES]], set), function(add)
    for i = 1, ITEMS do
      add("(%d,%d,%d,'%s','%s','%s','%s','%s','%s','%s','%s','%s','%s',0,0,0,'%s')", i, w, uniform(10, 100),
        text(24, 24), text(24, 24), text(24, 24), text(24, 24), text(24, 24),
        text(24, 24), text(24, 24), text(24, 24), text(24, 24), text(24, 24), data())
    end
  end)
end

local function load_customers(set, w, d)
  bulk(string.format([[INSERT INTO customer%d (c_id, c_d_id, c_w_id, c_last, c_middle, c_first, c_street_1, c_street_2, c_city,
    c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt,
    c_delivery_cnt, c_data) VALUES]], set), function(add)
    for c = 1, CUSTOMERS do
      local name = c <= 1000 and last_name(c - 1) or customer_name()
      add("(%d,%d,%d,'%s','OE','%s',%s,'%s','%s','%s',50000.00,%.4f,-10.00,10.00,1,0,'%s')", c, d, w, name,
        text(8, 16), address(), digits(16), LOADED_AT, uniform(1, 10) == 1 and "BC" or "GC", uniform(0, 5000) / 10000,
        text(300, 500))
    end
  end)
  bulk(string.format("INSERT INTO history%d (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES", set),
    function(add)
      for c = 1, CUSTOMERS do add("(%d,%d,%d,%d,%d,'%s',10.00,'%s')", c, d, w, d, w, LOADED_AT, text(12, 24)) end
    end)
end

-- Each customer has one order, in random order (clause 4.3.3.1).
local function permutation(n)
  local p = {}
  for i = 1, n do p[i] = i end
  for i = n, 2, -1 do
    local j = uniform(1, i)
    p[i], p[j] = p[j], p[i]
  end
  return p
end

local function load_orders(set, w, d)
  local customer, lines = permutation(CUSTOMERS), {}
  bulk(string.format([[INSERT INTO orders%d (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES]], set), function(add)
    for o = 1, ORDERS do
      lines[o] = uniform(5, 15)
      add("(%d,%d,%d,%d,'%s',%s,%d,1)", o, d, w, customer[o], LOADED_AT, o <= DELIVERED and uniform(1, 10) or "NULL", lines[o])
    end
  end)
  bulk(string.format("INSERT INTO new_orders%d (no_o_id, no_d_id, no_w_id) VALUES", set), function(add)
    for o = DELIVERED + 1, ORDERS do add("(%d,%d,%d)", o, d, w) end
  end)
  bulk(string.format([[INSERT INTO order_line%d (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
    ol_quantity, ol_amount, ol_dist_info) VALUES]], set), function(add)
    for o = 1, ORDERS do
      for n = 1, lines[o] do
        local delivered = o <= DELIVERED
        add("(%d,%d,%d,%d,%d,%d,%s,5,%.2f,'%s')", o, d, w, n, uniform(1, ITEMS), w,
          delivered and "'" .. LOADED_AT .. "'" or "NULL", delivered and 0 or uniform(1, 999999) / 100, text(24, 24))
      end
    end
  end)
end

local function load_warehouse(set, w)
  seed_with(base_seed(), 3, set, w)
  sql("INSERT INTO warehouse%d (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) " ..
    "VALUES (%d,'%s',%s,%.4f,300000.00)", set, w, text(6, 10), address(), uniform(0, 2000) / 10000)
  for d = 1, DISTRICTS do
    sql("INSERT INTO district%d (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, " ..
      "d_next_o_id) VALUES (%d,%d,'%s',%s,%.4f,30000.00,%d)", set, d, w, text(6, 10), address(), uniform(0, 2000) / 10000,
      ORDERS + 1)
  end
  load_stock(set, w)
  for d = 1, DISTRICTS do
    load_customers(set, w, d)
    load_orders(set, w, d)
  end
end

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
  connect()
  constants(false)
  sql("SET foreign_key_checks = 0")
  sql("CREATE TABLE IF NOT EXISTS tpcc_barrier (thread INT NOT NULL PRIMARY KEY, failed INT NOT NULL)")
  local sets, scale = sysbench.opt.tables, sysbench.opt.scale
  barrier(pcall(mine, sets, function(i)
    print(string.format("Creating tables: set %d", i + 1))
    create_tables(i + 1)
  end))
  mine(sets, function(i) load_items(i + 1) end)
  mine(sets * scale, function(i)
    local set, w = math.floor(i / scale) + 1, i % scale + 1
    print(string.format("Loading warehouse %d of set %d", w, set))
    load_warehouse(set, w)
  end)
end

local function cleanup()
  connect()
  sql("SET foreign_key_checks = 0")
  if sysbench.tid == 0 then sql("DROP TABLE IF EXISTS tpcc_barrier") end
  mine(sysbench.opt.tables, function(i)
    for t = #tables, 1, -1 do sql("DROP TABLE IF EXISTS %s%d", tables[t][1], i + 1) end
  end)
end

-- Consistency (clause 3.3.2) ------------------------------------------------------------------------------------------------
-- Each condition selects what violates it. With --enable_purge, orders go and what was paid for them stays.

local conditions = {
  {"0", "cardinality", [[SELECT t FROM (SELECT 'item' t, COUNT(*) n, 100000 want FROM item%d
    UNION ALL SELECT 'warehouse', COUNT(*), $scale FROM warehouse%d UNION ALL SELECT 'district', COUNT(*), 10 * $scale FROM district%d
    UNION ALL SELECT 'customer', COUNT(*), 30000 * $scale FROM customer%d
    UNION ALL SELECT 'stock', COUNT(*), 100000 * $scale FROM stock%d) counts WHERE n <> want]]},
  {"1", "W_YTD is the sum of D_YTD", [[SELECT w_id FROM warehouse%d LEFT JOIN
    (SELECT d_w_id, SUM(d_ytd) total FROM district%d GROUP BY d_w_id) d ON d_w_id = w_id WHERE NOT w_ytd <=> total]]},
  {"2", "D_NEXT_O_ID - 1 is the last order and the last new order", [[SELECT CONCAT(d_w_id, '/', d_id) FROM district%d
    LEFT JOIN (SELECT o_w_id, o_d_id, MAX(o_id) m FROM orders%d GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id
    LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) m FROM new_orders%d GROUP BY no_w_id, no_d_id) n
      ON no_w_id = d_w_id AND no_d_id = d_id
    WHERE NOT o.m <=> d_next_o_id - 1 OR COALESCE(n.m, d_next_o_id - 1) <> d_next_o_id - 1]]},
  {"3", "new orders have no gaps", [[SELECT CONCAT(no_w_id, '/', no_d_id) FROM new_orders%d GROUP BY no_w_id, no_d_id
    HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)]]},
  {"4", "the sum of O_OL_CNT is the number of order lines", [[SELECT CONCAT(d_w_id, '/', d_id) FROM district%d
    LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) n FROM orders%d GROUP BY o_w_id, o_d_id) o ON o_w_id = d_w_id AND o_d_id = d_id
    LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) n FROM order_line%d GROUP BY ol_w_id, ol_d_id) l
      ON ol_w_id = d_w_id AND ol_d_id = d_id WHERE NOT o.n <=> l.n]]},
  {"5", "orders without a carrier are new orders", [[SELECT CONCAT(o_w_id, '/', o_d_id, '/', o_id) FROM orders%d
    LEFT JOIN new_orders%d ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
    WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)]]},
  {"8", "W_YTD is the sum of H_AMOUNT", [[SELECT w_id FROM warehouse%d LEFT JOIN
    (SELECT h_w_id, SUM(h_amount) total FROM history%d GROUP BY h_w_id) h ON h_w_id = w_id WHERE NOT w_ytd <=> total]]},
  {"9", "D_YTD is the sum of H_AMOUNT", [[SELECT CONCAT(d_w_id, '/', d_id) FROM district%d LEFT JOIN
    (SELECT h_w_id, h_d_id, SUM(h_amount) total FROM history%d GROUP BY h_w_id, h_d_id) h
    ON h_w_id = d_w_id AND h_d_id = d_id WHERE NOT d_ytd <=> total]]},
}

local function check()
  connect()
  mine(sysbench.opt.tables, function(i)
    for _, condition in ipairs(conditions) do
      local query = condition[3]:gsub("%%d", i + 1):gsub("%$scale", sysbench.opt.scale)
      local violations, first = con:query_row("WITH x (v) AS (" .. query .. ") SELECT COUNT(*), MIN(v) FROM x")
      violations = tonumber(violations)
      print(string.format("Check %s, table set %d: %s %s%s", condition[1], i + 1, violations == 0 and "PASSED" or "FAILED!!!",
        condition[2], violations == 0 and "" or string.format("; %d violations, the first: %s", violations, first)))
    end
  end)
end

sysbench.cmdline.commands = {
  prepare = {prepare, sysbench.cmdline.PARALLEL_COMMAND},
  check = {check, sysbench.cmdline.PARALLEL_COMMAND},
  cleanup = {cleanup, sysbench.cmdline.PARALLEL_COMMAND},
}

-- Transactions (clause 2) ---------------------------------------------------------------------------------------------------

-- What several transactions change is locked before anything is read without a lock: the first such read fixes what a
-- transaction may see, and MariaDB from 11.6 on refuses to change what others have changed since (error 1020).

local set, scale

local function begin() con:query("START TRANSACTION") end
local function commit() con:query("COMMIT") end

-- another warehouse than w, if there is one.
local function other_warehouse(w)
  if scale == 1 then return w end
  local o = uniform(1, scale - 1)
  return o < w and o or o + 1
end

-- order_items are what a new order asks for, in the order of their numbers: two orders that want the same items then wait for
-- each other and do not deadlock. One in a hundred orders has an item that does not exist (clause 2.4.1.4), which is the last.
local function order_items(w)
  local items, all_local = {}, 1
  local count = uniform(5, 15)
  local wrong = uniform(1, 100) == 1
  for n = 1, count do
    local supply = w
    if scale > 1 and uniform(1, 100) == 1 then supply, all_local = other_warehouse(w), 0 end
    items[n] = {id = item_number(), supply = supply, quantity = uniform(1, 10)}
  end
  if wrong then items[count].id = ITEMS + 1 end
  table.sort(items, function(a, b) return a.id < b.id or a.id == b.id and a.supply < b.supply end)
  return items, all_local
end

-- stock_left is what there is after an order: a stock that would fall below 10 is filled up (clause 2.4.2.2).
local function stock_left(stock, quantity)
  local left = stock - quantity
  return left < 10 and left + 91 or left
end

local function new_order()
  local w, d, c = uniform(1, scale), uniform(1, DISTRICTS), customer_number()
  local items, all_local = order_items(w)
  begin()
  local o, d_tax = row("SELECT d_next_o_id, d_tax FROM district%d WHERE d_w_id = %d AND d_id = %d FOR UPDATE", set, w, d)
  sql("UPDATE district%d SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = %d AND d_id = %d", set, w, d)
  local discount, _, _, w_tax = row("SELECT c_discount, c_last, c_credit, w_tax FROM customer%d JOIN warehouse%d ON w_id = c_w_id " ..
    "WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", set, set, w, d, c)
  sql("INSERT INTO orders%d (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (%d,%d,%d,%d,NOW(),%d,%d)",
    set, o, d, w, c, #items, all_local)
  sql("INSERT INTO new_orders%d (no_o_id, no_d_id, no_w_id) VALUES (%d,%d,%d)", set, o, d, w)
  local total = 0
  for n, item in ipairs(items) do
    local price = row("SELECT i_price, i_name, i_data FROM item%d WHERE i_id = %d", set, item.id)
    if price == nil then
      con:query("ROLLBACK")
      return "new_order_rolled_back"
    end
    local quantity, _, info = row("SELECT s_quantity, s_data, s_dist_%02d FROM stock%d WHERE s_i_id = %d AND s_w_id = %d FOR UPDATE",
      d, set, item.id, item.supply)
    quantity = stock_left(tonumber(quantity), item.quantity)
    sql("UPDATE stock%d SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + %d " ..
      "WHERE s_i_id = %d AND s_w_id = %d", set, quantity, item.quantity, item.supply == w and 0 or 1, item.id, item.supply)
    local amount = item.quantity * tonumber(price)
    total = total + amount
    sql("INSERT INTO order_line%d (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, " ..
      "ol_dist_info) VALUES (%d,%d,%d,%d,%d,%d,%d,%.2f,'%s')", set, o, d, w, n, item.id, item.supply, item.quantity, amount, info)
  end
  -- What the terminal would show (clause 2.4.2.2).
  total = total * (1 - tonumber(discount)) * (1 + tonumber(w_tax) + tonumber(d_tax))
  commit()
  return "new_order"
end

-- customer chooses one by last name (60 %) or by number (clauses 2.5.1.2 and 2.6.1.2). Of several of a name it is the one in the
-- middle, by first name.
local function customer(w, d)
  if uniform(1, 100) > 60 then return customer_number() end
  local found = sql("SELECT c_id FROM customer%d WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first", set, w, d,
    customer_name())
  if found.nrows == 0 then return nil end
  local id
  for _ = 1, math.ceil(found.nrows / 2) do id = found:fetch_row()[1] end
  return tonumber(id)
end

-- named_customer chooses until there is one: a last name need not occur among the random ones of a district.
local function named_customer(w, d)
  local id
  repeat id = customer(w, d) until id
  return id
end

local function payment()
  local w, d, amount = uniform(1, scale), uniform(1, DISTRICTS), uniform(100, 500000) / 100
  local c_w, c_d = w, d
  if uniform(1, 100) > 85 then c_w, c_d = other_warehouse(w), uniform(1, DISTRICTS) end
  begin()
  sql("UPDATE warehouse%d SET w_ytd = w_ytd + %.2f WHERE w_id = %d", set, amount, w)
  sql("UPDATE district%d SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", set, amount, w, d)
  local w_name = row("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse%d WHERE w_id = %d", set, w)
  local d_name = row("SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district%d WHERE d_w_id = %d AND d_id = %d",
    set, w, d)
  local c = named_customer(c_w, c_d)
  local credit = row("SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, " ..
    "c_credit_lim, c_discount, c_balance, c_since FROM customer%d WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d FOR UPDATE",
    set, c_w, c_d, c)
  -- Who has bad credit gets a note (clause 2.5.2.2).
  local note = ""
  if credit == "BC" then
    note = string.format(", c_data = LEFT(CONCAT('%d %d %d %d %d %.2f ', c_data), 500)", c, c_d, c_w, d, w, amount)
  end
  sql("UPDATE customer%d SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f, " ..
    "c_payment_cnt = c_payment_cnt + 1%s WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", set, amount, amount, note, c_w, c_d, c)
  sql("INSERT INTO history%d (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) " ..
    "VALUES (%d,%d,%d,%d,%d,NOW(),%.2f,'%s    %s')", set, c, c_d, c_w, d, w, amount, w_name, d_name)
  commit()
  return "payment"
end

local function order_status()
  local w, d = uniform(1, scale), uniform(1, DISTRICTS)
  begin()
  local c = named_customer(w, d)
  row("SELECT c_balance, c_first, c_middle, c_last FROM customer%d WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", set, w, d, c)
  local o = row("SELECT o_id, o_carrier_id, o_entry_d FROM orders%d WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d " ..
    "ORDER BY o_id DESC LIMIT 1", set, w, d, c)
  if o then
    sql("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line%d " ..
      "WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", set, w, d, o)
  end
  commit()
  return "order_status"
end

local function delivery()
  local w, carrier = uniform(1, scale), uniform(1, 10)
  begin()
  for d = 1, DISTRICTS do
    local o = row("SELECT no_o_id FROM new_orders%d WHERE no_w_id = %d AND no_d_id = %d ORDER BY no_o_id LIMIT 1 FOR UPDATE",
      set, w, d)
    if o then
      sql("DELETE FROM new_orders%d WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %d", set, w, d, o)
      local c = row("SELECT o_c_id FROM orders%d WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d FOR UPDATE", set, w, d, o)
      sql("UPDATE orders%d SET o_carrier_id = %d WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d", set, carrier, w, d, o)
      sql("UPDATE order_line%d SET ol_delivery_d = NOW() WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", set, w, d, o)
      local amount = row("SELECT SUM(ol_amount) FROM order_line%d WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d FOR UPDATE",
        set, w, d, o)
      sql("UPDATE customer%d SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 " ..
        "WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", set, amount, w, d, c)
    end
  end
  commit()
  return "delivery"
end

local function stock_level()
  local w, d = uniform(1, scale), uniform(1, DISTRICTS)
  begin()
  local next_o = tonumber((row("SELECT d_next_o_id FROM district%d WHERE d_w_id = %d AND d_id = %d", set, w, d)))
  row("SELECT COUNT(DISTINCT s_i_id) FROM order_line%d JOIN stock%d ON s_w_id = ol_w_id AND s_i_id = ol_i_id " ..
    "WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id < %d AND ol_o_id >= %d AND s_quantity < %d",
    set, set, w, d, next_o, next_o - 20, uniform(10, 20))
  commit()
  return "stock_level"
end

-- purge deletes the ten oldest orders of a district that are delivered, so that the data stay as large as they were: ten of 24
-- transactions make an order, one purges.
local function purge()
  local w, d = uniform(1, scale), uniform(1, DISTRICTS)
  begin()
  local last = row("SELECT MAX(o_id) FROM (SELECT o_id FROM orders%d WHERE o_w_id = %d AND o_d_id = %d AND o_carrier_id IS NOT NULL " ..
    "ORDER BY o_id LIMIT 10) oldest", set, w, d)
  if last then
    sql("DELETE FROM order_line%d WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id <= %d", set, w, d, last)
    sql("DELETE FROM orders%d WHERE o_w_id = %d AND o_d_id = %d AND o_id <= %d AND o_carrier_id IS NOT NULL", set, w, d, last)
  end
  commit()
  return "purge"
end

local function own()
  return {
    session = isolate, new_order = new_order, payment = payment, order_status = order_status, delivery = delivery,
    stock_level = stock_level,
  }
end

local function published()
  return assert(loadfile(folder .. "tpcc_compat.lua"))({
    sql = sql, row = row, uniform = uniform, customer_number = customer_number, customer_name = customer_name,
    item_number = item_number, stock_left = stock_left, districts = DISTRICTS,
  })
end

-- The mix of the published script: 10 : 10 : 1 : 1 : 1.
local transactions, done, slots

function thread_init()
  transactions = compatible() and published() or own()
  connect(transactions.session)
  constants(true)
  seed_with(base_seed(), 4, sysbench.tid)
  scale, done = sysbench.opt.scale, {}
  slots = sysbench.opt.enable_purge == "yes" and 24 or 23
end

function event()
  set = uniform(1, sysbench.opt.tables)
  local slot = uniform(1, slots)
  local kind
  if slot <= 10 then kind = transactions.new_order(set, scale)
  elseif slot <= 20 then kind = transactions.payment(set, scale)
  elseif slot == 21 then kind = transactions.order_status(set, scale)
  elseif slot == 22 then kind = transactions.delivery(set, scale)
  elseif slot == 23 then kind = transactions.stock_level(set, scale)
  else kind = purge()
  end
  done[kind] = (done[kind] or 0) + 1
end

-- An event that is tried again begins anew. A lock wait that timed out has rolled back one statement only.
function sysbench.hooks.before_restart_event() con:query("ROLLBACK") end

function thread_done()
  local parts = {}
  for kind, n in pairs(done) do parts[#parts + 1] = kind .. "=" .. n end
  table.sort(parts)
  -- In one piece: print would write the end of the line by itself, when another thread may have written its own line.
  if #parts > 0 then io.write("benchrun: " .. table.concat(parts, " ") .. "\n") end
  con:disconnect()
end
