// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"slices"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

// However many Pods share a load, they send each row once, and what was sent is known from how many rows each has sent.
func TestShareOfRows(t *testing.T) {
	for _, rows := range []int64{1, 5, 6, 7, 100, 101} {
		for pods := range int64(5) {
			var all, counts []int64
			for pod := range pods + 1 {
				d := dispenser{Rows: rows, PerTransaction: 6, Share: workload.Share{Pod: pod, Pods: pods + 1}}
				count := int64(0)
				for d.left() {
					first, last := d.take()
					for n := first; n <= last; n++ {
						all, count = append(all, n), count+1
					}
				}
				if first, last := d.take(); first <= last {
					t.Errorf("rows %d to %d after the last", first, last)
				}
				counts = append(counts, count)
			}
			sent := slices.Collect((&dispenser{Rows: rows, PerTransaction: 6}).Sent(counts))
			slices.Sort(sent)
			slices.Sort(all)
			if !slices.Equal(all, sent) || int64(len(all)) != rows || all[0] != 1 || all[rows-1] != rows {
				t.Errorf("%d Pods send of %d rows %v, counted %v", pods+1, rows, all, sent)
			}
		}
	}
}

// Of three Pods with transactions of two rows, the first has rows 1, 2, 7, 8 and so on.
func TestSentBeforeTheEnd(t *testing.T) {
	d := &dispenser{Rows: 100, PerTransaction: 2}
	if got := slices.Collect(d.Sent([]int64{4, 0, 2})); !slices.Equal(got, []int64{1, 2, 7, 8, 5, 6}) {
		t.Errorf("sent %v", got)
	}
	if got := slices.Collect(d.Sent([]int64{200})); len(got) != 100 {
		t.Errorf("%d rows of 100", len(got))
	}
}

// A clock that was set while an answer was on its way is not believed.
func TestAnswered(t *testing.T) {
	for _, tc := range []struct{ began, now, ago, want time.Duration }{
		{100, 130, 0, 130}, {100, 130, 20, 110}, {100, 130, 30, 100}, {100, 130, 31, 130}, {100, 130, time.Hour, 130},
	} {
		if got := answered(tc.began, tc.now, tc.ago); got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}
