// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const (
	root = "../../"
	page = "docs/reference/monitoring.md"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	return string(text)
}

// The documentation lists the metrics that are served, with their types and their labels.
func TestEveryMetricIsDocumented(t *testing.T) {
	s := stateOf([]v1alpha1.BenchmarkRun{queued("run", "lane", 1)})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s, New())
	families := must.Get(registry.Gather())(t)
	want := map[string]string{}
	for _, f := range families {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		want[f.GetName()] = strings.ToLower(f.GetType().String()) + " " + strings.Join(labels, " ")
	}
	got := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(benchrun_\\w+)` \\| (\\w+) \\|([^|]*)\\|")
	for _, match := range row.FindAllStringSubmatch(read(t, root+page), -1) {
		got[match[1]] = match[2] + " " + strings.Join(sorted(match[3]), " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf(page+" (-served +documented):\n%s", diff)
	}
}

// sorted labels of a cell, in the order in which Prometheus has them.
func sorted(cell string) []string {
	list := regexp.MustCompile(`\w+`).FindAllString(cell, -1)
	slices.Sort(list)
	return list
}

// Every alert of the chart is explained, and no other.
func TestEveryAlertIsDocumented(t *testing.T) {
	var alerts, documented []string
	for _, match := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(read(t, root+"charts/benchrun/files/alerts.yaml"), -1) {
		alerts = append(alerts, match[1])
	}
	for _, match := range regexp.MustCompile("(?m)^\\| `(Benchrun\\w+)` \\|").FindAllStringSubmatch(read(t, root+page), -1) {
		documented = append(documented, match[1])
	}
	if diff := cmp.Diff(alerts, documented); diff != "" || len(alerts) == 0 {
		t.Errorf(page+" (-chart +documented):\n%s", diff)
	}
}
