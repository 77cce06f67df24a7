// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/delimited"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/userdata"
)

// files are the tables' files of the user's: one for each table, or its pieces, as HammerDB writes them.
type files struct {
	root, folder string
	pieces       [tableCount][]piece
	rows         [tableCount]int64
	// monthNames tables have dates like 1996-JAN-02, which the server must be told to read.
	monthNames [tableCount]bool
}

type piece struct {
	userdata.File
	number int
	userdata.Scanned
}

// format is how HammerDB writes its files, and how LOAD DATA is told to read them.
var format = delimited.Format{Separator: '|'}

// fileName is a table's name in lower case, and the number of a piece, from 1 on.
var fileName = regexp.MustCompile(`^([a-z]+)(?:_([1-9][0-9]{0,8}))?\.tbl$`)

func (f *files) find() error {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return workload.Refused{Reason: "opening the volume of dataFrom: " + err.Error()}
	}
	defer root.Close() //nolint:errcheck // it was only read
	entries, err := fs.ReadDir(root.FS(), path.Clean(f.folder))
	if err != nil {
		return userdata.RefusedFile(f.folder, err)
	}
	f.pieces = [tableCount][]piece{}
	for _, entry := range entries {
		match := fileName.FindStringSubmatch(entry.Name())
		if match == nil {
			continue
		}
		i := slices.IndexFunc(tproch.Tables(), func(t tproch.Table) bool { return strings.ToLower(t.String()) == match[1] })
		if i < 0 {
			continue
		}
		number, _ := strconv.Atoi(match[2]) // none is 0
		f.pieces[i] = append(f.pieces[i], piece{
			File:   userdata.File{Root: f.root, Name: path.Join(f.folder, entry.Name()), Format: format},
			number: number,
		})
	}
	return f.complete()
}

func (f *files) complete() error {
	var wrong []string
	for i, t := range tproch.Tables() {
		name := strings.ToLower(t.String())
		pieces := f.pieces[i]
		slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.number, b.number) })
		switch {
		case len(pieces) == 0:
			wrong = append(wrong, fmt.Sprintf("%s has neither %s.tbl nor %s_1.tbl, …", t, name, name))
		case len(pieces) > 1 && pieces[0].number == 0:
			wrong = append(wrong, fmt.Sprintf("%s has %s.tbl and %s_%d.tbl: use one file or pieces, not both",
				t, name, name, pieces[1].number))
		}
	}
	if len(wrong) > 0 {
		return workload.Refused{Reason: fmt.Sprintf("dataFrom: the folder %s: %s", f.folder, strings.Join(wrong, "; "))}
	}
	return nil
}

// run is the phase in which all files are read once: their digests, their rows, and whether each row has its table's fields.
func (f *files) run(ctx context.Context) error {
	if err := f.find(); err != nil {
		return err
	}
	for _, t := range tproch.Tables() {
		f.rows[t], f.monthNames[t] = 0, false
		first := true
		columns := t.Columns()
		date := slices.Index(t.Types(), "DATE")
		for i := range f.pieces[t] {
			p := &f.pieces[t][i]
			var err error
			file := p.File
			file.Columns = len(columns)
			p.Scanned, err = file.Scan(ctx, func(r *delimited.Reader, fields [][]byte) error {
				for i, field := range fields {
					if !utf8.Valid(field) {
						return &delimited.Error{Line: r.Line(), Reason: fmt.Sprintf(
							"field %d (column %s) is not UTF-8: convert the file, for example with iconv -f ISO-8859-1 -t UTF-8", i+1, columns[i])}
					}
				}
				if first && date >= 0 {
					// Rows that have it otherwise than the first one give a warning when they are loaded.
					f.monthNames[t] = !userdata.LooksLike(fields[date], "0000-00-00")
				}
				first = false
				return nil
			})
			if err != nil {
				return err
			}
			f.rows[t] += p.Rows
		}
	}
	return nil
}

func (f *files) open(t tproch.Table) (io.ReadCloser, error) {
	all := &joined{}
	var parts []io.Reader
	for i := range f.pieces[t] {
		p := &f.pieces[t][i]
		file, err := p.Open()
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all.files = append(all.files, file)
		if err := skipMark(file); err != nil {
			return nil, errors.Join(userdata.RefusedFile(p.Name, err), all.Close())
		}
		parts = append(parts, file)
		if p.Unended {
			// The next piece would begin on the same line.
			parts = append(parts, strings.NewReader("\n"))
		}
	}
	all.Reader = io.MultiReader(parts...)
	return all, nil
}

// skipMark goes to the beginning of the text, behind a byte order mark.
func skipMark(file *os.File) error {
	begin := make([]byte, len(delimited.Mark))
	_, err := file.ReadAt(begin, 0)
	if string(begin) == delimited.Mark {
		_, err = file.Seek(int64(len(begin)), io.SeekStart)
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

type joined struct {
	io.Reader
	files []*os.File
}

func (j *joined) Close() (err error) {
	for _, file := range j.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

func (f *files) clause(t tproch.Table) string {
	if !f.monthNames[t] {
		return loadClause(t, "utf8mb4", t.Columns())
	}
	var columns, sets []string
	for i, name := range t.Columns() {
		if t.Types()[i] != "DATE" {
			columns = append(columns, name)
			continue
		}
		columns = append(columns, "@"+name)
		sets = append(sets, fmt.Sprintf("%s = STR_TO_DATE(@%s, '%%Y-%%b-%%d')", name, name))
	}
	return loadClause(t, "utf8mb4", columns) + " SET " + strings.Join(sets, ", ")
}

var warningRow = regexp.MustCompile(` at row ([0-9]+)`)

// located is a warning of the server's about a row of a statement, of whose table so many lines were sent before, with the row's
// place in the files. A file has a row on each line, unless a backslash makes a line feed a part of a value.
func (f *files) located(t tproch.Table, warning string, before int64) string {
	match := warningRow.FindStringSubmatch(warning)
	if match == nil {
		return warning
	}
	n, _ := strconv.ParseInt(match[1], 10, 64) // the server's own number
	n += before
	for _, p := range f.pieces[t] {
		if n <= p.Rows {
			return fmt.Sprintf("%s, row %d: %s", p.Name, n, strings.Replace(warning, match[0], "", 1))
		}
		n -= p.Rows
	}
	return warning
}

// inputs are all files, as they were before the load.
func (f *files) inputs() []result.Input {
	var all []result.Input
	for _, p := range slices.Concat(f.pieces[:]...) {
		all = append(all, p.Input)
	}
	return all
}

func (f *files) check(ctx context.Context) (result.Check, error) {
	var now []result.Input
	for _, p := range slices.Concat(f.pieces[:]...) {
		again, err := p.Scan(ctx, func(*delimited.Reader, [][]byte) error { return nil })
		if err != nil {
			return result.Check{}, err
		}
		now = append(now, again.Input)
	}
	return userdata.Unchanged(f.inputs(), now), nil
}

const lineBuffer = 64 << 10

// lines reads whole lines of text, counts them, and stops after so many of them until more are wanted.
type lines struct {
	src *bufio.Reader
	// left is how many lines are still wanted.
	left   int64
	passed func(lines, bytes int64)
	err    error
}

func newLines(src io.Reader, passed func(lines, bytes int64)) *lines {
	return &lines{src: bufio.NewReaderSize(src, lineBuffer), passed: passed}
}

func (l *lines) more() bool {
	_, err := l.src.Peek(1)
	l.note(err)
	return err == nil
}

// Read implements io.Reader. Its end is that of the wanted lines.
func (l *lines) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	ahead, err := l.src.Peek(min(len(p), lineBuffer))
	if len(ahead) == 0 {
		l.note(err)
		return 0, err
	}
	n, found := cut(ahead, l.left)
	copy(p, ahead[:n])
	if _, err := l.src.Discard(n); err != nil {
		return 0, err
	}
	l.left -= found
	l.passed(found, int64(n))
	return n, nil
}

func (l *lines) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
}

// cut is how many bytes of text hold at most so many line feeds, and how many they hold.
func cut(text []byte, atMost int64) (n int, found int64) {
	if found = int64(bytes.Count(text, []byte{'\n'})); found <= atMost && (found < atMost || text[len(text)-1] == '\n') {
		return len(text), found
	}
	for range atMost {
		n += bytes.IndexByte(text[n:], '\n') + 1
	}
	return n, atMost
}

type stage struct {
	data *tproch.Data
	dir  string
	// sums are the files' hexadecimal SHA-256.
	sums [tableCount]string
}

func (s *stage) path(t tproch.Table) string {
	return filepath.Join(s.dir, strings.ToLower(t.String())+".tbl")
}

func (s *stage) open(t tproch.Table) (io.ReadCloser, error) {
	file, err := os.Open(s.path(t))
	if err != nil {
		return nil, workload.Refused{Reason: "opening the staged file: " + err.Error()}
	}
	return file, nil
}

func (s *stage) run(ctx context.Context) error {
	for _, t := range tproch.Tables() {
		if err := s.write(ctx, t); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return workload.Refused{Reason: fmt.Sprintf("staging %s on the scratch volume: %v", t, err)}
		}
	}
	return nil
}

func (s *stage) write(ctx context.Context, t tproch.Table) (err error) {
	file, err := os.Create(s.path(t))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	rows := userdata.NewDigester(ctx, s.data.Reader(t, 0, s.data.Units(t)))
	if _, err := io.Copy(file, rows); err != nil {
		return err
	}
	s.sums[t] = rows.SHA256()
	// What is still to be written would be written while the load is measured.
	return file.Sync()
}
