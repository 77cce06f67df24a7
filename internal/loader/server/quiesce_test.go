// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// A server is at rest when it has reached its goals, and not when its debt has stopped falling.
func TestDebts(t *testing.T) {
	for name, tc := range map[string]struct {
		dirty, history, checkpointAge, writes string
		want                                  string
	}{
		"idle":         {"80", "100", "1048576", "0", ""},
		"dirty pages":  {"81", "0", "0", "0", "81 dirty pages (goal: 80)"},
		"history":      {"0", "101", "0", "0", "101 transactions in the purge history (goal: 100)"},
		"redo log":     {"0", "0", "1048577", "0", "1048577 bytes of redo log since the last checkpoint (goal: 1048576)"},
		"writes":       {"0", "0", "0", "2", "2 Innodb_data_pending_writes (goal: 0)"},
		"knows little": {"", "", "", "", ""},
		"everything": {
			"900", "5000", "2097152", "1", "900 dirty pages (goal: 80), 5000 transactions in the purge history (goal: 100), " +
				"2097152 bytes of redo log since the last checkpoint (goal: 1048576), 1 Innodb_data_pending_writes (goal: 0)",
		},
	} {
		owed := debts(&engine.MariaDB.Counters, map[string]string{
			"Innodb_buffer_pool_pages_total": "8099", "Innodb_buffer_pool_pages_dirty": tc.dirty,
			"Innodb_history_list_length": tc.history, "Innodb_checkpoint_age": tc.checkpointAge, "Innodb_data_pending_writes": tc.writes,
		})
		var texts []string
		for _, f := range unrest(5*time.Second, owed) {
			text, is := strings.CutPrefix(f.String(), "the server did not settle: after 5 s it still had ")
			if !is {
				t.Errorf("%s: %s", name, f)
			}
			texts = append(texts, text)
		}
		got := strings.Join(texts, ", ")
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// A server is at rest when it has been without debt for a while, and not when it has just paid it.
func TestRest(t *testing.T) {
	some := func(value int64) []debt { return []debt{{"dirty pages", value, 80}} }
	type look struct {
		after time.Duration
		owed  []debt
		over  bool
	}
	for name, looks := range map[string][]look{
		"idle":           {{0, nil, false}, {restFor - 1, nil, false}, {restFor, nil, true}},
		"pays its debt":  {{0, some(900), false}, {time.Second, some(100), false}, {2 * time.Second, nil, false}, {2*time.Second + restFor, nil, true}},
		"owes once more": {{0, nil, false}, {restFor / 2, some(90), false}, {restFor, nil, false}, {restFor * 3 / 2, nil, false}, {restFor * 2, nil, true}},
		"does not pay":   {{0, some(900), false}, {stuckAfter, some(900), false}, {stuckAfter + 1, some(950), true}},
		"pays, then not": {{0, some(900), false}, {stuckAfter, some(899), false}, {2 * stuckAfter, some(899), false}, {2*stuckAfter + 1, some(899), true}},
		"a debt of another kind counts as paying": {
			{0, some(900), false}, {stuckAfter, []debt{{"history", 500, 100}}, false}, {stuckAfter * 2, some(900), false},
		},
	} {
		began := time.Now()
		r := rest{lowest: map[string]int64{}, fell: began}
		for i, l := range looks {
			if over := r.look(began.Add(l.after), l.owed); over != l.over {
				t.Errorf("%s, look %d: over is %t, want %t", name, i+1, over, l.over)
			}
		}
	}
}
