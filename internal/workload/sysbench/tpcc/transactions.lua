-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- The transactions of tpcc.lua (clause 2). Each function makes one in a table set, and says which it was.
--
-- What several transactions change is locked before anything is read without a lock: the first such read fixes what a
-- transaction may see, and MariaDB from 11.6 on refuses to change what others have changed since (error 1020).

local tpcc = ...

local sql, row = tpcc.sql, tpcc.row
local uniform, customer_number, customer_name = tpcc.random.uniform, tpcc.random.customer_number, tpcc.random.customer_name
local item_number = tpcc.random.item_number

local transactions = {}

-- session begins one.
function transactions.session(level) sql("SET SESSION TRANSACTION ISOLATION LEVEL %s", level) end

local function begin() sql("START TRANSACTION") end
local function commit() sql("COMMIT") end

-- another warehouse than w, if there is one.
local function other_warehouse(w, scale)
  if scale == 1 then return w end
  local o = uniform(1, scale - 1)
  return o < w and o or o + 1
end

-- order_items are what a new order asks for, in the order of their numbers: two orders that want the same items then wait for
-- each other and do not deadlock. One in a hundred orders has an item that does not exist (clause 2.4.1.4), which is the last.
local function order_items(w, scale)
  local items, all_local = {}, 1
  local count = uniform(5, 15)
  local wrong = uniform(1, 100) == 1
  for n = 1, count do
    local supply = w
    if scale > 1 and uniform(1, 100) == 1 then supply, all_local = other_warehouse(w, scale), 0 end
    items[n] = {id = item_number(), supply = supply, quantity = uniform(1, 10)}
  end
  if wrong then items[count].id = tpcc.items + 1 end
  table.sort(items, function(a, b) return a.id < b.id or a.id == b.id and a.supply < b.supply end)
  return items, all_local
end

-- stock_left is what there is after an order: a stock that would fall below 10 is filled up (clause 2.4.2.2).
function transactions.stock_left(stock, quantity)
  local left = stock - quantity
  return left < 10 and left + 91 or left
end

function transactions.new_order(set, scale)
  local w, d, c = uniform(1, scale), uniform(1, tpcc.districts), customer_number()
  local items, all_local = order_items(w, scale)
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
      sql("ROLLBACK")
      return "new_order_rolled_back"
    end
    local quantity, _, info = row("SELECT s_quantity, s_data, s_dist_%02d FROM stock%d WHERE s_i_id = %d AND s_w_id = %d FOR UPDATE",
      d, set, item.id, item.supply)
    quantity = transactions.stock_left(tonumber(quantity), item.quantity)
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
local function customer(set, w, d)
  if uniform(1, 100) > 60 then return customer_number() end
  local found = sql("SELECT c_id FROM customer%d WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first", set, w, d,
    customer_name())
  if found.nrows == 0 then return nil end
  local id
  for _ = 1, math.ceil(found.nrows / 2) do id = found:fetch_row()[1] end
  return tonumber(id)
end

-- named_customer chooses until there is one: a last name need not occur among the random ones of a district.
local function named_customer(set, w, d)
  local id
  repeat id = customer(set, w, d) until id
  return id
end

function transactions.payment(set, scale)
  local w, d, amount = uniform(1, scale), uniform(1, tpcc.districts), uniform(100, 500000) / 100
  local c_w, c_d = w, d
  if uniform(1, 100) > 85 then c_w, c_d = other_warehouse(w, scale), uniform(1, tpcc.districts) end
  begin()
  sql("UPDATE warehouse%d SET w_ytd = w_ytd + %.2f WHERE w_id = %d", set, amount, w)
  sql("UPDATE district%d SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", set, amount, w, d)
  local w_name = row("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse%d WHERE w_id = %d", set, w)
  local d_name = row("SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district%d WHERE d_w_id = %d AND d_id = %d",
    set, w, d)
  local c = named_customer(set, c_w, c_d)
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

function transactions.order_status(set, scale)
  local w, d = uniform(1, scale), uniform(1, tpcc.districts)
  begin()
  local c = named_customer(set, w, d)
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

function transactions.delivery(set, scale)
  local w, carrier = uniform(1, scale), uniform(1, 10)
  begin()
  for d = 1, tpcc.districts do
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

function transactions.stock_level(set, scale)
  local w, d = uniform(1, scale), uniform(1, tpcc.districts)
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
function transactions.purge(set, scale)
  local w, d = uniform(1, scale), uniform(1, tpcc.districts)
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

return transactions
