-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- The rows that tpcc.lua loads (clause 4.3.3), which are a function of --rand-seed, table set and warehouse.

local tpcc = ...

local sql, random = tpcc.sql, tpcc.random
local uniform, text, address = random.uniform, random.text, random.address

-- Orders up to this one are loaded as delivered (clause 4.3.3.1).
local DELIVERED = 2100
-- Loaded rows carry this in place of the time of loading: the same seed gives the same rows.
local LOADED_AT = "2000-01-01 00:00:00"

local load = {}

-- bulk inserts rows, which the function each gives to the function that it is called with.
local function bulk(head, each)
  tpcc.con:bulk_insert_init(head)
  each(function(format, ...) tpcc.con:bulk_insert_next(format:format(...)) end)
  tpcc.con:bulk_insert_done()
end

-- items loads those of a set.
function load.items(set)
  random.seed_with(random.base_seed(), 2, set)
  bulk(string.format("INSERT INTO item%d (i_id, i_im_id, i_name, i_price, i_data) VALUES", set), function(add)
    for i = 1, tpcc.items do
      add("(%d,%d,'%s',%.2f,'%s')", i, uniform(1, 10000), text(14, 24), uniform(100, 10000) / 100, random.data())
    end
  end)
end

local function load_stock(set, w)
  bulk(string.format([[INSERT INTO stock%d (s_i_id, s_w_id, s_quantity, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05,
    s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_ytd, s_order_cnt, s_remote_cnt, s_data) VALUES]], set), function(add)
    for i = 1, tpcc.items do
      add("(%d,%d,%d,'%s','%s','%s','%s','%s','%s','%s','%s','%s','%s',0,0,0,'%s')", i, w, uniform(10, 100),
        text(24, 24), text(24, 24), text(24, 24), text(24, 24), text(24, 24),
        text(24, 24), text(24, 24), text(24, 24), text(24, 24), text(24, 24), random.data())
    end
  end)
end

local function load_customers(set, w, d)
  bulk(string.format([[INSERT INTO customer%d (c_id, c_d_id, c_w_id, c_last, c_middle, c_first, c_street_1, c_street_2, c_city,
    c_state, c_zip, c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt,
    c_delivery_cnt, c_data) VALUES]], set), function(add)
    for c = 1, tpcc.customers do
      local name = c <= 1000 and random.last_name(c - 1) or random.customer_name()
      add("(%d,%d,%d,'%s','OE','%s',%s,'%s','%s','%s',50000.00,%.4f,-10.00,10.00,1,0,'%s')", c, d, w, name,
        text(8, 16), address(), random.digits(16), LOADED_AT, uniform(1, 10) == 1 and "BC" or "GC", uniform(0, 5000) / 10000,
        text(300, 500))
    end
  end)
  bulk(string.format("INSERT INTO history%d (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES", set),
    function(add)
      for c = 1, tpcc.customers do add("(%d,%d,%d,%d,%d,'%s',10.00,'%s')", c, d, w, d, w, LOADED_AT, text(12, 24)) end
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
  local customer, lines = permutation(tpcc.customers), {}
  bulk(string.format([[INSERT INTO orders%d (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES]], set), function(add)
    for o = 1, tpcc.orders do
      lines[o] = uniform(5, 15)
      add("(%d,%d,%d,%d,'%s',%s,%d,1)", o, d, w, customer[o], LOADED_AT, o <= DELIVERED and uniform(1, 10) or "NULL", lines[o])
    end
  end)
  bulk(string.format("INSERT INTO new_orders%d (no_o_id, no_d_id, no_w_id) VALUES", set), function(add)
    for o = DELIVERED + 1, tpcc.orders do add("(%d,%d,%d)", o, d, w) end
  end)
  bulk(string.format([[INSERT INTO order_line%d (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
    ol_quantity, ol_amount, ol_dist_info) VALUES]], set), function(add)
    for o = 1, tpcc.orders do
      for n = 1, lines[o] do
        local delivered = o <= DELIVERED
        add("(%d,%d,%d,%d,%d,%d,%s,5,%.2f,'%s')", o, d, w, n, uniform(1, tpcc.items), w,
          delivered and "'" .. LOADED_AT .. "'" or "NULL", delivered and 0 or uniform(1, 999999) / 100, text(24, 24))
      end
    end
  end)
end

-- warehouse loads one, with all that belongs to it.
function load.warehouse(set, w)
  random.seed_with(random.base_seed(), 3, set, w)
  sql("INSERT INTO warehouse%d (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) " ..
    "VALUES (%d,'%s',%s,%.4f,300000.00)", set, w, text(6, 10), address(), uniform(0, 2000) / 10000)
  for d = 1, tpcc.districts do
    sql("INSERT INTO district%d (d_id, d_w_id, d_name, d_street_1, d_street_2, d_city, d_state, d_zip, d_tax, d_ytd, " ..
      "d_next_o_id) VALUES (%d,%d,'%s',%s,%.4f,30000.00,%d)", set, d, w, text(6, 10), address(), uniform(0, 2000) / 10000,
      tpcc.orders + 1)
  end
  load_stock(set, w)
  for d = 1, tpcc.districts do
    load_customers(set, w, d)
    load_orders(set, w, d)
  end
end

return load
