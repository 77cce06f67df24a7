// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package frozen holds the product to recordings of what it made before. A test gives what it has now under the name of a case;
// `make freeze` records it in test/frozen/recorded, and `make frozen` compares.
//
// What differs is a defect, unless one of two tables says otherwise. renamed.csv has what only changed its name: case, old, new;
// every recording of that case is read with the new name. changed.csv has what was meant to change: case, field, old, new,
// reason. In case and field, and in old and new, * stands for any text.
package frozen

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var freeze = flag.Bool("freeze", false, "record anew what is frozen in test/frozen")

// usedEnv names a folder in which tests leave the rows of tables that they needed: a row that no test needs says nothing.
const usedEnv = "BENCHRUN_FROZEN_USED"

// folder of the recordings and tables.
func folder() string {
	return filepath.Join(must.Repository(), "test", "frozen")
}

// Check compares what there is with the recording of a case, field by field in .json and .yaml, otherwise line by line; with
// -freeze it records it. A name that ends in .gz is kept compressed.
func Check(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join(folder(), "recorded", name)
	if *freeze {
		must.Do(t, write(path, got))
		return
	}
	recorded, err := read(path)
	if err != nil {
		t.Fatalf("%v: it is recorded by make freeze", err)
	}
	tables := must.Get(readTables(folder()))(t)
	left, err := tables.unexplained(name, recorded, got)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, d := range left {
		t.Errorf("not as it was recorded: %s", d)
	}
	must.Do(t, tables.leaveUsed(os.Getenv(usedEnv)))
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	if strings.HasSuffix(path, ".gz") {
		if before, err := read(path); err == nil && bytes.Equal(before, data) {
			return nil // whatever the compressor of another release of Go makes of it
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(data) // Close has its error
		if err := z.Close(); err != nil {
			return fmt.Errorf("recording: %w", err)
		}
		data = packed.Bytes()
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}

func read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return io.ReadAll(z)
}

// Difference is a field of a case that is not as it was recorded. A field that only one of both has is empty in the other.
type Difference struct{ Case, Field, Old, New string }

// String is the row of changed.csv that would explain it.
func (d Difference) String() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{d.Case, d.Field, d.Old, d.New, "REASON"})
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

func differences(name string, old, now map[string][]string) []Difference {
	fields := map[string]bool{}
	for field := range old {
		fields[field] = true
	}
	for field := range now {
		fields[field] = true
	}
	var list []Difference
	for field := range fields {
		list = append(list, linesBetween(name, field, old[field], now[field])...)
	}
	slices.SortFunc(list, func(a, b Difference) int { return strings.Compare(a.Field+a.Old+a.New, b.Field+b.Old+b.New) })
	return list
}

// linesBetween are the lines that only one of two texts has, and that their order is another one if nothing else is.
func linesBetween(name, field string, old, now []string) []Difference {
	if slices.Equal(old, now) {
		return nil
	}
	if len(old) == 1 && len(now) == 1 {
		return []Difference{{name, field, old[0], now[0]}}
	}
	count := map[string]int{}
	for _, line := range now {
		count[line]++
	}
	var list []Difference
	for _, line := range old {
		if count[line]--; count[line] < 0 {
			list = append(list, Difference{Case: name, Field: field, Old: line})
		}
	}
	for _, line := range now {
		if count[line] > 0 {
			count[line]--
			list = append(list, Difference{Case: name, Field: field, New: line})
		}
	}
	if list == nil {
		list = []Difference{{name, field, "order of lines", "another order"}}
	}
	return list
}
