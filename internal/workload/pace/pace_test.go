// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"strings"
	"testing"
	"time"
)

// A schedule does not drift: after any number of rows it is less than a nanosecond early, also where a distance is no whole
// number of nanoseconds, and after a month.
func TestRateDoesNotDrift(t *testing.T) {
	for _, tc := range []struct {
		rate Rate
		row  int64
		want time.Duration
	}{
		{1, 1, time.Second},
		{3, 1, 333_333_333},
		{3, 3, time.Second},
		{3, 3_000_000_001, 1_000_000_000*time.Second + 333_333_333},
		{7, 6, 857_142_857},
		{1_000_000, 1, time.Microsecond},
		{maxRate, 1, 10},
		{maxRate, maxRate * 86_400 * 30, 30 * 24 * time.Hour},
	} {
		if got := tc.rate.Due(tc.row); got != tc.want {
			t.Errorf("row %d at %d rows/s is due at %d ns, want %d", tc.row, tc.rate, got, tc.want)
		}
	}
}

func TestRateDueBy(t *testing.T) {
	for _, rate := range []Rate{1, 3, 7, 1000, 999_983, maxRate} {
		for _, row := range []int64{1, 2, 3, 1000, 1_000_003, 86_400 * int64(rate)} {
			at := rate.Due(row)
			if got := rate.DueBy(at); got != row {
				t.Errorf("at %d rows/s, %d rows are due when row %d is", rate, got, row)
			}
			if got := rate.DueBy(at - 1); got != row-1 {
				t.Errorf("at %d rows/s, %d rows are due a nanosecond before row %d is", rate, got, row)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for want, p := range map[string]Parameters{
		"": {RatePerSecond: maxRate},
		"set ratePerSecond or thinkTimeMilliseconds":  {RatePerSecond: 1, ThinkTimeMilliseconds: 1},
		"ratePerSecond is -1 but must be 0":           {RatePerSecond: -1},
		"ratePerSecond is 100000001 but must":         {RatePerSecond: maxRate + 1},
		"warmupSeconds is -1 but must be 0":           {WarmupSeconds: -1},
		"warmupSeconds is 3601 but must be 0":         {WarmupSeconds: maxSeconds + 1},
		"rampSeconds is -1 but must be 0":             {RampSeconds: -1},
		"rampSeconds is 3601 but must be 0":           {RampSeconds: maxSeconds + 1},
		"thinkTimeMilliseconds is -1 but must be 0":   {ThinkTimeMilliseconds: -1},
		"thinkTimeMilliseconds is 3600001 but must b": {ThinkTimeMilliseconds: maxThinkTimeMillis + 1},
	} {
		if err := p.Check(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", p, err, want)
		}
	}
}
