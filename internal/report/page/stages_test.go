// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// The page keeps the series of each stage at its own point: rows of one that inserts, queries of one that queries.
func TestDetailsOfStages(t *testing.T) {
	record, doc := testutil.Record(1, 1, nil, 0), new(result.Document)
	series := []result.Interval{{EndMicros: 1e6, Rows: 3, Queries: 70}}
	for _, s := range []result.Stage{
		{Name: "l.i1", Series: series, Totals: result.Totals{Rows: 3}}, {Name: "qr100", Series: series, Totals: result.Totals{Rows: 3, Queries: 70}},
	} {
		doc.Stages = append(doc.Stages, s)
		record.Summary.Stages = append(record.Summary.Stages, result.StageSummary{Name: s.Name, Totals: s.Totals})
	}
	var d Details
	d.Add(record, doc)
	for stage, want := range map[string]int64{"l.i1": 3, "qr100": 70} {
		got := d.timed(stage, map[string]string{"stage": stage})
		if len(got.series) != 1 || got.series[0].Rows != want || got.unit != "operations/s" {
			t.Errorf("stage %s: %+v", stage, got)
		}
	}
	if got := d.of(nil); got != nil {
		t.Errorf("the attempt as a whole is a point, too: %+v", got)
	}
	if doc.Stages[1].Series[0].Rows != 3 {
		t.Error("the document was changed")
	}
}
