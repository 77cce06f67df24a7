// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestByName(t *testing.T) {
	if e, err := engine.ByName("MariaDB"); err != nil || e != engine.MariaDB {
		t.Errorf("%v, %v", e, err)
	}
	if e, err := engine.ByName("MySQL"); err != nil || e != engine.MySQL {
		t.Errorf("%v, %v", e, err)
	}
	for _, name := range []string{"Oracle", "", "mariadb"} {
		e, err := engine.ByName(name)
		if e != nil || err == nil || !strings.Contains(err.Error(), `engine is "`+name+`" but must be MariaDB or MySQL`) {
			t.Errorf("%q: %v, %v", name, e, err)
		}
	}
}

// An engine that is not named is that of the image, whatever its registry is named.
func TestNamed(t *testing.T) {
	for image, want := range map[string]*engine.Engine{
		"mysql:9.7": engine.MySQL, "docker.io/library/mysql@sha256:0123": engine.MySQL, "mysql": engine.MySQL,
		"registry.example:5000/percona/percona-server:8.4": engine.MySQL, "mariadb:11.8": engine.MariaDB, "": engine.MariaDB,
		"mysql.example/mariadb:11.8": engine.MariaDB, "acme/db:mysql-8.4": engine.MySQL, "acme/db:1": engine.MariaDB, "acme/my-mysql-build:1": engine.MySQL,
	} {
		if e, err := engine.Named("", image); err != nil || e != want {
			t.Errorf("%q: %v, %v", image, e, err)
		}
	}
	if e, err := engine.Named("MariaDB", "mysql:9.7"); err != nil || e != engine.MariaDB {
		t.Errorf("what is named does not count: %v, %v", e, err)
	}
	if _, err := engine.Named("Oracle", "mysql:9.7"); err == nil {
		t.Error("an unknown name is no error")
	}
}

func TestNamesIn(t *testing.T) {
	for _, tc := range []struct {
		of, in *engine.Engine
		want   map[string]string
	}{
		{engine.MariaDB, engine.MySQL, map[string]string{"innodb_log_file_size": "innodb_redo_log_capacity"}},
		{engine.MySQL, engine.MariaDB, map[string]string{"innodb_redo_log_capacity": "innodb_log_file_size"}},
		{engine.MySQL, engine.MySQL, map[string]string{}},
	} {
		if got := tc.of.NamesIn(tc.in); !maps.Equal(got, tc.want) {
			t.Errorf("%s in %s: %v, want %v", tc.of.Name, tc.in.Name, got, tc.want)
		}
	}
}

func TestErrorLine(t *testing.T) {
	for log, want := range map[string]string{
		"": "",
		"2026-01-01  0:00:00 0 [Note] Starting MariaDB\n2026-01-01  0:00:00 0 [Warning] [ERROR]\n":                         "",
		"2026-01-01  0:00:00 0 [ERROR] Aborting\n":                                                                         "",
		"2026-01-01  0:00:00 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'x=1'\n2026-01-01  0:00:00 0 [ERROR] Aborting": "/usr/sbin/mariadbd: unknown variable 'x=1'",
		"2026-01-01T00:00:00.372208Z 0 [ERROR] [MY-000067] [Server] unknown variable 'x=1'.\n" +
			"2026-01-01T00:00:00.372209Z 0 [ERROR] [MY-010119] [Server] Aborting\n": "unknown variable 'x=1'.",
		"2026-01-01T00:00:00.372209Z 0 [ERROR] [MY-010119] [Server] Aborting\n":  "",
		"2026-01-01T00:00:00.372209Z 0 [Warning] [MY-010101] [Server] [ERROR]\n": "",
		"2026-01-01 00:00:00.000 UTC [1] LOG:  unrecognized configuration parameter \"x\" in file \"/etc/a.cnf\" line 3\n" +
			"2026-01-01 00:00:00.000 UTC [1] FATAL:  configuration file \"/etc/a.cnf\" contains errors\n": `unrecognized configuration parameter "x" in file "/etc/a.cnf" line 3`,
		"2026-01-01 00:00:00.000 UTC [1] LOG:  starting PostgreSQL 17\n2026-01-01 00:00:00.000 UTC [1] FATAL:  could not map memory\n": "could not map memory",
	} {
		must.Same(t, log, want, engine.ErrorLine(log))
	}
}

func TestIsState(t *testing.T) {
	variables := &engine.MariaDB.Variables
	for _, pattern := range slices.Concat(variables.StateAndIdentity, engine.MySQL.Variables.StateAndIdentity) {
		if pattern != strings.ToLower(pattern) || strings.Contains(strings.TrimSuffix(pattern, "*"), "*") {
			t.Errorf("%s: patterns are in lower case, with a * at the end at most", pattern)
		}
	}
	if mysql := &engine.MySQL.Variables; mysql.IsState("gtid_mode") || mysql.IsState("ssl_cipher") || !mysql.IsState("gtid_executed") {
		t.Error("what gtid_mode and ssl_cipher set is no state")
	}
	for name, want := range map[string]bool{
		"gtid_slave_pos": true, "server_uuid": true, "innodb_buffer_pool_size": false, "version": false, "port": true,
		"portable": false, "timestamp": true, "log_slow_query_file": true, "log_slow_query": false,
	} {
		must.Same(t, name, want, variables.IsState(name))
	}
}

func TestLoss(t *testing.T) {
	for name, tc := range map[string]struct {
		variables      map[string]string
		commit, binary base.Durable
	}{
		"durable":          {variables: map[string]string{"innodb_flush_log_at_trx_commit": "1", "log_bin": "ON", "sync_binlog": "1"}},
		"nothing is known": {},
		"no binary log":    {variables: map[string]string{"log_bin": "OFF", "sync_binlog": "0"}},
		"neither": {
			map[string]string{"innodb_flush_log_at_trx_commit": "2", "log_bin": "ON", "sync_binlog": "0"},
			base.Durable{Variable: "innodb_flush_log_at_trx_commit", Value: "2"},
			base.Durable{Variable: "sync_binlog", Value: "0"},
		},
	} {
		for _, e := range []*engine.Engine{engine.MariaDB, engine.MySQL} {
			if got, ok := e.CommitLoss(tc.variables); ok != (tc.commit != base.Durable{}) || ok && got != tc.commit {
				t.Errorf("%s, %s: %v, %v, want %v", name, e.Name, got, ok, tc.commit)
			}
			if got, ok := e.BinaryLogLoss(tc.variables); ok != (tc.binary != base.Durable{}) || ok && got != tc.binary {
				t.Errorf("%s, %s: %v, %v, want %v", name, e.Name, got, ok, tc.binary)
			}
		}
	}
}

// Each engine knows its own servers by their version, and no other's.
func TestEnginesAreDistinguished(t *testing.T) {
	for version, want := range map[string]*engine.Engine{
		"11.8.3-MariaDB-log": engine.MariaDB, "10.11.14-MariaDB-0+deb12u2": engine.MariaDB,
		"8.4.6": engine.MySQL, "9.7.4-2": engine.MySQL, "8.4.5-5": engine.MySQL,
	} {
		for _, e := range []*engine.Engine{engine.MariaDB, engine.MySQL} {
			must.Same(t, version+" matches "+e.Name, e == want, e.Variables.Matches(version))
		}
	}
}

// What is not purged is the distance of two numbers in InnoDB's report.
func TestPurgeLag(t *testing.T) {
	gauge := engine.MySQL.Counters.Debt[1]
	for report, want := range map[string]string{
		"TRANSACTIONS\n------------\nTrx id counter 100246\nPurge done for trx's n:o < 100246 undo n:o < 0 state: running but idle\n": "0",
		"Trx id counter 5300\nPurge done for trx's n:o < 5000 undo n:o < 17 state: running\nHistory list length 17\n":                 "300",
		"Trx id counter 5300\nHistory list length 17\n":                                                                               "",
		"Trx id counter 99999999999999999999\nPurge done for trx's n:o < 5000":                                                        "",
		"": "",
	} {
		must.Same(t, report, want, gauge.Read(report))
	}
}

func TestQuantity(t *testing.T) {
	for _, tc := range []struct{ text, unit, same string }{
		{"128MB", "8kB", "16384"}, {"1GB", "MB", "1024"}, {"5min", "s", "300"}, {"200ms", "ms", "200"}, {"0.5s", "ms", "500"}, {"64", "kB", "64kB"},
	} {
		a, isOne := engine.PostgreSQL.Variables.Quantity(tc.text, tc.unit)
		b, isAnother := engine.PostgreSQL.Variables.Quantity(tc.same, tc.unit)
		if !isOne || !isAnother || a.Cmp(b) != 0 {
			t.Errorf("%s and %s of %s: %v, %v", tc.text, tc.same, tc.unit, a, b)
		}
	}
	for _, text := range []string{"", "x", "5 parsecs", "1e9999", "128M"} {
		if n, ok := engine.PostgreSQL.Variables.Quantity(text, "kB"); ok {
			t.Errorf("%q is %v", text, n)
		}
	}
}

// What is written for PostgreSQL, and what is refused.
func TestPostgreSQLOptions(t *testing.T) {
	e := engine.PostgreSQL
	file := e.Options.File([]engine.Setting{
		e.Options.BufferPoolSize(128 << 20), e.Options.RedoLogSize(1<<30, 0), e.Options.Variable("search_path", "it's"),
	})
	must.Same(t, "file", "# Made by Benchrun from spec.database of the run.\ninclude = '/var/lib/postgresql/data/pgdata/postgresql.conf'\n"+
		"shared_buffers = 131072kB\nmax_wal_size = 1024MB\nsearch_path = 'it''s'\n", file)
	for name, want := range map[string]string{
		"port": "it is reserved for the operator", "work_mem": "",
		"loose_x": "write x: servers of engine PostgreSQL know no option that they may not know",
	} {
		must.Same(t, name, want, e.Miswritten(name, "128MB"))
	}
	if lossy, ok := e.CommitLoss(map[string]string{"fsync": "on", "synchronous_commit": "off"}); !ok || lossy.Value != "off" {
		t.Errorf("%v, %v", lossy, ok)
	}
	if lossy, ok := e.CommitLoss(map[string]string{"fsync": "on", "synchronous_commit": "local"}); ok {
		t.Error(lossy)
	}
}
