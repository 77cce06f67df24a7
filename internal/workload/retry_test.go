// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func TestRetry(t *testing.T) {
	server := func(number uint16) error { return fmt.Errorf("x: %w", &mysql.MySQLError{Number: number}) }
	other := errors.New("connection lost")
	for name, tc := range map[string]struct {
		err error
		// then are the errors of further tries.
		then   []error
		tries  int
		wanted error
	}{
		"no error":              {},
		"deadlock":              {err: server(1213), then: []error{nil}, tries: 1},
		"lock wait timeout":     {err: server(1205), then: []error{nil}, tries: 1},
		"changed row":           {err: server(1020), then: []error{nil}, tries: 1},
		"one after another":     {err: server(1213), then: []error{server(1205), nil}, tries: 2},
		"something else":        {err: other, wanted: other},
		"an error of the SQL's": {err: server(1064), wanted: server(1064)},
		"something else later":  {err: server(1213), then: []error{other}, tries: 1, wanted: other},
	} {
		s := &workloadtest.Script{}
		c := &workload.Client{Session: s, Recorder: s}
		err := c.Retry(0, tc.err, func() error {
			next := tc.then[0]
			tc.then = tc.then[1:]
			return next
		})
		if fmt.Sprint(err) != fmt.Sprint(tc.wanted) || len(tc.then) > 0 || s.Errors != tc.tries || len(s.Statements) != tc.tries {
			t.Errorf("%s: %v, want %v; %d tries left, %d errors, statements %v", name, err, tc.wanted, len(tc.then), s.Errors, s.Statements)
		}
		for _, statement := range s.Statements {
			if statement != "ROLLBACK" {
				t.Errorf("%s: statement %s", name, statement)
			}
		}
	}
}

// Who waits for a lock that nobody gives back ends.
func TestRetryEnds(t *testing.T) {
	s := &workloadtest.Script{}
	timeout := &mysql.MySQLError{Number: 1205}
	err := (&workload.Client{Session: s, Recorder: s}).Retry(0, timeout, func() error { return timeout })
	if _, gaveUp := errors.AsType[workload.GaveUp](err); !gaveUp || !errors.Is(err, timeout) || s.Errors != len(s.Statements) {
		t.Errorf("%v after %d tries", err, s.Errors)
	}
}
