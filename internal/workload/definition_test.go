// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func TestRetry(t *testing.T) {
	deadlock, other := fmt.Errorf("x: %w", workloadtest.ErrDeadlock), errors.New("connection lost")
	for name, tc := range map[string]struct {
		err error
		// then are the errors of further tries.
		then   []error
		tries  int
		wanted error
	}{
		"no error":             {},
		"a deadlock":           {err: deadlock, then: []error{nil}, tries: 1},
		"one after another":    {err: deadlock, then: []error{deadlock, nil}, tries: 2},
		"something else":       {err: other, wanted: other},
		"something else later": {err: deadlock, then: []error{other}, tries: 1, wanted: other},
	} {
		s := &workloadtest.Script{}
		c := workloadtest.Client(0, s)
		c.Enter()
		err := c.Retry(0, tc.err, func() error {
			next := tc.then[0]
			tc.then = tc.then[1:]
			return next
		})
		if !errors.Is(err, tc.wanted) || len(tc.then) > 0 || s.Errors != tc.tries || len(s.Statements) != tc.tries {
			t.Errorf("%s: %v, want %v; %d tries left, %d errors, statements %v", name, err, tc.wanted, len(tc.then), s.Errors, s.Statements)
		}
		for _, statement := range s.Statements {
			must.Same(t, name+": statement", "ROLLBACK", statement)
		}
	}
}

// A client that waits for a lock that is not given back ends.
func TestRetryEnds(t *testing.T) {
	s := &workloadtest.Script{}
	c := workloadtest.Client(0, s)
	c.Enter()
	err := c.Retry(0, workloadtest.ErrDeadlock, func() error { return workloadtest.ErrDeadlock })
	if _, gaveUp := errors.AsType[workload.GaveUp](err); !gaveUp || !errors.Is(err, workloadtest.ErrDeadlock) || s.Errors != len(s.Statements) {
		t.Errorf("%v after %d tries", err, s.Errors)
	}
}

func TestShareOf(t *testing.T) {
	sum := int64(0)
	for pod := range int64(4) {
		part := workload.Share{Pod: pod, Pods: 4}.Of(10)
		if part < 2 || part > 3 {
			t.Errorf("Pod %d has %d of 10", pod, part)
		}
		sum += part
	}
	must.Same(t, "the parts add up to", int64(10), sum)
}

// A schedule does not drift: after any number of rows it is less than a nanosecond early, also where a distance is no whole
// number of nanoseconds, and after a month.
func TestRateDoesNotDrift(t *testing.T) {
	for _, tc := range []struct {
		rate workload.Rate
		row  int64
		want time.Duration
	}{
		{1, 1, time.Second},
		{3, 1, 333_333_333},
		{3, 3, time.Second},
		{3, 3_000_000_001, 1_000_000_000*time.Second + 333_333_333},
		{7, 6, 857_142_857},
		{1_000_000, 1, time.Microsecond},
		{100_000_000, 1, 10},
		{100_000_000, 100_000_000 * 86_400 * 30, 30 * 24 * time.Hour},
	} {
		must.Same(t, fmt.Sprintf("row %d at %d rows/s is due at", tc.row, tc.rate), tc.want, tc.rate.Due(tc.row))
	}
}

func TestRateDueBy(t *testing.T) {
	for _, rate := range []workload.Rate{1, 3, 7, 1000, 999_983, 100_000_000} {
		for _, row := range []int64{1, 2, 3, 1000, 1_000_003, 86_400 * int64(rate)} {
			at := rate.Due(row)
			must.Same(t, fmt.Sprintf("at %d rows/s", rate), row, rate.DueBy(at))
			must.Same(t, fmt.Sprintf("at %d rows/s, due a nanosecond before row %d is", rate, row), row-1, rate.DueBy(at-1))
		}
	}
}

func TestCheck(t *testing.T) {
	for want, p := range map[string]workload.Pacing{
		"": {RatePerSecond: 100_000_000},
		"set ratePerSecond or thinkTimeMilliseconds":  {RatePerSecond: 1, ThinkTimeMilliseconds: 1},
		"ratePerSecond is -1 but must be 0":           {RatePerSecond: -1},
		"ratePerSecond is 100000001 but must":         {RatePerSecond: 100_000_000 + 1},
		"warmupSeconds is -1 but must be 0":           {WarmupSeconds: -1},
		"warmupSeconds is 3601 but must be 0":         {WarmupSeconds: 3600 + 1},
		"rampSeconds is -1 but must be 0":             {RampSeconds: -1},
		"rampSeconds is 3601 but must be 0":           {RampSeconds: 3600 + 1},
		"thinkTimeMilliseconds is -1 but must be 0":   {ThinkTimeMilliseconds: -1},
		"thinkTimeMilliseconds is 3600001 but must b": {ThinkTimeMilliseconds: 3_600_000 + 1},
	} {
		if err := p.Check(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", p, err, want)
		}
	}
}
