// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// readers numbers what is loaded: the driver finds a reader by a name that the whole process shares.
var readers atomic.Int64

// Load implements workload.Session. The driver asks the reader for 16 KiB at a time, and sends each before it asks for the
// next: what the kernel still has to send meanwhile is many times as much.
func (s *session) Load(clause string, data io.Reader) (int64, error) {
	name := "benchrun-" + strconv.FormatInt(readers.Add(1), 10)
	mysql.RegisterReaderHandler(name, func() io.Reader { return data })
	defer mysql.DeregisterReaderHandler(name)
	return s.ExecAffected([]byte("LOAD DATA LOCAL INFILE 'Reader::" + name + "' " + clause))
}

// Warnings implements workload.Session.
func (s *session) Warnings() (n int64, first string, err error) {
	count, err := s.lastOfRow("SHOW COUNT(*) WARNINGS")
	if err != nil {
		return 0, "", err
	}
	if n, err = strconv.ParseInt(count, 10, 64); err != nil || n == 0 {
		return n, "", err
	}
	// Level, number and text.
	first, err = s.lastOfRow("SHOW WARNINGS LIMIT 1")
	return n, first, err
}

// lastOfRow is the last column of the first row of a query.
func (s *session) lastOfRow(query string) (_ string, err error) {
	rows, err := s.query.QueryContext(s.ctx, query, nil)
	if err != nil {
		return "", fmt.Errorf("executing %s: %w", query, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return "", fmt.Errorf("reading the rows of %s: %w", query, err)
	}
	return text(row[len(row)-1]), nil
}

// Sent implements workload.Recorder.
func (r *recorder) Sent(at time.Duration, rows, bytes int64) {
	r.totals.Rows += rows
	r.totals.Bytes += bytes
	interval := r.series.at(at)
	interval.Rows += rows
	interval.Bytes += bytes
	r.rowsSoFar.Store(r.totals.Rows)
}

// Loaded implements workload.Recorder.
func (r *recorder) Loaded(began, ended time.Duration) {
	if r.load == nil {
		r.load = newHistogram()
	}
	took := observe(r.load, ended-began)
	r.totals.Statements++
	r.totals.Transactions++
	r.ended = ended
	interval := r.series.at(ended)
	interval.Transactions++
	interval.MaxMicros = max(interval.MaxMicros, took)
}
