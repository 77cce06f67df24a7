// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

func TestRestWatch(t *testing.T) {
	status := func(dirty, history string) map[string]string {
		return map[string]string{
			"Innodb_buffer_pool_pages_total": "8000", "Innodb_buffer_pool_pages_dirty": dirty,
			"Innodb_history_list_length": history, "Innodb_data_pending_writes": "0",
		}
	}
	for _, tc := range []struct {
		name  string
		polls []map[string]string
		// want is the poll at which the server is at rest, from 1; 0 is not at all.
		want int
	}{
		{"idle", []map[string]string{status("80", "100")}, 1},
		{"falls to little", []map[string]string{status("900", "0"), status("400", "0"), status("80", "0")}, 3},
		{"keeps falling", []map[string]string{status("900", "0"), status("899", "0"), status("898", "0"), status("897", "0"), status("896", "0"), status("895", "0"), status("894", "0")}, 0},
		{"does not fall", []map[string]string{status("900", "0"), status("900", "0"), status("901", "0"), status("900", "0"), status("900", "0"), status("900", "0")}, 6},
		{"history falls", []map[string]string{status("0", "5000"), status("0", "99")}, 2},
		{"writes", []map[string]string{{"Innodb_data_pending_writes": "2"}, {"Innodb_data_pending_writes": "0"}}, 2},
		{"knows nothing", []map[string]string{{}}, 1},
	} {
		w, at := newRestWatch(&engine.MariaDB), 0
		for i, s := range tc.polls {
			if len(w.observe(s)) == 0 {
				at = i + 1
				break
			}
		}
		if at != tc.want {
			t.Errorf("%s: at rest at poll %d, want %d", tc.name, at, tc.want)
		}
	}
	busy := newRestWatch(&engine.MariaDB).observe(status("900", "0"))
	if diff := cmp.Diff([]string{"900 dirty pages"}, busy); diff != "" {
		t.Errorf("busy (-want +got):\n%s", diff)
	}
}
