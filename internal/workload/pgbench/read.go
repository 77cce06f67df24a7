// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package pgbench

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Read implements Tool. There is one Pod.
func (t *tool) Read(executions []*workload.Execution) (*workload.Reading, error) {
	e := executions[0]
	r, err := parse(e.Output)
	if err != nil {
		return nil, err
	}
	histogram, err := t.latencies()
	if err != nil {
		return nil, err
	}
	reading := &workload.Reading{
		Totals: result.Totals{
			Transactions: r.transactions, Statements: r.transactions * scripts[t.params.Script].statements, Errors: r.failed + r.retries,
			Micros: int64(math.Round(r.seconds * 1e6)), StoppedBy: result.StoppedBySeconds,
		},
		Uncounted: r.transactions * scripts[t.params.Script].control,
		Series:    r.series, Version: r.version, Clients: int(t.params.Clients),
		Checks: []result.Check{{
			Name: "report", Passed: histogram.TotalCount() == r.transactions,
			Detail: fmt.Sprintf("%d transactions, %d in the log", r.transactions, histogram.TotalCount()),
		}},
	}
	if e.Slices != nil {
		if err := t.inSlices(reading, e.Slices); err != nil {
			return nil, err
		}
	} else {
		reading.Latencies, err = latencies(histogram)
		reading.Findings = workload.MissedRate(int64(t.params.RatePerSecond), r.transactions, 0, r.seconds)
	}
	seconds := float64(reading.Totals.Micros) / 1e6
	reading.Metrics = append(reading.Metrics, result.Metric{
		Name: "transactionsPerSecond", Value: float64(reading.Totals.Transactions) / seconds, Unit: "transactions/s", Better: "higher",
	}, reading.Totals.ErrorRate())
	return reading, err
}

// inSlices is what counts of a reading in slices: as large a part as the server counted of all statements. What the program
// says of times has the pauses in it.
func (t *tool) inSlices(r *workload.Reading, s *workload.Slices) error {
	if s.Counted == 0 {
		return errors.New("no slice was measured from its steady state to its end: set more seconds")
	}
	whole, share := r.Totals, float64(s.Counted)/float64(s.Statements)
	part := func(n int64) int64 { return int64(math.Round(float64(n) * share)) }
	r.Totals.Transactions, r.Totals.Statements = part(whole.Transactions), part(whole.Statements)
	r.Totals.Errors, r.Totals.Micros = part(whole.Errors), s.Windows.Microseconds()
	r.Series, r.LongestDrain = nil, s.LongestDrain
	r.Outside = result.Totals{
		Transactions: whole.Transactions - r.Totals.Transactions, Statements: whole.Statements - r.Totals.Statements,
		Errors: whole.Errors - r.Totals.Errors, Micros: (s.Active - s.Windows).Microseconds(),
	}
	if sent := whole.Statements - r.Uncounted; sent > 0 {
		r.Checks = append(r.Checks, s.Agree(sent, t.params.Clients))
	}
	return nil
}

// latencies reads the program's lines, and removes them: client, number, microseconds, script, and when it ended. What was
// given up has a word in place of the time.
func (t *tool) latencies() (*hdrhistogram.Histogram, error) {
	names, err := filepath.Glob(t.logs + ".*")
	if err != nil {
		return nil, fmt.Errorf("looking for pgbench's log: %w", err)
	}
	h := workload.NewHistogram()
	for _, name := range names {
		if err := addLines(h, name); err != nil {
			return nil, fmt.Errorf("reading pgbench's log: %w", err)
		}
		if err := os.Remove(name); err != nil {
			return nil, fmt.Errorf("removing pgbench's log: %w", err)
		}
	}
	return h, nil
}

func addLines(h *hdrhistogram.Histogram, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 {
			return fmt.Errorf("line %d has %d fields, which are to be 6 at least", n, len(fields))
		}
		micros, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			continue
		}
		if err := h.RecordValue(workload.WithinHistogram(micros)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func latencies(h *hdrhistogram.Histogram) ([]result.Latency, error) {
	if h.TotalCount() == 0 {
		return nil, nil
	}
	l, err := workload.LatencyOf("transaction", h)
	return []result.Latency{l}, err
}
