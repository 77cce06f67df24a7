// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package userdata is what a workload takes from the user in place of what it would make itself: rows in files, tables in SQL.
package userdata

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"slices"
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
	tee := &digester{ctx: ctx, src: file, sum: sha256.New()}
	rows, err := in.show(delimited.NewReader(tee, in.Format), show)
	switch refused, ok := errors.AsType[workload.Refused](err); {
	case ctx.Err() != nil:
		return Scanned{}, ctx.Err()
	case ok:
		return Scanned{}, workload.Refused{Reason: fmt.Sprintf("dataFrom: %s, %s", in.Name, refused.Reason)}
	case err != nil:
		return Scanned{}, RefusedFile(in.Name, err)
	}
	return Scanned{
		Input:   result.Input{Name: in.Name, Bytes: tee.bytes, Rows: rows, SHA256: hex.EncodeToString(tee.sum.Sum(nil))},
		Unended: tee.bytes > 0 && tee.last != '\n',
	}, nil
}

// show shows each row and returns their number.
func (in *File) show(r *delimited.Reader, show func(*delimited.Reader, [][]byte) error) (rows int64, err error) {
	for skipped := int64(0); ; {
		fields, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return rows, err
		case skipped < in.Header:
			skipped++
			continue
		}
		rows++
		if err := show(r, fields); err != nil {
			return rows, err
		}
	}
}

// WrongFields is the error of a row with another number of fields than there are columns for.
func WrongFields(line int64, fields, columns int) error {
	return workload.Refused{Reason: fmt.Sprintf("line %d: %d fields for %d columns", line, fields, columns)}
}

// digester takes the digest of what is read, and is over when its context is.
type digester struct {
	ctx   context.Context //nolint:containedctx // of the one call that it is made for
	src   io.Reader
	sum   hash.Hash
	bytes int64
	last  byte
}

func (d *digester) Read(p []byte) (int, error) {
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
	format := delimited.Format{Separator: '\t', CSV: d.Format == result.DataCSV}
	if format.CSV {
		format.Separator = ','
	}
	if !slices.Contains([]string{"", result.DataTSV, result.DataCSV}, d.Format) {
		return format, fmt.Errorf("dataFrom.format is %q but must be %s or %s", d.Format, result.DataTSV, result.DataCSV)
	}
	switch {
	case d.Separator == "":
	case len(d.Separator) > 1 || strings.ContainsAny(d.Separator, "\\\r\n\"'") || d.Separator[0] >= 0x80:
		return format, fmt.Errorf("dataFrom.separator is %q but must be one ASCII character other than a backslash, quotation mark "+
			"or line break", d.Separator)
	default:
		format.Separator = d.Separator[0]
	}
	if d.HeaderLines < 0 {
		return format, fmt.Errorf("dataFrom.headerLines is %d but must be at least 0", d.HeaderLines)
	}
	return format, nil
}
