// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn_test

import (
	"context"
	"database/sql/driver"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// full has a connection left once so many have been refused.
type full struct {
	driver.Connector
	refusals int
	by       error
}

func (f *full) Connect(context.Context) (driver.Conn, error) {
	if f.refusals--; f.refusals >= 0 {
		return nil, f.by
	}
	return nil, nil
}

// A connection that was closed a moment ago may still be the server's last one.
func TestPatient(t *testing.T) {
	tooMany, denied := &mysql.MySQLError{Number: 1040}, &mysql.MySQLError{Number: 1045}
	for name, tc := range map[string]struct {
		server full
		after  time.Duration
		want   error
	}{
		"a session is about to end":   {full{refusals: 2, by: tooMany}, 400 * time.Millisecond, nil},
		"others keep all connections": {full{refusals: 1e6, by: tooMany}, time.Minute, tooMany},
		"the user is refused":         {full{refusals: 1, by: denied}, 0, denied},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			must.Is(t, must.Err(conn.Patient(&tc.server, conn.Dialect(engine.MariaDB), time.Minute).Connect(t.Context())), tc.want)
			must.Same(t, name, tc.after, time.Since(began))
		})
	}
}
