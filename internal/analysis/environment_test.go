// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// The latest attempt that counts says where a run is measured; before there is one, the latest of all does.
func TestEnvironmentOf(t *testing.T) {
	at := func(node string, r *result.Record) *result.Record {
		r.Place.DatabaseNode = node
		return r
	}
	accepted, later := at("a", testutil.Record(1, 1, nil, 1)), at("b", testutil.Record(2, 1, nil, 1))
	evicted := at("c", disturbed(3, 1, result.OutcomeInvalidated, result.CauseEvicted))
	for name, tc := range map[string]struct {
		records []*result.Record
		want    string
	}{
		"the latest that counts": {[]*result.Record{accepted, later, evicted}, "b"},
		"none that counts":       {[]*result.Record{evicted}, "c"},
	} {
		got := EnvironmentOf(tc.records)
		if got.Place.DatabaseNode != tc.want || (got.ServerVersion == "") != (tc.want == "c") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := EnvironmentOf(nil); got != nil {
		t.Errorf("without a record: %+v", got)
	}
}
