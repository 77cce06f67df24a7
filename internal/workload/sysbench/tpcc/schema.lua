-- Copyright The Benchrun Authors.
-- SPDX-License-Identifier: Apache-2.0
--
-- The tables of tpcc.lua (clause 1.3), and what must hold in them (clause 3.3.2).

local tpcc = ...

local sql, row = tpcc.sql, tpcc.row

local schema = {}

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

-- create makes the tables of a set.
function schema.create(set)
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

-- drop removes the tables of a set.
function schema.drop(set)
  for t = #tables, 1, -1 do sql("DROP TABLE IF EXISTS %s%d", tables[t][1], set) end
end

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

-- check prints for each condition whether a set holds it.
function schema.check(set)
  for _, condition in ipairs(conditions) do
    local query = condition[3]:gsub("%%d", set):gsub("%$scale", sysbench.opt.scale)
    local violations, first = row("WITH x (v) AS (%s) SELECT COUNT(*), MIN(v) FROM x", query)
    violations = tonumber(violations)
    print(string.format("Check %s, table set %d: %s %s%s", condition[1], set, violations == 0 and "PASSED" or "FAILED!!!",
      condition[2], violations == 0 and "" or string.format("; %d violations, the first: %s", violations, first)))
  end
end

return schema
