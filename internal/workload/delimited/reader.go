// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

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
	offset     int64
	// line on which the last record begins, lines that it has.
	line, lines int64
	record      []byte
	fields      [][]byte
	// plain is the text of those fields of the record that are written otherwise.
	plain []byte
}

// NewReader reads records of src.
func NewReader(src io.Reader, format Format) *Reader {
	r := &Reader{format: format, buf: make([]byte, bufferBytes)}
	r.Reset(src, 0)
	return r
}

// Reset lets the reader go on in another source, or in the same one at another place. Lines are counted from 1 again.
func (r *Reader) Reset(src io.Reader, offset int64) {
	r.src, r.base, r.start, r.end, r.ended = src, offset, 0, 0, false
	r.line, r.lines = 1, 0
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

// take makes the next n bytes the record, and passes over so many behind it.
func (r *Reader) take(n, terminator int) {
	r.record, r.offset = r.buf[r.start:r.start+n], r.base+int64(r.start)
	r.start += n + terminator
	r.lines = int64(bytes.Count(r.record, lineFeed)) + 1
}

// fill reads more of the source behind what is not taken yet.
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
