// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command statistics simulates comparisons whose true ratios are known, and prints how often their verdicts and intervals are
// right: what `make bench-statistics` puts into docs/reference/statistics-tables.md, and with -verdicts what `make bench-verdict`
// prints.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	comparisons := flag.Int("comparisons", 20_000, "comparisons of one point to simulate for each figure; of more points, fewer")
	verdicts := flag.Bool("verdicts", false, "print how many rounds a verdict takes, and nothing else")
	only := flag.String("part", "", "only the tables of one part, by its name in the document")
	seconds := flag.Float64("seconds-per-round", 50, "how long a round of two variants takes, for -verdicts")
	document := flag.String("write", "", "a document in which the parts between marks such as <!-- same --> and <!-- /same --> are "+
		"replaced")
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
	if err := run(*comparisons, *verdicts, *only, *seconds, *document); err != nil {
		fmt.Fprintln(os.Stderr, "statistics:", err)
		os.Exit(1)
	}
}

func run(comparisons int, verdicts bool, only string, seconds float64, document string) error {
	trials, err := recorded()
	if err != nil {
		return err
	}
	pairs, err := measured()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	w := &writer{out: io.MultiWriter(os.Stdout, &text), comparisons: comparisons}
	if verdicts {
		w.verdicts(slices.Concat([]Noise{normal(0.01), normal(0.02), normal(0.05), normal(0.10)}, trials), seconds)
		return w.err
	}
	for _, part := range w.parts(trials, pairs) {
		if only != "" && part.name != only {
			continue
		}
		text.Reset()
		if part.write(); w.err != nil {
			return w.err
		}
		if document == "" {
			continue
		}
		if err := replace(document, part.name, text.String()); err != nil {
			return err
		}
	}
	return nil
}

// part of the document: its tables.
type part struct {
	name  string
	write func()
}

func (w *writer) parts(trials []Noise, pairs []*Measured) []part {
	return []part{
		{"number", w.number},
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

// replace the tables of a part of a document.
func replace(path, part, tables string) error {
	begin, end := "<!-- "+part+" -->\n", "<!-- /"+part+" -->"
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no part between %s and %s", path, strings.TrimSpace(begin), end)
	}
	if err := os.WriteFile(path, []byte(before+begin+tables+"\n"+end+after), 0o644); err != nil { //nolint:gosec // a document
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}
