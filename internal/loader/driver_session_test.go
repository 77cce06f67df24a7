// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// driverSession is a workload's session by go-sql-driver alone, called as cheaply as it can be: without database/sql, without
// copies of statements, without a context that it would have to watch.
type driverSession struct {
	ctx context.Context //nolint:containedctx // it cannot be cancelled
	// conn is the driver's connection, which also executes and prepares.
	conn interface {
		driver.Conn
		driver.ExecerContext
		driver.QueryerContext
	}
	prepared []*driverStatement
	columns  []driver.Value
}

// driverStatement is a prepared statement with room for the values of an execution.
type driverStatement struct {
	driver.StmtExecContext
	types  []mysqlwire.Type
	values []driver.NamedValue
}

func newDriverSession(ctx context.Context, connector driver.Connector, setup []string) (*driverSession, error) {
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &driverSession{ctx: context.WithoutCancel(ctx)}
	s.conn = conn.(interface {
		driver.Conn
		driver.ExecerContext
		driver.QueryerContext
	})
	for _, statement := range setup {
		if err := s.Exec([]byte(statement)); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return s, nil
}

func uncopied(statement []byte) string {
	return unsafe.String(unsafe.SliceData(statement), len(statement))
}

// Exec implements workload.Session.
func (s *driverSession) Exec(statement []byte) error {
	_, err := s.ExecAffected(statement)
	return err
}

// ExecWhile implements workload.Session: the driver returns when the answer is there.
func (s *driverSession) ExecWhile(statement []byte, meanwhile func()) (time.Duration, error) {
	return after(s.Exec(statement), meanwhile)
}

func after(err error, meanwhile func()) (time.Duration, error) {
	answered := time.Now()
	meanwhile()
	return time.Since(answered), err
}

// ExecAffected implements workload.Session.
func (s *driverSession) ExecAffected(statement []byte) (int64, error) {
	done, err := s.conn.ExecContext(s.ctx, uncopied(statement), nil)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// Prepare implements workload.Session. What executions begin with is the statement's number.
func (s *driverSession) Prepare(p workload.Prepared) (*mysqlwire.Execution, error) {
	statement, err := s.conn.Prepare(p.SQL)
	if err != nil {
		return nil, err
	}
	values := make([]driver.NamedValue, int(p.Rows)*len(p.Types))
	for i := range values {
		values[i].Ordinal = i + 1
	}
	s.prepared = append(s.prepared, &driverStatement{
		StmtExecContext: statement.(driver.StmtExecContext), types: p.Types, values: values,
	})
	head := []byte{byte(len(s.prepared) - 1)}
	return &mysqlwire.Execution{First: head, Later: head}, nil
}

// ExecuteWhile implements workload.Session. The values come in the binary form, and the driver makes the same of them again.
// Reading them is a little extra work, less than what the driver does not have to do for making them.
func (s *driverSession) ExecuteWhile(execution []byte, meanwhile func()) (time.Duration, error) {
	statement, rest := s.prepared[execution[0]], execution[1:]
	for i := range statement.values {
		var size int
		statement.values[i].Value, size = binaryValue(statement.types[i%len(statement.types)], rest)
		rest = rest[size:]
	}
	_, err := statement.ExecContext(s.ctx, statement.values)
	return after(err, meanwhile)
}

func binaryValue(of mysqlwire.Type, p []byte) (driver.Value, int) {
	switch of {
	case mysqlwire.TypeInt:
		return int64(int32(binary.LittleEndian.Uint32(p))), 4
	case mysqlwire.TypeUnsignedBigInt:
		return int64(binary.LittleEndian.Uint64(p)), 8
	case mysqlwire.TypeDatetime:
		const length, year, fraction = 1, 2, 8
		at := time.Date(int(binary.LittleEndian.Uint16(p[length:])), time.Month(p[length+year]), int(p[length+3]), int(p[length+4]),
			int(p[length+5]), int(p[length+6]), 1000*int(binary.LittleEndian.Uint32(p[fraction:])), time.UTC)
		return at, 1 + int(p[0])
	default:
		return p[1 : 1+int(p[0])], 1 + int(p[0])
	}
}

// Fetch implements workload.Session.
func (s *driverSession) Fetch(statement []byte) (n int64, err error) {
	rows, err := s.conn.QueryContext(s.ctx, uncopied(statement), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if s.columns == nil {
		s.columns = make([]driver.Value, len(rows.Columns()))
	}
	for {
		switch err := rows.Next(s.columns); {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		n++
	}
}

// driverReaders numbers what is loaded: the driver finds a reader by a name that the whole process shares.
var driverReaders atomic.Int64

// Load implements workload.Session.
func (s *driverSession) Load(clause string, data io.Reader) (rows, warnings int64, err error) {
	name := "bench-" + strconv.FormatInt(driverReaders.Add(1), 10)
	mysql.RegisterReaderHandler(name, func() io.Reader { return data })
	defer mysql.DeregisterReaderHandler(name)
	rows, err = s.ExecAffected([]byte("LOAD DATA LOCAL INFILE 'Reader::" + name + "' " + clause))
	if err != nil {
		return 0, 0, err
	}
	count, err := s.first("SHOW COUNT(*) WARNINGS")
	if err != nil {
		return 0, 0, err
	}
	warnings, err = strconv.ParseInt(count, 10, 64)
	return rows, warnings, err
}

// Warning implements workload.Session.
func (s *driverSession) Warning() (string, error) { return s.first("SHOW WARNINGS LIMIT 1") }

// first is the last column of a query's first row.
func (s *driverSession) first(query string) (_ string, err error) {
	rows, err := s.conn.QueryContext(s.ctx, query, nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return "", err
	}
	if text, ok := row[len(row)-1].([]byte); ok {
		return string(text), nil
	}
	return fmt.Sprint(row[len(row)-1]), nil
}

// Close ends the session.
func (s *driverSession) Close() error { return s.conn.Close() }
