// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package failure_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

func TestNoErrorIsNoFailure(t *testing.T) {
	if err := failure.New(result.CauseSQL, nil); err != nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("no error became %v", err)
	}
}

// Which numbers mean that the server ended the connection differs from engine to engine: 4031 of MariaDB is about a trigger.
func TestReasons(t *testing.T) {
	other := engine.Engine{SQL: base.MySQL, ConnectionEnded: []string{"4031"}}
	server := func(number uint16) error { return fmt.Errorf("executing x: %w", &mysql.MySQLError{Number: number}) }
	for name, tc := range map[string]struct {
		e    *engine.Engine
		err  error
		want result.Cause
	}{
		"a statement that the server refuses": {engine.MariaDB, server(1064), result.CauseSQL},
		"others have all connections":         {engine.MariaDB, server(1040), result.CauseTooManyConnections},
		"this user has all of his":            {engine.MySQL, server(1203), result.CauseTooManyConnections},
		"a program finds none":                {engine.MariaDB, fmt.Errorf("x: %w", workload.ErrTooManyConnections), result.CauseTooManyConnections},
		"the server shuts down":               {engine.MariaDB, server(1053), result.CauseConnectionLost},
		"the connection was killed":           {engine.MariaDB, server(1927), result.CauseConnectionLost},
		"a number of another engine's":        {engine.MariaDB, server(4031), result.CauseSQL},
		"the same number there":               {&other, server(4031), result.CauseConnectionLost},
		"the same of its own":                 {engine.MySQL, server(4031), result.CauseConnectionLost},
		"killed, as MySQL says it":            {engine.MySQL, server(1053), result.CauseConnectionLost},
		"no answer":                           {engine.MariaDB, io.ErrUnexpectedEOF, result.CauseConnectionLost},
		"the driver lost it":                  {engine.MariaDB, fmt.Errorf("x: %w", mysql.ErrInvalidConn), result.CauseConnectionLost},
		"the pool lost it":                    {engine.MariaDB, driver.ErrBadConn, result.CauseConnectionLost},
		"the socket broke":                    {engine.MariaDB, os.NewSyscallError("talking to the server", syscall.EPIPE), result.CauseConnectionLost},
		"it could not be made again": {
			engine.MariaDB, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, result.CauseConnectionLost,
		},
		"interrupted":                {engine.MariaDB, net.ErrClosed, result.CauseConnectionLost},
		"a program lost it":          {engine.MariaDB, fmt.Errorf("x: %w", workload.ErrConnectionLost), result.CauseConnectionLost},
		"a file that cannot be read": {engine.MariaDB, &fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, result.CauseInternal},
		"an answer of nonsense":      {engine.MariaDB, errors.New("the server answers with a packet of kind 0x17"), result.CauseInternal},
		"an answer that cannot be converted": {
			engine.MariaDB, fmt.Errorf("sql: Scan error on column index 0: %w", strconv.ErrSyntax), result.CauseInternal,
		},
		"rows that somebody else deleted": {
			engine.MariaDB, fmt.Errorf("deleting: %w", workload.Disturbed{Reason: "only 9 of 10 rows existed"}), result.CauseCheckFailed,
		},
		"tried again too often": {engine.MariaDB, fmt.Errorf("inserting: %w", workload.GaveUp{Last: server(1213)}), result.CauseTooManyErrors},
		"not to be had":         {engine.MariaDB, workload.Refused{Reason: "no"}, result.CauseConfiguration},
		"a reason already": {
			engine.MariaDB, fmt.Errorf("preparing: %w", failure.New(result.CauseCheckFailed, server(1053))), result.CauseCheckFailed,
		},
	} {
		must.Same(t, name, tc.want, failure.Of(conn.Dialect(tc.e), tc.err).Reason)
	}
}
