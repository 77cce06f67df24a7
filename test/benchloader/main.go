// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command benchloader compares the loader with the programs that it stands in for. Both load the same server in turns, so
// that whatever else the machine does meets both, and each pair gives a ratio: the median of the ratios and its 95%
// confidence interval are what is judged. See hack/bench-loader.sh, which brings up the server and the programs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// sample is one measured load.
type sample struct {
	rows, seconds, cpuMicros float64
	// userMicros is the part of cpuMicros outside of the kernel; 0 if it is not known.
	userMicros float64
	// rss is the largest resident memory in bytes; 0 if it is not known.
	rss float64
}

func (s sample) rate() float64 { return s.rows / s.seconds }

func (s sample) cpuPerRow() float64 { return s.cpuMicros / s.rows }

func (s sample) userPerRow() float64 { return s.userMicros / s.rows }

func (s sample) kernelPerRow() float64 { return (s.cpuMicros - s.userMicros) / s.rows }

// program loads once.
type program func(context.Context, *bench) (sample, error)

// comparison is a row of the table.
type comparison struct {
	name, original string
	ours, theirs   program
	// Wanted are the smallest ratio of rates and the largest of client CPU per row, for people; empty is none.
	wantedRate, wantedCPU string
	// wantedUser is the largest ratio of the CPU time outside of the kernel; empty if that is of no interest.
	wantedUser string
}

func main() {
	// The end of the process gives the signal back.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	b := &bench{getenv: os.Getenv}
	rounds := flag.Int("rounds", 10, "how often each pair is measured; there is no 95% interval below 6")
	only := flag.String("run", "", "a regular expression for the names of the comparisons; empty is all")
	flag.StringVar(&b.loader, "loader", "bin/linux-amd64/loader", "the loader")
	flag.StringVar(&b.before, "before", "", "an earlier loader, to compare with in place of other programs")
	flag.StringVar(&b.container, "originals", "benchrun-originals", "the container with the other programs")
	flag.StringVar(&b.dir, "dir", "", "a folder that is /bench in the container")
	flag.Parse()
	if err := run(ctx, b, *rounds, *only, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchloader:", err)
		os.Exit(1)
	}
}

const head = "| workload | against | rows/s | against | ratio (95% interval) | wanted |" +
	" client CPU, µs/row | against | ratio | wanted | largest RSS |\n|---|---|---|---|---|---|---|---|---|---|---|\n"

func run(ctx context.Context, b *bench, rounds int, only string, out io.Writer) error {
	names, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("reading -run: %w", err)
	}
	if err := b.open(); err != nil {
		return err
	}
	if b.postgres() {
		return compare(ctx, b, ownStatements(true), names, rounds, out)
	}
	if b.before != "" {
		return compare(ctx, b, withBefore(comparisons()), names, rounds, out)
	}
	if err := compare(ctx, b, comparisons(), names, rounds, out); err != nil {
		return err
	}
	return offer(ctx, b, names, out)
}

// compare prints the table of comparisons.
func compare(ctx context.Context, b *bench, all []comparison, names *regexp.Regexp, rounds int, out io.Writer) error {
	if _, err := io.WriteString(out, head); err != nil {
		return err
	}
	var modes strings.Builder
	for _, c := range all {
		if !names.MatchString(c.name) {
			continue
		}
		p, err := measure(ctx, b, c, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if _, err := fmt.Fprintln(out, p.row(c)); err != nil {
			return err
		}
		if c.wantedUser != "" {
			modes.WriteString(p.modesRow(c) + "\n")
		}
	}
	if modes.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(out, modesHead+modes.String())
	return err
}

// modesHead is that of the table of CPU time by mode: a client that waits for each answer cannot spend less than the kernel needs
// to send a statement and to wake it.
const modesHead = "\n| workload | against | client CPU outside of the kernel, µs/row | against | ratio | wanted |" +
	" in the kernel, µs/row | against | ratio |\n|---|---|---|---|---|---|---|---|---|\n"

// modesRow of that table.
func (p pairs) modesRow(c comparison) string {
	return "| " + strings.Join([]string{
		c.name, c.original,
		center(p.ours, sample.userPerRow), center(p.theirs, sample.userPerRow), p.ratio(sample.userPerRow), c.wantedUser,
		center(p.ours, sample.kernelPerRow), center(p.theirs, sample.kernelPerRow), p.ratio(sample.kernelPerRow),
	}, " | ") + " |"
}

// pairs are what one comparison gave: equally many samples of both programs.
type pairs struct{ ours, theirs []sample }

func measure(ctx context.Context, b *bench, c comparison, rounds int) (pairs, error) {
	var p pairs
	for round := range rounds {
		for turn := range 2 {
			program, samples := c.ours, &p.ours
			if turn != round%2 { // A B, B A, …: neither always comes second
				program, samples = c.theirs, &p.theirs
			}
			if err := appendSample(ctx, b, program, samples); err != nil {
				return p, err
			}
		}
		last := len(p.ours) - 1
		fmt.Fprintf(os.Stderr, "%s, round %d: %.0f and %.0f rows/s, %.3f and %.3f µs/row\n", c.name, round+1,
			p.ours[last].rate(), p.theirs[last].rate(), p.ours[last].cpuPerRow(), p.theirs[last].cpuPerRow())
	}
	return p, nil
}

func appendSample(ctx context.Context, b *bench, program program, to *[]sample) error {
	s, err := program(ctx, b)
	if err == nil && (s.rows < 1 || s.seconds <= 0) {
		err = fmt.Errorf("%g rows in %g s are no measurement", s.rows, s.seconds)
	}
	*to = append(*to, s)
	return err
}

func (p pairs) row(c comparison) string {
	return "| " + strings.Join([]string{
		c.name, c.original,
		center(p.ours, sample.rate), center(p.theirs, sample.rate), p.ratio(sample.rate), c.wantedRate,
		center(p.ours, sample.cpuPerRow), center(p.theirs, sample.cpuPerRow), p.ratio(sample.cpuPerRow), c.wantedCPU,
		fmt.Sprintf("%.0f MiB", largest(p.ours)/(1<<20)),
	}, " | ") + " |"
}

func center(all []sample, of func(sample) float64) string {
	var values []float64
	for _, s := range all {
		values = append(values, of(s))
	}
	return stats.Format(stats.Summarize(values).Median)
}

// ratio is the median of the pairs' ratios with its interval.
func (p pairs) ratio(of func(sample) float64) string {
	var values []float64
	for i := range p.ours {
		values = append(values, of(p.ours[i])/of(p.theirs[i]))
	}
	s := stats.Summarize(values)
	return fmt.Sprintf("%.3f (%.3f–%.3f)", s.Median, s.Low, s.High)
}

func largest(all []sample) float64 {
	most := 0.0
	for _, s := range all {
		most = max(most, s.rss)
	}
	return most
}
