// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package frozen

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tables say what may differ.
type tables struct {
	renamed, changed []row
}

// row of a table. Its line is that of the file.
type row struct {
	file  string
	line  int
	cells []string
	used  bool
}

func readTables(folder string) (*tables, error) {
	renamed, err := readTable(filepath.Join(folder, "renamed.csv"), "case", "old", "new")
	if err != nil {
		return nil, err
	}
	changed, err := readTable(filepath.Join(folder, "changed.csv"), "case", "field", "old", "new", "reason")
	if err != nil {
		return nil, err
	}
	return &tables{renamed, changed}, nil
}

func readTable(path string, header ...string) ([]row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a table: %w", err)
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(file)
	records, err := r.ReadAll()
	if err != nil || len(records) == 0 || !slices.Equal(records[0], header) {
		return nil, fmt.Errorf("%s does not have the columns %s: %w", path, strings.Join(header, ", "), err)
	}
	var rows []row
	for i, cells := range records[1:] {
		if slices.Contains(cells[:1], "") || len(header) == 5 && strings.TrimSpace(cells[4]) == "" {
			return nil, fmt.Errorf("%s, row %d: a case and a reason are required", path, i+2)
		}
		rows = append(rows, row{file: filepath.Base(path), line: i + 2, cells: cells})
	}
	return rows, nil
}

// unexplained are the differences of a case that no table explains.
func (t *tables) unexplained(name string, recorded, got []byte) ([]Difference, error) {
	old, err := fieldsOf(name, []byte(t.rename(name, string(recorded))))
	if err != nil {
		return nil, err
	}
	now, err := fieldsOf(name, got)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(differences(name, old, now), t.explained), nil
}

func (t *tables) rename(name, text string) string {
	for i := range t.renamed {
		r := &t.renamed[i]
		if !matches(r.cells[0], name) {
			continue
		}
		if renamed := word(r.cells[1]).ReplaceAllLiteralString(text, r.cells[2]); renamed != text {
			text, r.used = renamed, true
		}
	}
	return text
}

func (t *tables) explained(d Difference) bool {
	for i := range t.changed {
		r := &t.changed[i]
		if matches(r.cells[0], d.Case) && matches(r.cells[1], d.Field) && matches(r.cells[2], d.Old) && matches(r.cells[3], d.New) {
			r.used = true
			return true
		}
	}
	return false
}

// matches says whether a text is of a pattern, in which * stands for any text.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(text)
}

// word finds a name where it is whole.
func word(name string) *regexp.Regexp {
	const inside = `^\w`
	pattern := regexp.QuoteMeta(name)
	if regexp.MustCompile(inside).MatchString(name) {
		pattern = `\b` + pattern
	}
	if regexp.MustCompile(`\w$`).MatchString(name) {
		pattern += `\b`
	}
	return regexp.MustCompile(pattern)
}

// leaveUsed makes an empty file in a folder for each row that was needed.
func (t *tables) leaveUsed(folder string) error {
	if folder == "" {
		return nil
	}
	for _, r := range slices.Concat(t.renamed, t.changed) {
		if !r.used {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, r.file+"."+strconv.Itoa(r.line)), nil, 0o600); err != nil {
			return fmt.Errorf("leaving what was used: %w", err)
		}
	}
	return nil
}
