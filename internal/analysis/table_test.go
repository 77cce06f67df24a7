// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// A table has a column for each metric that any point shows, and nothing where a point has not measured it.
func TestTableOf(t *testing.T) {
	run := oneAxis(3, 3)
	p := planOf(t, run)
	records := measure(p, 9, func(point, round int) float64 { return 1000*float64(1+point/2) + float64(round) })
	extra := result.Metric{Name: "lagSeconds", Value: 7, Unit: "s", Shown: true}
	records[0].Summary.Metrics = append(records[0].Summary.Metrics, extra, result.Metric{Name: "hidden", Value: 1})
	got := TableOf(Points(run, p, records), []string{"rowsPerCommit"}, []string{"none"})
	if len(got.Rows) != 3 || len(got.Metrics) != 1 || got.Metrics[0].Name != "lagSeconds" || !got.Merged() {
		t.Fatalf("%d rows, metrics %+v", len(got.Rows), got.Metrics)
	}
	if diff := cmp.Diff([][]float64{{7}}, got.Rows[0].Values); diff != "" || got.Rows[1].Values[0] != nil {
		t.Errorf("values of the metric beside the headline (-want +got):\n%s", diff)
	}
	if len(got.Rows[0].Latencies) != 1 || got.Rows[0].Latencies[0] != nil {
		t.Errorf("latencies %+v", got.Rows[0].Latencies)
	}
	var marks []Mark
	for i := range got.Rows {
		marks = append(marks, got.Rows[i].Mark)
	}
	if diff := cmp.Diff([]Mark{"", "", MarkBest}, marks); diff != "" || got.Rows[0].Ratio.Value != 1 || got.Rows[2].Ratio.Value < 1.9 {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
}

// Metrics that claims, plots and tables name, each once.
func TestNamedMetrics(t *testing.T) {
	got := NamedMetrics(v1alpha1.Claims{{Metric: "b"}, {}, {Metric: "a"}}, v1alpha1.Plots{{Metric: "b"}, {Metric: "c"}, {}},
		v1alpha1.Tables{{Metrics: []string{"d", "a"}}})
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
