// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

//go:embed measured/comparisons.csv
var measuredFile []byte

// columns of measured/comparisons.csv, which has a row for each round of each point.
var columns = []string{
	"started", "second", "alternation", "beside", "minRounds", "maxRounds", "aSide", "slice", "seconds", "point", "round",
	"baseline", "variant",
}

// Setup is what was compared, and beside what: comparisons with the same one are repetitions.
type Setup struct {
	// Second is what the second variant is, of those of hack/bench-minutes.sh.
	Second, Alternation string
	// Beside is what else the machine did; empty if nothing.
	Beside string
	// Points, the fewest and the most rounds that it could have had, for how many seconds a variant was measured at a point in a
	// round, and in slices of how many milliseconds; 0 is without.
	Points, MinRounds, MaxRounds, ASide, Slice int
}

// Measured is a comparison of real servers.
type Measured struct {
	Setup
	Started string
	// Seconds from its start to its end.
	Seconds int

	baseline, values [][]float64 // by point and round
}

// measured are all recordings, in the order of the file.
func measured() ([]*Measured, error) {
	rows, err := csv.NewReader(bytes.NewReader(measuredFile)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading the recordings: %w", err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], columns) {
		return nil, fmt.Errorf("the recordings do not have the columns %v", columns)
	}
	var list []*Measured
	for i, row := range rows[1:] {
		if len(list) == 0 || list[len(list)-1].Started != row[0] {
			list = append(list, &Measured{Setup: Setup{Second: row[1], Alternation: row[2], Beside: row[3]}, Started: row[0]})
		}
		if err := list[len(list)-1].add(row); err != nil {
			return nil, fmt.Errorf("row %d of the recordings: %w", i+2, err)
		}
	}
	return list, nil
}

// add a row of the file.
func (m *Measured) add(row []string) error {
	const texts, numbers = 4, 7 // then there are two values
	var whole [numbers]int
	for i, text := range row[texts : texts+numbers] {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%s: %w", columns[texts+i], err)
		}
		whole[i] = n
	}
	var values [2]float64
	for i, text := range row[texts+numbers:] {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || value <= 0 {
			return fmt.Errorf("%s: %q is no value above 0", columns[texts+numbers+i], text)
		}
		values[i] = value
	}
	m.MinRounds, m.MaxRounds, m.ASide, m.Slice, m.Seconds = whole[0], whole[1], whole[2], whole[3], whole[4]
	point, round := whole[5], whole[6]
	if point == m.Points+1 {
		m.Points, m.baseline, m.values = point, append(m.baseline, nil), append(m.values, nil)
	}
	if point != m.Points || round != len(m.values[point-1])+1 {
		return fmt.Errorf("point %d, round %d is not the next one", point, round)
	}
	m.baseline[point-1], m.values[point-1] = append(m.baseline[point-1], values[0]), append(m.values[point-1], values[1])
	return nil
}

// Replay is what the present method says of what was measured, after the first round that decides or after the last one. With
// several points, it is about all of them together.
func (m *Measured) Replay() stats.Comparison {
	design, rounds := m.design(), len(m.values[0])
	var c stats.Comparison
	for n := min(design.MinRounds, rounds); n <= rounds; n++ {
		if c = m.look(design, n); c.Decided {
			break
		}
	}
	return c
}

// design of the present method for as many points and rounds.
func (m *Measured) design() stats.Design {
	design := asShipped(m.Points)
	design.MinRounds, design.MaxRounds = m.MinRounds, m.MaxRounds
	return design
}

func (m *Measured) look(design stats.Design, n int) stats.Comparison {
	if m.Points == 1 {
		return design.Compare("higher", m.baseline[0][:n], m.values[0][:n])
	}
	return overall(design, m.baseline, m.values, n)
}

// Cells are how many points are said to differ by themselves, after all rounds.
func (m *Measured) Cells() int {
	design, differ := m.design(), 0
	for point := range m.values {
		if differs(design.Compare("higher", m.baseline[point], m.values[point])) {
			differ++
		}
	}
	return differ
}

func differs(c stats.Comparison) bool { return c.Verdict == stats.Faster || c.Verdict == stats.Slower }

// recordingOf a comparison is what it measured, as hack/bench-minutes.sh writes it: its results.json, and what they do not have.
type recordingOf struct {
	Second, Alternation, Beside      string
	MinRounds, ASide, Slice, Seconds int
	Results                          struct {
		Pairs []struct {
			BaselineValues, Values []float64
		}
		Comparison struct {
			Started string
			Planned int
		}
	}
}

// record appends the rounds of the recorded comparisons of a folder to the recordings.
func record(folder, recordings string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("%s has no recordings: %w", folder, err)
	}
	out, err := os.OpenFile(recordings, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("opening the recordings: %w", err)
	}
	w := csv.NewWriter(out)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading a comparison: %w", err)
		}
		var r recordingOf
		if err := json.Unmarshal(content, &r); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_ = w.WriteAll(r.rows()) // its error is kept
	}
	if err := cmp.Or(w.Error(), out.Close()); err != nil {
		return fmt.Errorf("writing the recordings: %w", err)
	}
	return nil
}

func (r *recordingOf) rows() [][]string {
	var rows [][]string
	for p, pair := range r.Results.Pairs {
		for i, value := range pair.Values {
			rows = append(rows, []string{
				r.Results.Comparison.Started, r.Second, r.Alternation, r.Beside, strconv.Itoa(r.MinRounds),
				strconv.Itoa(r.Results.Comparison.Planned), strconv.Itoa(r.ASide), strconv.Itoa(r.Slice), strconv.Itoa(r.Seconds),
				strconv.Itoa(p + 1), strconv.Itoa(i + 1), number(pair.BaselineValues[i]), number(value),
			})
		}
	}
	return rows
}

// number with more digits than any scatter.
func number(value float64) string { return strconv.FormatFloat(value, 'g', 7, 64) }

// real is the table of the comparisons that were measured.
func (w *writer) real(list []*Measured) {
	w.header("real", "Comparisons of two real servers",
		"second variant", "alternation", "ms a slice", "points", "seconds a side", "rounds allowed", "beside", "comparisons", "differ",
		"equal", "cells that differ", "ratio (geometric mean)", "rounds (median)", "seconds (median)", "interval, ± (median)")
	var setups []Setup
	of := map[Setup][]*Measured{}
	for _, m := range list {
		if of[m.Setup] == nil {
			setups = append(setups, m.Setup)
		}
		of[m.Setup] = append(of[m.Setup], m)
	}
	slices.SortStableFunc(setups, func(a, b Setup) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.Beside, b.Beside), cmp.Compare(b.Alternation, a.Alternation),
			cmp.Compare(a.Points, b.Points), cmp.Compare(b.Slice, a.Slice), cmp.Compare(b.ASide, a.ASide),
			cmp.Compare(b.MaxRounds, a.MaxRounds), cmp.Compare(a.MinRounds, b.MinRounds))
	})
	for _, s := range setups {
		w.repetitions(s, of[s])
	}
}

// repetitions is the row of comparisons with the same setup.
func (w *writer) repetitions(s Setup, list []*Measured) {
	differ, equal, cells, logs := 0, 0, 0, 0.0
	var rounds, seconds, widths []float64
	for _, m := range list {
		c := m.Replay()
		cells += m.Cells()
		switch {
		case differs(c):
			differ++
		case c.Verdict == stats.Equal:
			equal++
		}
		logs += math.Log(c.Ratio)
		rounds, seconds = append(rounds, float64(c.Rounds)), append(seconds, float64(m.Seconds))
		widths = append(widths, math.Sqrt(c.High/c.Low)-1)
	}
	n, slice := len(list), "–"
	if s.Slice > 0 {
		slice = strconv.Itoa(s.Slice)
	}
	median := func(values []float64) string { return fmt.Sprintf("%.0f", stats.Summarize(values).Median) }
	w.row(s.Second, s.Alternation, slice, strconv.Itoa(s.Points), strconv.Itoa(s.ASide),
		fmt.Sprintf("%d to %d", s.MinRounds, s.MaxRounds), cmp.Or(s.Beside, "nothing"), strconv.Itoa(n),
		strconv.Itoa(differ), strconv.Itoa(equal), fmt.Sprintf("%d of %d", cells, n*s.Points),
		fmt.Sprintf("%.3f", math.Exp(logs/float64(n))), median(rounds), median(seconds), percent(stats.Summarize(widths).Median))
}
