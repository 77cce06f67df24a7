// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Metrics that claims, plots and tables name, each once.
func TestNamedMetrics(t *testing.T) {
	got := NamedMetrics(v1alpha1.Claims{{Metric: "b"}, {}, {Metric: "a"}}, v1alpha1.Plots{{Metric: "b"}, {Metric: "c"}, {}},
		v1alpha1.Tables{{Metrics: []string{"d", "a"}}})
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
