// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package failure_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

func TestNoErrorIsNoFailure(t *testing.T) {
	if err := failure.New(result.CauseSQL, nil); err != nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("no error became %v", err)
	}
}

// Which numbers mean that the server ended the connection differs from engine to engine: 4031 of MariaDB is about a trigger.
func TestReasons(t *testing.T) {
	other := engine.Engine{ConnectionEnded: []uint16{4031}}
	server := func(number uint16) error { return fmt.Errorf("executing x: %w", &mysql.MySQLError{Number: number}) }
	for name, tc := range map[string]struct {
		e    *engine.Engine
		err  error
		want result.Cause
	}{
		"a statement that the server refuses": {&engine.MariaDB, server(1064), result.CauseSQL},
		"the server shuts down":               {&engine.MariaDB, server(1053), result.CauseConnectionLost},
		"the connection was killed":           {&engine.MariaDB, server(1927), result.CauseConnectionLost},
		"a number of another engine's":        {&engine.MariaDB, server(4031), result.CauseSQL},
		"the same number there":               {&other, server(4031), result.CauseConnectionLost},
		"no answer":                           {&engine.MariaDB, io.ErrUnexpectedEOF, result.CauseConnectionLost},
		"not to be had":                       {&engine.MariaDB, workload.Refused{Reason: "no"}, result.CauseConfiguration},
		"a reason already": {
			&engine.MariaDB, fmt.Errorf("preparing: %w", failure.New(result.CauseCheckFailed, server(1053))), result.CauseCheckFailed,
		},
	} {
		if got := failure.Of(tc.e, tc.err).Reason; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
