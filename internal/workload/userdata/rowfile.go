// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package userdata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/delimited"
)

// IndexStride is how many rows of a file lie between two whose place is remembered: a billion rows take 8 MB.
const IndexStride = 1024

// RowFile is a file of the user's whose rows are inserted. Row n is at hand for every client, so that they share the rows out
// among themselves as they do those that are made.
type RowFile struct {
	File
	Quoting Quoting
	// Comparison of the table with the file; nil without a server.
	Comparison *Comparison
	// Before is what the file was when it was surveyed, index where in it the rows 1, 1+IndexStride, … begin.
	Before result.Input
	index  []place
}

type place struct{ offset, line int64 }

// Extent is what rows take as SQL.
type Extent struct {
	// Rows that are going to be sent, which may be fewer than there are.
	Rows int64
	// Row is the longest one with its comma, Statement the longest statement's rows.
	Row, Statement int64
}

// Survey reads the whole file, of which so many rows at most are going to be sent: nothing may be wrong with it when the clock
// runs.
func (f *RowFile) Survey(ctx context.Context, columns int, atMost, perStatement int64) (Extent, error) {
	var s Extent
	var statement int64
	var sql []byte
	f.index, f.Columns = nil, columns
	all, err := f.Scan(ctx, func(r *delimited.Reader, fields [][]byte) error {
		if f.Comparison != nil {
			if err := f.Comparison.check(r.Line(), fields); err != nil {
				return err
			}
		}
		if s.Rows == atMost {
			return nil
		}
		if s.Rows%IndexStride == 0 {
			f.index = append(f.index, place{r.Offset(), r.Line()})
		}
		if s.Rows%perStatement == 0 {
			statement = 0
		}
		s.Rows++
		if f.Comparison != nil {
			f.Comparison.look(fields)
		}
		sql = f.Quoting.appendRow(sql[:0], fields)
		bytes := int64(len(sql)) + 1
		statement += bytes
		s.Row, s.Statement = max(s.Row, bytes), max(s.Statement, statement)
		return nil
	})
	if err == nil && s.Rows == 0 {
		err = workload.Refused{Reason: fmt.Sprintf("dataFrom: %s has no rows", f.Name)}
	}
	f.Before = all.Input
	return s, err
}

// Checksum reads the whole file again: what it is now, and the checksum of its first rows.
func (f *RowFile) Checksum(ctx context.Context, rows int64) (result.Input, checksum.Checksum, error) {
	var sum checksum.Checksum
	var buf []byte
	file := f.File
	file.Columns = 0 // a row that has another number of them by now is a difference, and no mistake
	now, err := file.Scan(ctx, func(_ *delimited.Reader, fields [][]byte) error {
		if sum.Rows < rows && len(fields) == len(f.Comparison.columns) {
			buf = f.Comparison.appendText(buf[:0], fields)
			sum.Add(buf)
		}
		return nil
	})
	return now.Input, sum, err
}

// RowReader is a client's own place in the file.
type RowReader struct {
	file   *RowFile
	src    *os.File
	reader *delimited.Reader
	next   int64
	fields int
	err    error
}

// Rows opens the file for a client.
func (f *RowFile) Rows(fields int) (*RowReader, error) {
	src, err := f.Open()
	if err != nil {
		return nil, err
	}
	// The first row is somewhere behind the header: the index knows.
	return &RowReader{file: f, src: src, reader: delimited.NewReader(src, f.Format), fields: fields}, nil
}

// AppendRow appends row n in parentheses; nothing after an error.
func (r *RowReader) AppendRow(dst []byte, n int64) []byte {
	if r.err != nil {
		return dst
	}
	fields, err := r.read(n)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file has become shorter")
		}
		r.err = RefusedFile(fmt.Sprintf("row %d of %s", n, r.file.Name), err)
		return dst
	}
	return r.file.Quoting.appendRow(dst, fields)
}

func (r *RowReader) read(n int64) ([][]byte, error) {
	if err := r.goTo(n); err != nil {
		return nil, err
	}
	fields, err := r.reader.Next()
	if err != nil {
		return nil, err
	}
	r.next++
	if len(fields) != r.fields {
		return nil, fmt.Errorf("the file has changed: the row had %d fields and now has %d", r.fields, len(fields))
	}
	return fields, nil
}

// goTo makes row n the next one. What lies a little behind the place is read over, anything else looked up.
func (r *RowReader) goTo(n int64) error {
	entry := (n - 1) / IndexStride
	if first := entry*IndexStride + 1; r.next == 0 || n < r.next || first > r.next {
		at := r.file.index[entry]
		if _, err := r.src.Seek(at.offset, io.SeekStart); err != nil {
			return err
		}
		r.reader.Reset(r.src, at.offset, at.line)
		r.next = first
	}
	for ; r.next < n; r.next++ {
		if err := r.reader.Skip(); err != nil {
			return err
		}
	}
	return nil
}

// Failed is the error that reading ended with, if it did.
func (r *RowReader) Failed() error { return r.err }

// Close the file. The file was only read: an error changes nothing.
func (r *RowReader) Close() { _ = r.src.Close() }
