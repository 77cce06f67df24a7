// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command statistics simulates comparisons whose true ratios are known, and prints how often their verdicts and intervals are
// right. With -write it also writes the tables as CSV, as `make bench-statistics` does.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	comparisons := flag.Int("comparisons", 20_000, "comparisons of one point to simulate for each figure; of more points, fewer")
	only := flag.String("part", "", "only the tables of one part, by its name")
	output := flag.String("write", "", "a folder for the tables as CSV and, without -part, the page about them")
	folder := flag.String("record", "", "a folder of comparisons that hack/bench-minutes.sh has measured, to be added to the "+
		"recordings, and nothing else")
	flag.Parse()
	if *folder != "" {
		if err := record(*folder, "test/statistics/measured/comparisons.csv"); err != nil {
			fmt.Fprintln(os.Stderr, "statistics:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*comparisons, *only, *output); err != nil {
		fmt.Fprintln(os.Stderr, "statistics:", err)
		os.Exit(1)
	}
}

func run(comparisons int, only, folder string) error {
	trials, err := recorded()
	if err != nil {
		return err
	}
	pairs, err := measured()
	if err != nil {
		return err
	}
	w := &writer{out: os.Stdout, comparisons: comparisons}
	for _, part := range w.parts(trials, pairs) {
		if only != "" && part.name != only {
			continue
		}
		if part.write(); w.err != nil {
			return w.err
		}
	}
	if folder == "" {
		return nil
	}
	if err := w.write(folder); err != nil || only != "" {
		return err
	}
	return os.WriteFile(filepath.Join(folder, pageName), []byte(w.page()), 0o644) //nolint:gosec // a document
}

// part of the tables.
type part struct {
	name  string
	write func()
}

func (w *writer) parts(trials []Noise, pairs []*Measured) []part {
	return []part{
		{"same", func() {
			w.noDifference(slices.Concat(simulated(), trials, hard()))
			w.oneSided()
			w.interleaving()
		}},
		{"found", w.found},
		{"coverage", w.coverage},
		{"together", w.together},
		{"matrix", w.matrix},
		{"rare", w.rare},
		{"order", w.order},
		{"bias", w.bias},
		{"medians", w.medians},
		{"separate", func() { w.separate(trials) }},
		{"real", func() {
			w.real(pairs)
			w.agreement(pairs)
		}},
	}
}
