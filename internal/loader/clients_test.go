// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// A rate that was not reached is a warning, and so is nothing else: a load that ends with its last row, or when its time is over,
// has reached its rate if its last transaction began when it was due.
func TestOfferedRateReached(t *testing.T) {
	const second = time.Second
	for name, tc := range map[string]struct {
		o       offered
		rows    int64
		ended   time.Duration
		limit   int
		reached float64
		want    string
	}{
		"all rows":               {offered{100, 1000, 10 * second}, 1000, 10*second + 90*time.Millisecond, 0, 100, ""},
		"a long last statement":  {offered{100, 1000, 10 * second}, 1000, 13 * second, 0, 100, ""},
		"a little late":          {offered{100, 1000, 10*second + 90*time.Millisecond}, 1000, 11 * second, 0, 99.11, ""},
		"too late":               {offered{100, 1000, 12500 * time.Millisecond}, 1000, 12500 * time.Millisecond, 0, 80, "the rate of 100 rows/s was not reached: 80.0 rows/s, 80.0% of the offered load"},
		"until the time is over": {offered{100, 0, 9990 * time.Millisecond}, 999, 10 * second, 10, 100, ""},
		"half by then":           {offered{100, 0, 10 * second}, 500, 10 * second, 10, 50, "50.0 rows/s, 50.0% of the offered load; 499 were still queued at the end and have no latency"},
		"no more than there are": {offered{100, 600, 10 * second}, 500, 10 * second, 10, 50, "; 100 were still queued at the end"},
		"none":                   {offered{1, 10, 0}, 0, 0, 1, 0, "0.0% of the offered load"},
	} {
		doc := &result.Document{Totals: result.Totals{Rows: tc.rows, Micros: tc.ended.Microseconds(), StoppedBy: result.StoppedByRows}}
		if doc.Config.LimitSeconds = tc.limit; tc.limit > 0 {
			doc.Totals.StoppedBy = result.StoppedBySeconds
		}
		text := strings.Join(finding.Texts(tc.o.findings(doc)), "\n")
		if !strings.Contains(text, tc.want) || (text == "") != (tc.want == "") {
			t.Errorf("%s: warning %q, want %q", name, text, tc.want)
		}
		m := tc.o.metrics(doc)
		if off := m[1].Value - tc.reached; off < -0.01 || off > 0.01 || m[0].Value != float64(tc.o.rate) {
			t.Errorf("%s: metrics %v, want %g%% reached", name, m, tc.reached)
		}
	}
}
