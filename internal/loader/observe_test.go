// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

func TestServerCosts(t *testing.T) {
	facts := func(user, written, reads, writes int64) *result.ProcessFacts {
		return &result.ProcessFacts{Process: "7@1", UserMicros: user, WriteBytes: written, ReadCalls: reads, WriteCalls: writes}
	}
	for name, tc := range map[string]struct {
		observed *result.Observed
		rows     int64
		want     []result.Metric
	}{
		"nobody saw it": {nil, 10, nil},
		"no rows":       {&result.Observed{Before: facts(0, 0, 0, 0), After: facts(1, 1, 1, 1)}, 0, nil},
		"all of it": {&result.Observed{Before: facts(0, 4096, 0, 10), After: facts(100, 8192, 5, 25)}, 10, []result.Metric{
			{Name: "serverMicrosPerRow", Value: 10, Unit: "µs/row", Better: "lower"},
			{Name: "serverBytesWrittenPerRow", Value: 409.6, Unit: "bytes/row", Better: "lower"},
			{Name: "serverFileCallsPerRow", Value: 2, Unit: "calls/row", Better: "lower"},
		}},
		// Zero is an answer, and unknown is none.
		"a part of it": {&result.Observed{Before: facts(5, 4096, -1, 10), After: facts(5, 4096, -1, 25)}, 10, []result.Metric{
			{Name: "serverMicrosPerRow", Value: 0, Unit: "µs/row", Better: "lower"},
			{Name: "serverBytesWrittenPerRow", Value: 0, Unit: "bytes/row", Better: "lower"},
		}},
	} {
		if diff := cmp.Diff(tc.want, serverCosts(tc.observed, tc.rows, "row", "PerRow")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
