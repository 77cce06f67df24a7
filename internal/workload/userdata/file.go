// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package userdata is what a workload takes from the user in place of what it would make itself: rows in files, tables in SQL.
package userdata

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/delimited"
)

// File is a file of the user's with rows.
type File struct {
	// Root is the folder that nothing is opened outside of, also not by a symbolic link; Name is the path within it.
	Root, Name string
	Format     delimited.Format
	// Header is how many records at the beginning are no rows.
	Header int64
	// Columns is how many fields each row must have; 0 is any number.
	Columns int
}

// Open opens the file. What the system says is an error about what was asked for.
func (in *File) Open() (*os.File, error) {
	root, err := os.OpenRoot(in.Root)
	if err != nil {
		return nil, workload.Refused{Reason: "opening the volume of dataFrom: " + err.Error()}
	}
	defer root.Close() //nolint:errcheck // what was opened in it stays open
	file, err := root.Open(path.Clean(in.Name))
	if err != nil {
		return nil, RefusedFile(in.Name, err)
	}
	return file, nil
}

// RefusedFile says what is wrong with a file of dataFrom.
func RefusedFile(name string, err error) error {
	if broken, ok := errors.AsType[*os.PathError](err); ok {
		err = broken.Err
	}
	return workload.Refused{Reason: fmt.Sprintf("dataFrom: reading %s: %v", name, err)}
}

// Scanned is what a scan has found out about a file.
type Scanned struct {
	result.Input
	// Unended says that the last line has no line feed.
	Unended bool
}

// Scan reads the whole file, takes its digest and shows each row to show, with the reader that has just read it. The fields
// are valid until show returns.
func (in *File) Scan(ctx context.Context, show func(r *delimited.Reader, fields [][]byte) error) (Scanned, error) {
	file, err := in.Open()
	if err != nil {
		return Scanned{}, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	begin := make([]byte, longestPrefix)
	n, err := file.ReadAt(begin, 0)
	if reason := notUTF8(begin[:n]); reason != "" {
		return Scanned{}, workload.Refused{Reason: fmt.Sprintf("dataFrom: %s %s", in.Name, reason)}
	} else if err != nil && !errors.Is(err, io.EOF) {
		return Scanned{}, RefusedFile(in.Name, err)
	}
	tee := NewDigester(ctx, file)
	rows, err := in.show(delimited.NewReader(tee, in.Format), show)
	switch wrong, ok := errors.AsType[*delimited.Error](err); {
	case ctx.Err() != nil:
		return Scanned{}, ctx.Err()
	case ok:
		return Scanned{}, workload.Refused{Reason: fmt.Sprintf("dataFrom: %s, %s", in.Name, wrong)}
	case err != nil:
		return Scanned{}, RefusedFile(in.Name, err)
	}
	return Scanned{
		Input:   result.Input{Name: in.Name, Bytes: tee.bytes, Rows: rows, SHA256: tee.SHA256()},
		Unended: tee.bytes > 0 && tee.last != '\n',
	}, nil
}

func (in *File) show(r *delimited.Reader, show func(*delimited.Reader, [][]byte) error) (rows int64, err error) {
	for skipped := int64(0); ; {
		fields, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			if in.Format.CSV {
				err = in.hint(r, err, true)
			}
			return rows, err
		case skipped < in.Header:
			skipped++
			continue
		case in.Columns > 0 && len(fields) != in.Columns:
			return rows, in.hint(r, &delimited.Error{
				Line: r.Line(), Reason: fmt.Sprintf("%d fields for %d columns", len(fields), in.Columns),
			}, in.Format.CSV, !in.Format.CSV)
		}
		rows++
		if err := show(r, fields); err != nil {
			return rows, err
		}
	}
}

// hint adds to an error which other separator fits the record, in CSV or not, if one does.
func (in *File) hint(r *delimited.Reader, err error, csvOrNot ...bool) error {
	wrong, ok := errors.AsType[*delimited.Error](err)
	if !ok || in.Columns < 2 {
		return err
	}
	for _, separator := range []byte{in.Format.Separator, ';', ',', '\t', '|'} {
		if len(csvOrNot) > 1 && (separator == ',' || separator == ';') {
			csvOrNot = []bool{true, false}
		}
		for _, csv := range csvOrNot {
			if r.FieldsIn(delimited.Format{Separator: separator, CSV: csv}) != in.Columns {
				continue
			}
			question := "is the separator " + strconv.Quote(string(separator)) + "? Set dataFrom.separator"
			if csv != in.Format.CSV {
				question = map[bool]string{true: "is the format CSV", false: "is the format TSV"}[csv] +
					" with the separator " + strconv.Quote(string(separator)) + "? Set dataFrom.format and separator"
			}
			return &delimited.Error{Line: wrong.Line, Reason: fmt.Sprintf("%s; %s", wrong.Reason, question)}
		}
	}
	return err
}

// Digester takes the digest of what is read, and is over when its context is.
type Digester struct {
	ctx   context.Context //nolint:containedctx // of the one call that it is made for
	src   io.Reader
	sum   hash.Hash
	bytes int64
	last  byte
}

// NewDigester reads src.
func NewDigester(ctx context.Context, src io.Reader) *Digester {
	return &Digester{ctx: ctx, src: src, sum: sha256.New()}
}

// SHA256 of what was read, in hexadecimal.
func (d *Digester) SHA256() string { return hex.EncodeToString(d.sum.Sum(nil)) }

func (d *Digester) Read(p []byte) (int, error) {
	if err := d.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := d.src.Read(p)
	if n > 0 {
		d.sum.Write(p[:n])
		d.bytes += int64(n)
		d.last = p[n-1]
	}
	return n, err
}

// Unchanged checks that files are after the load what they were before it.
func Unchanged(before, after []result.Input) result.Check {
	var not []string
	for i, was := range before {
		if is := after[i]; is.SHA256 != was.SHA256 {
			not = append(not, fmt.Sprintf("%s had %d bytes, sha256 %s, and now has %d bytes, sha256 %s",
				was.Name, was.Bytes, was.SHA256, is.Bytes, is.SHA256))
		}
	}
	if len(not) > 0 {
		return result.Check{Name: "input", Detail: "changed while it was loaded: " + strings.Join(not, "; ")}
	}
	return result.Check{Name: "input", Passed: true, Detail: "every file is the same after the load as before it"}
}

// FormatOf is the format that the configuration names.
func FormatOf(d *result.Data) (delimited.Format, error) {
	format := delimited.Format{Separator: '\t', CSV: d.Format == result.DataCSV, EmptyIsNull: d.EmptyIs == result.EmptyIsNull}
	if format.CSV {
		format.Separator = ','
	}
	switch {
	case d.Separator == "":
	case len(d.Separator) > 1 || strings.ContainsAny(d.Separator, "\\\r\n\"'") || d.Separator[0] >= 0x80:
		return format, fmt.Errorf("dataFrom.separator is %q but must be one ASCII character other than a backslash, quotation mark "+
			"or line break", d.Separator)
	default:
		format.Separator = d.Separator[0]
	}
	return format, cmp.Or(
		workload.OneOf("dataFrom.format", d.Format, "", result.DataTSV, result.DataCSV),
		workload.OneOf("dataFrom.emptyIs", d.EmptyIs, "", result.EmptyIsNull, result.EmptyIsText),
		workload.AtLeast("dataFrom.headerLines", d.HeaderLines, 0))
}
