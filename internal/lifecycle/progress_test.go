// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// counts are what is compared of a progress.
type counts struct{ Planned, Measured, Invalidated, Next, Attempt int }

func countsOf(g progress) counts {
	c := counts{Planned: g.Planned, Measured: g.Measured, Invalidated: g.Invalidated, Attempt: g.attempt}
	if g.next != nil {
		c.Next = g.next.Number
	}
	return c
}

func TestProgress(t *testing.T) {
	evicted := func(number, attempt int) *result.Record {
		return disturbed(number, attempt, result.OutcomeInvalidated, result.CauseEvicted)
	}
	cases := map[string]struct {
		records []*result.Record
		want    counts
	}{
		"nothing":                     {nil, counts{4, 0, 0, 1, 1}},
		"one measured":                {records(1), counts{4, 1, 0, 2, 1}},
		"a gap is measured first":     {records(1, 3, 4), counts{4, 3, 0, 2, 1}},
		"all measured":                {records(4, 3, 2, 1), counts{4, 4, 0, 0, 0}},
		"tried again":                 {[]*result.Record{evicted(1, 1), evicted(1, 2)}, counts{4, 0, 2, 1, 3}},
		"attempts in any order":       {[]*result.Record{evicted(1, 2), evicted(1, 1)}, counts{4, 0, 2, 1, 3}},
		"number after a gap":          {[]*result.Record{evicted(1, 7)}, counts{4, 0, 1, 1, 8}},
		"disturbed, then measured":    {append([]*result.Record{evicted(1, 2)}, records(1)...), counts{4, 1, 1, 2, 1}},
		"failed is not disturbed":     {[]*result.Record{disturbed(1, 1, result.OutcomeFailed, "SQL")}, counts{4, 0, 0, 1, 2}},
		"a trial that is not planned": {records(9), counts{4, 0, 0, 1, 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(2, 2)
			if diff := cmp.Diff(tc.want, countsOf(progressOf(run, planOf(t, run), tc.records))); diff != "" {
				t.Errorf("progress (-want +got):\n%s", diff)
			}
		})
	}
}
