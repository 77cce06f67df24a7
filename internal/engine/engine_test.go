// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

func TestByName(t *testing.T) {
	if e, err := engine.ByName("MariaDB"); err != nil || e != &engine.MariaDB {
		t.Errorf("%v, %v", e, err)
	}
	if e, err := engine.ByName("MySQL"); err != nil || e != &engine.MySQL {
		t.Errorf("%v, %v", e, err)
	}
	for _, name := range []string{"Oracle", "", "mariadb"} {
		e, err := engine.ByName(name)
		if e != nil || err == nil || !strings.Contains(err.Error(), `engine is "`+name+`" but must be MariaDB or MySQL`) {
			t.Errorf("%q: %v, %v", name, e, err)
		}
	}
}

func TestNamesIn(t *testing.T) {
	for _, tc := range []struct {
		of, in *engine.Engine
		want   map[string]string
	}{
		{&engine.MariaDB, &engine.MySQL, map[string]string{"innodb_log_file_size": "innodb_redo_log_capacity"}},
		{&engine.MySQL, &engine.MariaDB, map[string]string{"innodb_redo_log_capacity": "innodb_log_file_size"}},
		{&engine.MySQL, &engine.MySQL, map[string]string{}},
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
	} {
		if got := engine.ErrorLine(log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
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
		if variables.IsState(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
