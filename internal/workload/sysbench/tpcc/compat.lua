-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- The transactions of tpcc.lua with --compat=sysbench-tpcc: the statements that the published sysbench-tpcc sends, as a server's
-- statement digests list them, with its columns, its locks and as many per transaction. Written from that list and the TPC-C
-- specification, and not from the script, with its deviations from the specification:
--
-- - Items are looked up in the order in which they are drawn. Of stock, only the quantity is written.
-- - No item and no payment is of another warehouse.
-- - What is read for an update is written back as a value: the next order of a district, and in a payment the customer's balance.
--   The customer's numbers of payments, and the sums of stock, stay as they are.
-- - A new order with an unknown item ends with a rollback, which counts as an ignored error.
--
-- Like transactions.lua, it returns a table of functions, each of which makes one transaction in a table set.

local tpcc = ...

local ffi = require("ffi")
ffi.cdef("void sb_counter_inc(int thread, sb_counter_type counter);") -- the type is sysbench's own

local sql, row, random = tpcc.sql, tpcc.row, tpcc.random
local uniform = random.uniform

-- Of 2,414 customers, the published script chose 1,376 by their last names. The specification says 60 % (clause 2.5.1.2).
local BY_LAST_NAME = 57
-- No item has this number.
local UNKNOWN_ITEM = -1

local compat = {}

-- session begins one. The isolation is set by its variable where MariaDB has that, from 11.1 on: such a server executes the first
-- comment, in which "--" hides the rest of the line. To all others, that is a comment, and the rest of the line is not.
function compat.session(level)
  sql("SET SESSION /*M!110101 transaction_isolation = '%s' -- */ TRANSACTION ISOLATION LEVEL %s /*\n*/",
    level:gsub(" ", "-"), level)
  sql("SET autocommit = 0")
end

function compat.new_order(set, scale)
  local w, d, c = uniform(1, scale), uniform(1, tpcc.districts), random.customer_number()
  local count, items = uniform(5, 15), {}
  for n = 1, count do items[n] = random.item_number() end
  if uniform(1, 100) == 1 then items[count] = UNKNOWN_ITEM end
  sql("BEGIN")
  local discount, _, _, w_tax = row("SELECT c_discount, c_last, c_credit, w_tax FROM customer%d, warehouse%d " ..
    "WHERE w_id = %d AND c_w_id = w_id AND c_d_id = %d AND c_id = %d", set, set, w, d, c)
  local o, d_tax = row("SELECT d_next_o_id, d_tax FROM district%d WHERE d_w_id = %d AND d_id = %d FOR UPDATE", set, w, d)
  sql("UPDATE district%d SET d_next_o_id = %d WHERE d_id = %d AND d_w_id = %d", set, o + 1, d, w)
  sql("INSERT INTO orders%d (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES (%d,%d,%d,%d,NOW(),%d,1)",
    set, o, d, w, c, count)
  sql("INSERT INTO new_orders%d (no_o_id, no_d_id, no_w_id) VALUES (%d,%d,%d)", set, o, d, w)
  local total = 0
  for n, item in ipairs(items) do
    local price = row("SELECT i_price, i_name, i_data FROM item%d WHERE i_id = %d", set, item)
    if price == nil then
      sql("ROLLBACK")
      ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
      return "new_order_rolled_back"
    end
    local stock, _, info = row("SELECT s_quantity, s_data, s_dist_%02d s_dist FROM stock%d WHERE s_i_id = %d AND s_w_id = %d " ..
      "FOR UPDATE", d, set, item, w)
    local quantity = uniform(1, 10)
    sql("UPDATE stock%d SET s_quantity = %d WHERE s_i_id = %d AND s_w_id = %d", set,
      tpcc.transactions.stock_left(tonumber(stock), quantity), item, w)
    local amount = quantity * tonumber(price)
    total = total + amount
    sql("INSERT INTO order_line%d (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, " ..
      "ol_dist_info) VALUES (%d,%d,%d,%d,%d,%d,%d,%.2f,'%s')", set, o, d, w, n, item, w, quantity, amount, info)
  end
  -- What the terminal would show (clause 2.4.2.2).
  total = total * (1 - tonumber(discount)) * (1 + tonumber(w_tax) + tonumber(d_tax))
  sql("COMMIT")
  return "new_order"
end

-- named counts the customers of a last name, and returns the columns of the one in the middle, by first name.
local function named(set, w, d, columns)
  local name = random.customer_name()
  local count = tonumber((row("SELECT COUNT(c_id) namecnt FROM customer%d WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s'",
    set, w, d, name)))
  local found = sql("SELECT %s FROM customer%d WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first",
    columns, set, w, d, name)
  local customer
  for _ = 1, math.ceil(count / 2) do customer = found:fetch_row() end
  return customer
end

function compat.payment(set, scale)
  local w, d, amount = uniform(1, scale), uniform(1, tpcc.districts), uniform(100, 500000) / 100
  local c_d = uniform(1, 100) > 85 and uniform(1, tpcc.districts) or d
  sql("BEGIN")
  sql("UPDATE warehouse%d SET w_ytd = w_ytd + %.2f WHERE w_id = %d", set, amount, w)
  local _, _, _, _, _, w_name = row("SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse%d " ..
    "WHERE w_id = %d", set, w)
  sql("UPDATE district%d SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", set, amount, w, d)
  local _, _, _, _, _, d_name = row("SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district%d " ..
    "WHERE d_w_id = %d AND d_id = %d", set, w, d)
  local c
  if uniform(1, 100) <= BY_LAST_NAME then
    c = named(set, w, c_d, "c_id")[1]
  else
    c = random.customer_number()
  end
  local _, _, _, _, _, _, _, _, _, credit, _, _, balance, paid = row("SELECT c_first, c_middle, c_last, c_street_1, c_street_2, " ..
    "c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_since FROM customer%d " ..
    "WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d FOR UPDATE", set, w, c_d, c)
  local note = ""
  if credit == "BC" then
    local data = row("SELECT c_data FROM customer%d WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", set, w, c_d, c)
    data = string.format("| %d %d %d %d %d %.2f %s", c, c_d, w, d, w, amount, data)
    note = string.format(", c_data = '%s'", data:sub(1, 500))
  end
  sql("UPDATE customer%d SET c_balance = %.2f, c_ytd_payment = %.2f%s WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", set,
    balance - amount, paid + amount, note, w, c_d, c)
  sql("INSERT INTO history%d (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) " ..
    "VALUES (%d,%d,%d,%d,%d,NOW(),%.2f,'%s    %s')", set, c_d, w, c, d, w, amount, w_name, d_name)
  sql("COMMIT")
  return "payment"
end

function compat.order_status(set, scale)
  local w, d = uniform(1, scale), uniform(1, tpcc.districts)
  local c
  sql("BEGIN")
  if uniform(1, 100) <= BY_LAST_NAME then
    c = named(set, w, d, "c_balance, c_first, c_middle, c_id")[4]
  else
    c = random.customer_number()
    row("SELECT c_balance, c_first, c_middle, c_last FROM customer%d WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d",
      set, w, d, c)
  end
  local o = row("SELECT o_id, o_carrier_id, o_entry_d FROM orders%d WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d " ..
    "ORDER BY o_id DESC", set, w, d, c)
  if o then
    sql("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line%d " ..
      "WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", set, w, d, o)
  end
  sql("COMMIT")
  return "order_status"
end

function compat.delivery(set, scale)
  local w, carrier = uniform(1, scale), uniform(1, 10)
  sql("BEGIN")
  for d = 1, tpcc.districts do
    local o = row("SELECT no_o_id FROM new_orders%d WHERE no_d_id = %d AND no_w_id = %d ORDER BY no_o_id ASC LIMIT 1 FOR UPDATE",
      set, d, w)
    if o then
      sql("DELETE FROM new_orders%d WHERE no_o_id = %d AND no_d_id = %d AND no_w_id = %d", set, o, d, w)
      local c = row("SELECT o_c_id FROM orders%d WHERE o_id = %d AND o_d_id = %d AND o_w_id = %d", set, o, d, w)
      sql("UPDATE orders%d SET o_carrier_id = %d WHERE o_id = %d AND o_d_id = %d AND o_w_id = %d", set, carrier, o, d, w)
      sql("UPDATE order_line%d SET ol_delivery_d = NOW() WHERE ol_o_id = %d AND ol_d_id = %d AND ol_w_id = %d", set, o, d, w)
      local amount = row("SELECT SUM(ol_amount) sm FROM order_line%d WHERE ol_o_id = %d AND ol_d_id = %d AND ol_w_id = %d",
        set, o, d, w)
      sql("UPDATE customer%d SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 " ..
        "WHERE c_id = %d AND c_d_id = %d AND c_w_id = %d", set, amount, c, d, w)
    end
  end
  sql("COMMIT")
  return "delivery"
end

function compat.stock_level(set, scale)
  local w, d = uniform(1, scale), uniform(1, tpcc.districts)
  sql("BEGIN")
  local next_o = tonumber((row("SELECT d_next_o_id FROM district%d WHERE d_id = %d AND d_w_id = %d", set, d, w)))
  row("SELECT COUNT(DISTINCT (s_i_id)) FROM order_line%d, stock%d WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id < %d " ..
    "AND ol_o_id >= %d AND s_w_id = %d AND s_i_id = ol_i_id AND s_quantity < %d",
    set, set, w, d, next_o, next_o - 20, w, uniform(10, 20))
  sql("COMMIT")
  return "stock_level"
end

return compat
