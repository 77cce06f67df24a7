// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

const (
	// pageName is the page about the tables, in the folder that -write names, and tablesName the folder in it with the tables.
	pageName   = "statistics-tables.md"
	tablesName = "statistics"
)

// tables are the files, in the order of the page, with what they have.
var tables = [][2]string{
	{"same", "equal variants that are said to differ, by noise"},
	{"one-sided", "noise of one variant alone"},
	{"order-of-rounds", "equal variants, interleaved or one after the other"},
	{"found", "differences found at all points, and rounds"},
	{"coverage", "intervals that contain the true ratios"},
	{"points-same", "equal variants at several points"},
	{"points-found", "the same difference at several points"},
	{"matrix", "33 scripts of equal variants: any cell differs"},
	{"rare", "stalls that `Equal` overlooks (trials of 6 s, CV 1%)"},
	{"order", "a slower first place; Benchrun does not estimate the order"},
	{"bias", "the difference stated, in the mean"},
	{"medians", "intervals of a run's median"},
	{"runs-same", "equal runs, `--between-runs 0`; other methods for comparison"},
	{"runs-found", "different runs, `--between-runs 0`"},
	{"runs-between", "equal runs that differ from run to run, CV 2%"},
	{"real", "real servers (`hack/bench-minutes.sh`), today's method"},
	{"slices-runs", "these servers in slices and in whole runs"},
}

// page says what each table has, and how they are made.
func (w *writer) page() string {
	var text strings.Builder
	text.WriteString("# How often verdicts are right: the tables\n\n" +
		"[Statistics](../statistics.md) explains the method. These tables simulate comparisons whose true ratios are known. Unless\n" +
		"a table says otherwise, a comparison has 6 to 20 rounds and stops when it is decided.\n\n" +
		"| table | contents |\n| --- | --- |\n")
	for _, t := range tables {
		fmt.Fprintf(&text, "| [%s](%s/%s.csv) | %s |\n", t[0], tablesName, t[0], t[1])
	}
	few := w.times(30)
	fmt.Fprintf(&text, "\n`make bench-statistics FLAGS=\"-comparisons %d\"` writes them: that many comparisons for each figure of "+
		"one or two points,\n"+
		"%d for 8 points, %d for 10 and %d for 30. Chance moves a share of 5%% by ±%.1f points (standard error) at %d comparisons\n"+
		"and by ±%.1f at %d: an error that should be 5%% at most is too large above %.1f%% and %.1f%%.\n", w.comparisons, w.times(8),
		w.times(10), few, chance(w.comparisons), w.comparisons, chance(few), few, 5+3*chance(w.comparisons), 5+3*chance(few))
	return text.String()
}

// chance is the standard error of a share of 5%, in points.
func chance(comparisons int) float64 { return 100 * math.Sqrt(0.05*0.95/float64(comparisons)) }

// write the tables that were made to a folder.
func (w *writer) write(folder string) error {
	for name, rows := range w.files {
		if err := writeTable(filepath.Join(folder, tablesName, name+".csv"), rows); err != nil {
			return fmt.Errorf("writing table %s: %w", name, err)
		}
	}
	return nil
}

func writeTable(path string, rows [][]string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := csv.NewWriter(file).WriteAll(rows); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
