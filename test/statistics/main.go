// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command statistics simulates suites whose true ratios are known, and prints how often their verdicts and intervals are right:
// what `make bench-statistics` puts into docs/statistics.md, and with -verdicts what `make bench-verdict` prints.
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
	suites := flag.Int("suites", 20_000, "how many suites of one point are simulated for each figure; of more points, fewer")
	verdicts := flag.Bool("verdicts", false, "print how many rounds a verdict takes, and nothing else")
	seconds := flag.Float64("seconds-per-round", 50, "how long a round of two variants takes, for -verdicts")
	document := flag.String("write", "", "a document whose part between <!-- tables --> and <!-- /tables --> is replaced")
	flag.Parse()
	if err := run(*suites, *verdicts, *seconds, *document); err != nil {
		fmt.Fprintln(os.Stderr, "statistics:", err)
		os.Exit(1)
	}
}

func run(suites int, verdicts bool, seconds float64, document string) error {
	trials, err := recorded()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	w := &writer{out: io.MultiWriter(os.Stdout, &text), suites: suites}
	if verdicts {
		w.verdicts(slices.Concat([]Noise{normal(0.01), normal(0.02), normal(0.05), normal(0.10)}, trials), seconds)
		return w.err
	}
	w.noDifference(slices.Concat(simulated(), trials, []Noise{wandering()}))
	w.found()
	w.coverage()
	w.interleaving()
	if w.err != nil || document == "" {
		return w.err
	}
	return replace(document, text.String())
}

// replace the tables of a document.
func replace(path, tables string) error {
	const begin, end = "<!-- tables -->\n", "<!-- /tables -->"
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
