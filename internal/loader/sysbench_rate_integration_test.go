// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

// One thread does some twenty transactions a second of the hundred that are due. That is said beside the number, and shows in
// the latencies, which count from when each transaction was due and not from when its turn came, 50 ms before its end.
func TestSysbenchRateNotReached(t *testing.T) {
	tr := newSysbenchTrial(t, sysbench.Parameters{Rate: 100, Seconds: 3})
	tr.ownScript(t, `
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT SLEEP(0.05)") end
`)
	_, doc := tr.mustRun(t)
	if all := strings.Join(finding.Texts(doc.Findings), "\n"); !strings.Contains(all, "the rate of 100 transactions/s was not reached") ||
		!strings.Contains(all, "were still queued at the end") {
		t.Errorf("warnings %q", doc.Findings)
	}
	if l := doc.Latencies[0]; l.P50Micros < 500_000 {
		t.Errorf("half of the transactions took no more than %d µs from when they were due", l.P50Micros)
	}
}
