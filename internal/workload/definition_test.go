// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"fmt"
	"testing"

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
			if statement != "ROLLBACK" {
				t.Errorf("%s: statement %s", name, statement)
			}
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
	if sum != 10 {
		t.Errorf("the parts add up to %d", sum)
	}
}
