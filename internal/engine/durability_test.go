// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

func TestLoss(t *testing.T) {
	for name, tc := range map[string]struct {
		variables      map[string]string
		commit, binary engine.Durable
	}{
		"durable":          {variables: map[string]string{"innodb_flush_log_at_trx_commit": "1", "log_bin": "ON", "sync_binlog": "1"}},
		"nothing is known": {},
		"no binary log":    {variables: map[string]string{"log_bin": "OFF", "sync_binlog": "0"}},
		"neither": {
			map[string]string{"innodb_flush_log_at_trx_commit": "2", "log_bin": "ON", "sync_binlog": "0"},
			engine.Durable{Variable: "innodb_flush_log_at_trx_commit", Value: "2"},
			engine.Durable{Variable: "sync_binlog", Value: "0"},
		},
	} {
		for _, e := range engine.All() {
			if got, ok := e.CommitLoss(tc.variables); ok != (tc.commit != engine.Durable{}) || ok && got != tc.commit {
				t.Errorf("%s, %s: %v, %v, want %v", name, e.Name, got, ok, tc.commit)
			}
			if got, ok := e.BinaryLogLoss(tc.variables); ok != (tc.binary != engine.Durable{}) || ok && got != tc.binary {
				t.Errorf("%s, %s: %v, %v, want %v", name, e.Name, got, ok, tc.binary)
			}
		}
	}
}

func TestCommitsWait(t *testing.T) {
	through := func(value string) engine.Setting { return engine.Assignment("innodb_log_file_write_through", value) }
	flush := func(mode string) engine.Setting { return engine.Assignment("innodb_flush_log_at_trx_commit", mode) }
	for name, tc := range map[string]struct {
		e        *engine.Engine
		settings []engine.Setting
		wait     bool
		known    bool
	}{
		"nothing":       {&engine.MariaDB, nil, true, false},
		"on":            {&engine.MariaDB, []engine.Setting{through("on")}, true, true},
		"by number":     {&engine.MariaDB, []engine.Setting{flush("1"), through("1")}, true, true},
		"off":           {&engine.MariaDB, []engine.Setting{through("OFF")}, true, false},
		"not flushed":   {&engine.MariaDB, []engine.Setting{flush("0"), through("ON")}, false, true},
		"once a second": {&engine.MySQL, []engine.Setting{flush("2")}, false, true},
		"other engine":  {&engine.MySQL, []engine.Setting{through("ON")}, true, false},
	} {
		if wait, known := tc.e.CommitsWait(tc.settings); wait != tc.wait || known != tc.known {
			t.Errorf("%s: %v, %v, want %v, %v", name, wait, known, tc.wait, tc.known)
		}
	}
}
