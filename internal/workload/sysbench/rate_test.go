// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// An offered rate that was not reached is a warning, for one Pod and for several. Chance is none: in three seconds at 100 a
// second, some ten transactions more or less are due.
func TestSysbenchRate(t *testing.T) {
	data, err := os.ReadFile("output/testdata/1.0.20-real.txt")
	if err != nil {
		t.Fatal(err)
	}
	// 304 transactions in 3.0249 s.
	run := string(data)
	waiting := func(n int) string {
		return strings.Replace(run, "[ 3s ] queue length: 0,", fmt.Sprintf("[ 3s ] queue length: %d,", n), 1)
	}
	for name, tc := range map[string]struct {
		rate    int32
		outputs []string
		want    string
	}{
		"none is offered":            {0, []string{run}, ""},
		"reached":                    {100, []string{run}, ""},
		"fewer were due, by chance":  {105, []string{run}, ""},
		"three wait":                 {100, []string{waiting(3)}, ""},
		"four wait":                  {100, []string{waiting(4)}, "the rate of 100 transactions/s was not reached: 100.5 transactions/s, 98.7% of the offered load; 4 were still queued at the end and have no latency"},
		"as many wait as are done":   {200, []string{waiting(304)}, "100.5 transactions/s, 50.0% of the offered load; 304 were still"},
		"so few were not even made":  {1000, []string{run}, "the rate of 1000 transactions/s was not reached: 100.5 transactions/s, 10.6% of the offered load"},
		"reached together":           {200, []string{run, run}, ""},
		"not reached by one of both": {200, []string{waiting(20), run}, "96.8% of the offered load; 20 were still queued at the end"},
	} {
		tool := newTestSysbench(t, 1, func(p *Parameters) { p.Rate = tc.rate })
		var executions []*workload.Execution
		for _, text := range tc.outputs {
			executions = append(executions, &workload.Execution{Output: text})
		}
		r, err := tool.Read(executions)
		if err != nil {
			t.Fatal(err)
		}
		texts := finding.Texts(r.Findings)
		warned := slices.ContainsFunc(texts, func(text string) bool { return tc.want != "" && strings.Contains(text, tc.want) })
		if warned != (tc.want != "") || len(texts) > 1 || tc.want == "" && len(texts) > 0 {
			t.Errorf("%s: findings %q, want %q", name, texts, tc.want)
		}
	}
}
