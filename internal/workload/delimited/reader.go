// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package delimited reads text that has a record on each line and a character between a record's fields, in the two dialects
// in which tables are passed on.
package delimited

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// bufferBytes are read at once.
	bufferBytes = 64 << 10
	// MaxRecord is how long a record may be: longer ones are what a wrong separator or a missing quotation mark looks like.
	MaxRecord = 16 << 20
)

// Error is about the text: it is not what its format says.
type Error struct {
	// Line, from 1, on which the record begins.
	Line   int64
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Reader reads records one after another. It does not allocate once its buffers are large enough for the longest.
type Reader struct {
	format Format
	src    io.Reader
	// What was read and not taken yet is buf[start:end]; base is the place of buf[0] in the source.
	buf        []byte
	start, end int
	base       int64
	ended      bool
	// begins says that nothing was read yet of the source, which is there from its beginning.
	begins      bool
	offset      int64
	line, lines int64
	record      []byte
	fields      [][]byte
	// plain is the text of those fields of the record that are written otherwise.
	plain []byte
}

// NewReader reads records of src.
func NewReader(src io.Reader, format Format) *Reader {
	r := &Reader{format: format, buf: make([]byte, bufferBytes)}
	r.Reset(src, 0, 1)
	return r
}

// Reset lets the reader go on in another source, or in the same one at another place, on a line.
func (r *Reader) Reset(src io.Reader, offset, line int64) {
	r.src, r.base, r.start, r.end, r.ended, r.begins = src, offset, 0, 0, false, offset == 0
	r.line, r.lines = line, 0
}

// FieldsIn is how many fields the last record would have in another format; 0 if it would be none.
func (r *Reader) FieldsIn(format Format) int {
	fields, err := NewReader(bytes.NewReader(bytes.Clone(r.record)), format).Next()
	if err != nil {
		return 0
	}
	return len(fields)
}

// Offset is the place in the source where the last record begins.
func (r *Reader) Offset() int64 { return r.offset }

// Line is the line, from 1, on which the last record begins.
func (r *Reader) Line() int64 { return r.line }

// Next reads the next record's fields; nil is NULL. They are valid until the next call. After the last record the error is
// io.EOF.
func (r *Reader) Next() ([][]byte, error) {
	if err := r.Skip(); err != nil {
		return nil, err
	}
	return r.split()
}

// Skip reads the next record and does not look at its fields.
func (r *Reader) Skip() error {
	r.line += r.lines
	r.lines = 0
	if r.begins {
		if err := r.skipMark(); err != nil {
			return err
		}
	}
	for {
		text := r.buf[r.start:r.end]
		if end := r.format.end(text); end >= 0 {
			r.take(end, 1)
			return nil
		}
		switch {
		case !r.ended:
			if err := r.fill(); err != nil {
				return err
			}
		case len(text) == 0:
			return io.EOF
		default:
			r.take(len(text), 0)
			return nil
		}
	}
}

// Mark is what many programs write at the beginning of a text in UTF-8. It is no part of the text.
const Mark = "\ufeff"

func (r *Reader) skipMark() error {
	r.begins = false
	for r.end < len(Mark) && !r.ended {
		if err := r.fill(); err != nil {
			return err
		}
	}
	if bytes.HasPrefix(r.buf[:r.end], []byte(Mark)) {
		r.start = len(Mark)
	}
	return nil
}

func (r *Reader) take(n, terminator int) {
	r.record, r.offset = r.buf[r.start:r.start+n], r.base+int64(r.start)
	r.start += n + terminator
	r.lines = int64(bytes.Count(r.record, lineFeed)) + 1
}

func (r *Reader) fill() error {
	r.end = copy(r.buf, r.buf[r.start:r.end])
	r.base += int64(r.start)
	r.start = 0
	if r.end == len(r.buf) {
		if r.end >= MaxRecord {
			return &Error{r.line, fmt.Sprintf("the record does not end within %d bytes", MaxRecord)}
		}
		longer := make([]byte, min(2*len(r.buf), MaxRecord))
		copy(longer, r.buf)
		r.buf = longer
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	if errors.Is(err, io.EOF) {
		r.ended = true
		return nil
	}
	return err
}
