// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/delimited"
)

// indexStride is how many rows of a file lie between two whose place is remembered: a billion rows take 8 MB.
const indexStride = 1024

// rowFile is a file of the user's whose rows are inserted. Row n is at hand for every client, so that they share the rows out
// among themselves as they do those that are made.
type rowFile struct {
	input
	quoting quoting
	// comparison of the table with the file; nil without a server.
	comparison *comparison
	// before is what the file was when it was surveyed, index where in it the rows 1, 1+indexStride, … begin.
	before result.Input
	index  []int64
}

// surveyed is what rows take as SQL.
type surveyed struct {
	// rows that are going to be sent, which may be fewer than there are.
	rows int64
	// row is the longest one with its comma, statement the longest statement's rows.
	row, statement int64
}

// survey reads the whole file, of which so many rows at most are going to be sent: nothing may be wrong with it when the clock
// runs.
func (f *rowFile) survey(ctx context.Context, columns int, atMost, perStatement int64) (surveyed, error) {
	var s surveyed
	var statement int64
	var sql []byte
	f.index = nil
	all, err := f.scan(ctx, func(r *delimited.Reader, fields [][]byte) error {
		if len(fields) != columns {
			return wrongFields(r.Line(), len(fields), columns)
		}
		if s.rows == atMost {
			return nil
		}
		if s.rows%indexStride == 0 {
			f.index = append(f.index, r.Offset())
		}
		if s.rows%perStatement == 0 {
			statement = 0
		}
		s.rows++
		if f.comparison != nil {
			f.comparison.look(fields)
		}
		sql = f.quoting.appendRow(sql[:0], fields)
		bytes := int64(len(sql)) + 1
		statement += bytes
		s.row, s.statement = max(s.row, bytes), max(s.statement, statement)
		return nil
	})
	if err == nil && s.rows == 0 {
		err = Refused{fmt.Sprintf("dataFrom: %s has no rows", f.name)}
	}
	f.before = all.Input
	return s, err
}

// checksum reads the whole file again: what it is now, and the checksum of its first rows.
func (f *rowFile) checksum(ctx context.Context, rows int64) (result.Input, Checksum, error) {
	var sum Checksum
	var buf []byte
	now, err := f.scan(ctx, func(_ *delimited.Reader, fields [][]byte) error {
		if sum.Rows < rows && len(fields) == len(f.comparison.columns) {
			buf = f.comparison.add(&sum, buf, fields)
		}
		return nil
	})
	return now.Input, sum, err
}

// rowReader is a client's own place in the file.
type rowReader struct {
	file   *rowFile
	src    *os.File
	reader *delimited.Reader
	// next is the row that comes next, fields how many each has.
	next   int64
	fields int
	err    error
}

func (f *rowFile) rows(fields int) (rowSource, error) {
	src, err := f.open()
	if err != nil {
		return nil, err
	}
	// The first row is somewhere behind the header: the index knows.
	return &rowReader{file: f, src: src, reader: delimited.NewReader(src, f.format), fields: fields}, nil
}

// appendRow implements rowSource.
func (r *rowReader) appendRow(dst []byte, n int64) []byte {
	if r.err != nil {
		return dst
	}
	fields, err := r.read(n)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file has become shorter")
		}
		r.err = refusedFile(fmt.Sprintf("row %d of %s", n, r.file.name), err)
		return dst
	}
	return r.file.quoting.appendRow(dst, fields)
}

func (r *rowReader) read(n int64) ([][]byte, error) {
	if err := r.goTo(n); err != nil {
		return nil, err
	}
	fields, err := r.reader.Next()
	if err != nil {
		return nil, err
	}
	r.next++
	if len(fields) != r.fields {
		return nil, fmt.Errorf("the file has changed, the row had %d fields and has %d", r.fields, len(fields))
	}
	return fields, nil
}

// goTo makes row n the next one. What lies a little behind the place is read over, anything else looked up.
func (r *rowReader) goTo(n int64) error {
	entry := (n - 1) / indexStride
	if first := entry*indexStride + 1; r.next == 0 || n < r.next || first > r.next {
		at := r.file.index[entry]
		if _, err := r.src.Seek(at, io.SeekStart); err != nil {
			return err
		}
		r.reader.Reset(r.src, at)
		r.next = first
	}
	for ; r.next < n; r.next++ {
		if err := r.reader.Skip(); err != nil {
			return err
		}
	}
	return nil
}

func (r *rowReader) failed() error { return r.err }

// close implements rowSource. The file was only read: an error changes nothing.
func (r *rowReader) close() { _ = r.src.Close() }
