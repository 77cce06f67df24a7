// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltext_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

var bounds = sqltext.Bounds{Schema: "bench", Engine: "Mroonga"}

func check(script string) ([]string, error) {
	_, qualifiers, err := sqltext.Read(script, bounds)
	return qualifiers, err
}

// Nothing but tables, views, indexes and sequences of the run's own schema is made, changed or dropped, however it is written.
func TestRefused(t *testing.T) {
	const another = "names another schema, shop"
	for script, want := range map[string]string{
		"DROP TABLE IF EXISTS shop.orders; CREATE TABLE orders (id INT)": "statement 1, line 1: shop.orders " + another +
			": name tables without a schema, or with the run's own, bench",
		"CREATE TABLE a (id INT);\n\nDROP TABLE a, `shop` . `orders`;":  "statement 2, line 3: shop.orders " + another,
		"drop table shop, shop.orders":                                  another,
		"USE `shop`;":                                                   "USE is not allowed: dump one database by its name, without --databases",
		"CREATE DATABASE IF NOT EXISTS shop":                            "CREATE DATABASE is not allowed: dump with --no-create-db",
		"CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 x */": "CREATE DATABASE is not allowed",
		"DROP SCHEMA IF EXISTS other":                                   "DROP SCHEMA is not allowed",
		"ALTER DATABASE bench CHARACTER SET utf8mb4":                    "ALTER DATABASE is not allowed",
		"DELIMITER ;;\nCREATE TRIGGER x;;":                              "DELIMITER is not allowed: it is a command of the client's: dump with --skip-triggers",
		"/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`b`*/ /*!50003 TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET @a = 1 */;": "CREATE TRIGGER is not allowed: dump with --skip-triggers",
		"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DROP TABLE x":                                                         "CREATE EVENT is not allowed",
		"CREATE OR REPLACE DEFINER=root@localhost PROCEDURE p() SELECT 1":                                                "CREATE PROCEDURE is not allowed",
		"CREATE DEFINER=CURRENT_USER() FUNCTION f() RETURNS INT RETURN 1":                                                "CREATE FUNCTION is not allowed",
		"CREATE AGGREGATE FUNCTION f RETURNS INT SONAME 'x.so'":                                                          "CREATE AGGREGATE is not allowed",

		"CREATE USER a": "CREATE USER is not allowed",

		"CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h')": "CREATE SERVER is not allowed",

		"GRANT ALL ON *.* TO a":               "GRANT is not allowed: schemaFrom takes CREATE, ALTER and DROP of tables",
		"PREPARE s FROM 'DROP DATABASE shop'": "PREPARE is not allowed",
		"EXECUTE IMMEDIATE 'DROP TABLE x.y'":  "EXECUTE is not allowed",
		"CALL p()":                            "CALL is not allowed",
		"BEGIN NOT ATOMIC DROP TABLE x; END":  "BEGIN NOT is not allowed",
		"LOAD DATA INFILE 'x' INTO TABLE t":   "LOAD is not allowed",
		"SELECT 1":                            "SELECT is not allowed",
		"(SELECT 1)":                          `what begins with "(" is not allowed`,
		"\\. other.sql":                       `what begins with "\\" is not allowed`,
		"TRUNCATE TABLE t":                    "TRUNCATE is not allowed",
		"RENAME TABLE a TO shop.a":            "RENAME is not allowed",
		"FLUSH TABLES":                        "FLUSH is not allowed",
		"LOCK INSTANCE FOR BACKUP":            "LOCK INSTANCE is not allowed",
		"DO SLEEP(100)":                       "DO SLEEP is not allowed",
		"DO SETVAL(shop.s, 1)":                another,
		"START SLAVE":                         "START SLAVE is not allowed",
		"LOCK TABLES `a` WRITE, shop.b READ":  another,
		"ALTER TABLE a RENAME TO shop.a":      another,
		"ALTER TABLE a RENAME shop.a":         another,

		"ALTER TABLE a EXCHANGE PARTITION p WITH TABLE shop.a":                            another,
		"CREATE TABLE a LIKE shop.a":                                                      another,
		"CREATE TABLE a (b INT, FOREIGN KEY (b) REFERENCES shop.a (b))":                   another,
		"CREATE TABLE a (b INT DEFAULT nextval(shop.s))":                                  another,
		"CREATE TABLE a (b INT) ENGINE=MyISAM UNION=(shop.a, shop.b)":                     another,
		"CREATE TABLE a AS SELECT * FROM shop.a":                                          another,
		"CREATE VIEW v AS SELECT * FROM a, shop.b":                                        another,
		"CREATE VIEW v AS SELECT shop.a FROM shop.orders, t AS shop":                      another,
		"CREATE VIEW v AS SELECT (SELECT 1 FROM shop.orders) FROM t AS shop":              another,
		"CREATE VIEW v AS SELECT shop.f(1) FROM t AS shop":                                another,
		"CREATE VIEW v AS SELECT NEXT VALUE FOR shop.s FROM t AS shop":                    another,
		"CREATE VIEW v AS SELECT bench.t.a, shop.t.a FROM t, shop":                        another,
		"CREATE VIEW shop.v AS SELECT 1 AS shop":                                          another,
		"CREATE INDEX i ON shop.orders (shop)":                                            another,
		"CREATE SEQUENCE shop.s":                                                          another,
		"INSERT INTO shop.orders VALUES (1)":                                              another,
		"INSERT shop.orders SELECT * FROM t shop":                                         another,
		"INSERT INTO a SELECT * FROM b JOIN shop.c":                                       another,
		"INSERT INTO a TABLE shop.c":                                                      another,
		"REPLACE shop.a SET b = 1":                                                        another,
		"INSERT INTO a VALUES (1) ON DUPLICATE KEY UPDATE b = (SELECT 1 FROM shop.b)":     another,
		"INSERT INTO a SELECT 1 INTO OUTFILE '/x'":                                        "OUTFILE is not allowed",
		"INSERT INTO a VALUES (LOAD_FILE('/x'))":                                          "LOAD_FILE is not allowed",
		"INSERT INTO Bench.a VALUES (1)":                                                  "names another schema, Bench",
		"CREATE TABLE a (b INT) ENGINE=FEDERATED CONNECTION='mysql://h/shop/orders'":      "storage engine FEDERATED is not allowed",
		"CREATE TABLE a (b INT) ENGINE='connect'":                                         "storage engine connect is not allowed",
		"CREATE TABLE a (b INT) engine `SPIDER`":                                          "storage engine SPIDER is not allowed",
		"CREATE TABLE a (b INT) PARTITION BY HASH (b) (PARTITION p ENGINE = CONNECT)":     "storage engine CONNECT is not allowed",
		"ALTER TABLE a ADD c INT, ENGINE = S3":                                            "storage engine S3 is not allowed",
		"CREATE TABLE a (b INT) CONNECTION='x'":                                           "CONNECTION is not allowed",
		"CREATE TABLE a (b INT) DATA DIRECTORY='/x'":                                      "DATA DIRECTORY is not allowed",
		"CREATE TABLE a (b INT) PARTITION BY HASH (b) (PARTITION p INDEX DIRECTORY '/x')": "INDEX DIRECTORY is not allowed",
		"SET default_storage_engine = FEDERATED":                                          "storage engine FEDERATED is not allowed",
		"SET @e = 'SPIDER', default_storage_engine = @e":                                  "a storage engine is set by its name",
		"SET GLOBAL max_connections = 1":                                                  "SET GLOBAL is not allowed",
		"SET @a = 1, @@GLOBAL.max_connections = 1":                                        "SET GLOBAL is not allowed",
		"SET @@global . max_connections = 1":                                              "SET GLOBAL is not allowed",
		"SET PERSIST max_connections = 1":                                                 "SET GLOBAL is not allowed",
		"SET @@PERSIST_ONLY.max_connections = 1":                                          "SET GLOBAL is not allowed",
		"SET @@GLOBAL.GTID_PURGED='', @@GLOBAL.max_connections = 1":                       "SET GLOBAL is not allowed",
		"SET @@SESSION.SQL_LOG_BIN= 0, @a = 1":                                            "SET sql_log_bin is not allowed: replicas",
		"SET SESSION sql_log_bin = 0":                                                     "is not allowed: replicas",
		"SET @@wsrep_on = 0":                                                              "is not allowed: replicas",
		"SET PASSWORD = 'x'":                                                              "SET PASSWORD is not allowed",
		"SET @a = 1, PASSWORD = 'x'":                                                      "SET PASSWORD is not allowed",
		"SET STATEMENT sql_mode='ANSI_QUOTES' FOR CREATE TABLE a (b INT)":                 "SET STATEMENT is not allowed",
		"SET @a = (SELECT COUNT(*) FROM shop.orders)":                                     another,
		// Comments that servers execute, and others.
		"/*! USE shop */":                                          "USE is not allowed",
		"/*!40000 DROP TABLE shop.orders */":                       another,
		"/*M! DROP TABLE shop.orders */":                           another,
		"DROP TABLE /*!50000 shop . */ orders":                     another,
		"DROP TABLE /*!99999 bench . */ /*!50000 shop . */ orders": another,
		"INSERT INTO a VALUES ('\\'); DROP TABLE shop.b; -- ')":    "",
		"DROP TABLE shop./* a */orders":                            another,
		"DROP TABLE shop -- a\n.orders":                            another,
		"DROP TABLE shop.5tab":                                     another,
		"DROP TABLE `sh``op`.a":                                    "names another schema, sh`op",
		"DROP TABLE bench.a.b.c":                                   "bench.a.b.c names another schema",
		"/*!40101 SET @a = 1; DROP TABLE a */":                     "a semicolon stands within a comment",
	} {
		_, err := check(script)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", script, err)
			}
			continue
		}
		must.Fail(t, err, want)
	}
}

func TestAllowed(t *testing.T) {
	for script, want := range map[string][]string{
		"CREATE TABLE orders (id INT PRIMARY KEY, d DOUBLE DEFAULT 1.5e3, engine VARCHAR(9), connection INT, data INT)": nil,
		"CREATE OR REPLACE TABLE bench.a (b INT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='see shop.orders'":       nil,
		"CREATE TABLE a (b INT) ENGINE=mroonga":                                                                                                                     nil,
		"CREATE TABLE a (b INT) PARTITION BY HASH (b) (PARTITION p ENGINE = InnoDB)":                                                                                nil,
		"CREATE TEMPORARY TABLE a LIKE bench.b":                                                                                                                     nil,
		"ALTER TABLE a ADD COLUMN engine VARCHAR(9), ADD connection INT, RENAME TO b":                                                                               nil,
		"CREATE UNIQUE INDEX i ON bench.a (b DESC)":                                                                                                                 nil,
		"CREATE SEQUENCE s START WITH 1; ALTER SEQUENCE s RESTART; DROP SEQUENCE s":                                                                                 nil,
		"DROP TABLE IF EXISTS a, bench.b; DROP VIEW v; DROP INDEX i ON a":                                                                                           nil,
		"CREATE VIEW v AS SELECT t.a, EXTRACT(DAY FROM t.d) FROM t WHERE t.a LIKE 'shop.%'":                                                                         {"t", "t"},
		"CREATE ALGORITHM=MERGE DEFINER='a'@'%' SQL SECURITY INVOKER VIEW v AS SELECT x.* FROM bench.t AS x JOIN u ON (u.a = x.a)":                                  {"u", "x", "x"},
		"INSERT INTO a SELECT seq, b.c FROM seq_1_to_9, b":                                                                                                          {"b"},
		"INSERT INTO a VALUES (1.5, -.5, 'shop.orders', NULL, x'1F', _utf8mb4'b', \"c.d\", 1e3)":                                                                    nil,
		"REPLACE INTO a SET b = 1":                                                                                                                                  nil,
		"SET NAMES utf8mb4; SET @a=@@GLOBAL.sort_buffer_size, SESSION foreign_key_checks=0; SET @@session.unique_checks=0":                                          nil,
		"SET default_storage_engine=Aria; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; SET autocommit=0; COMMIT":                                         nil,
		"START TRANSACTION; BEGIN; COMMIT WORK; LOCK TABLES a WRITE; UNLOCK TABLES":                                                                                 nil,
		"/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */ /*!50001 VIEW `v` AS select `t`.`a` AS `a` from `t` */": {"t"},
	} {
		got, err := check(script)
		slices.Sort(want)
		if err != nil || !slices.Equal(slices.Compact(want), got) {
			t.Errorf("%s: %q, %v", script, got, err)
		}
	}
}

// What mysqldump says of the whole server is not sent.
func TestUnsent(t *testing.T) {
	statements, _, err := sqltext.Read("SET @@SESSION.SQL_LOG_BIN= 0; SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'a:1'; SET @a = 1; SET @@SESSION.SQL_LOG_BIN = @a", bounds)
	must.Do(t, err)
	for i, want := range []bool{true, true, false, true} {
		must.Same(t, statements[i].Text+": unsent", want, statements[i].Unsent)
	}
}

// Dumps of the servers' own tools load as they are.
func TestDumps(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		if _, err := check(string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for script, want := range map[string][]string{
		"":                               nil,
		" ;\n; ":                         nil,
		"-- nothing; at all":             nil,
		"--":                             nil,
		"# nothing\n/* a; b */ ; -- c\n": nil,
		"A":                              {"A"},
		"\ufeffA":                        {"A"},
		"A;B;":                           {"A", "B"},
		" A b\n c ;\n\n B ":              {"A b\n c", "B"},
		"A 'x;y'; B \"p;q\"; C `r;s`":    {"A 'x;y'", "B \"p;q\"", "C `r;s`"},
		`A 'it''s; \'; '; B`:             {`A 'it''s; \'; '`, "B"},
		"A `a\\`; B":                     {"A `a\\`", "B"},
		"A `a``;`; B":                    {"A `a``;`", "B"},
		"A -- x; y\n; B # z; '\n; C":     {"A", "B", "C"},
		"-- x; y\n A":                    {"A"},
		"A --1; B":                       {"A --1", "B"},
		"A - -1; B":                      {"A - -1", "B"},
		"A /* x; ' */ b; C":              {"A /* x; ' */ b", "C"},
		"/*/ x; */ A":                    {"A"},
		"/*+ x; */ A":                    {"A"},
		"/*!40101 SET x=1 */; B":         {"/*!40101 SET x=1 */", "B"},
		"/*!40101 SET x='1;'; */; B":     {"/*!40101 SET x='1;'; */", "B"},
		"/*M!100000 A */ x; B":           {"/*M!100000 A */ x", "B"},
		"A /*!1 x */; B":                 {"A /*!1 x */", "B"},
		"/*M!999999\\- enable the sandbox mode */ \n-- dump\n/*!40101 A */;": {"/*!40101 A */"},
	} {
		statements, err := sqltext.Split(script)
		var got []string
		for _, s := range statements {
			got = append(got, s.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", script, err, diff)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	for script, want := range map[string]string{
		"A;\nB 'never closed;":      "statement 2, line 2: a quotation mark, ', is not closed",
		"A `never closed":           "statement 1, line 1: a quotation mark, `, is not closed",
		"\n\nA /* never closed; B":  "statement 1, line 3: a comment is not closed",
		"A /*/":                     "statement 1, line 1: a comment is not closed",
		"/*!40101 A /* b */ */":     "a comment stands within one that servers execute",
		"/*!40101 A 'b /* ' */":     "a comment stands within one that servers execute",
		"/*!40101 A 'b */ DROP' */": "ends within a string",
		"/*!40101 A -- */ \n DROP":  "ends within another comment",
		"/*!40101 A # */ \n DROP":   "ends within another comment",
		"C\x00R":                    "a NUL byte: is the text UTF-16?",
	} {
		must.Refused(sqltext.Split(script))(t, want)
	}
}

// What is sent as one statement reads as that statement, and no script makes the reader panic.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"A 'x''y\\'' ; B", "/*!40101 SET @a=@@b */; C", "`a`.`b` -- x\n;", "@`a` @@b.c 1.5e3 .5", "/*M!100100 A*/ B /* c */;", "\"a\"#\n;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		statements, err := sqltext.Split(script)
		if err != nil {
			return
		}
		for _, s := range statements {
			if strings.HasSuffix(s.Text, "--") {
				continue // two minus signs become a comment where a text ends
			}
			again, err := sqltext.Split(s.Text)
			if err != nil || len(again) != 1 || again[0].Text != s.Text {
				t.Errorf("%q reads as %+v, %v", s.Text, again, err)
			}
		}
		_, _, _ = sqltext.Read(script, sqltext.Bounds{Schema: "bench"})
	})
}
