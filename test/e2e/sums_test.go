//go:build e2e || faults || samples

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/custom"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
)

// contradictions are what does not fit together in the document of an accepted attempt: what was asked and what was done,
// the totals and what they are sums of. There are none if the numbers add up.
func contradictions(d *result.Document) []string {
	var all []string
	same := func(what string, got, want int64) {
		if got != want {
			all = append(all, fmt.Sprintf("%s: %d, it should be %d", what, got, want))
		}
	}
	t := d.Totals
	for _, c := range d.Checks {
		if !c.Passed {
			all = append(all, fmt.Sprintf("check %s: %s", c.Name, c.Detail))
		}
	}
	rows, transactions, known, err := requestedRows(&d.Config)
	if err != nil {
		all = append(all, fmt.Sprintf("the configuration: %v", err))
	}
	if known && t.StoppedBy == result.StoppedByRows {
		work := d.Work()
		same("rows", work.Rows, rows)
		same("transactions", work.Transactions, transactions)
	}
	if len(d.Series) > 0 || d.Config.Workload.Type != custom.Definition.Type { // a program need not say how it got there
		sum := addUp(d)
		same("rows of the intervals", sum.Rows, t.Rows)
		same("transactions of the intervals", sum.Transactions, t.Transactions)
		same("bytes of the intervals", sum.Bytes, t.Bytes)
		same("rows deleted in the intervals", sum.RowsDeleted, t.RowsDeleted)
		same("queries of the intervals", sum.Queries, t.Queries)
	}
	if len(d.Tables) > 0 {
		var sum result.TableLoad
		for _, load := range d.Tables {
			sum.Rows, sum.Bytes, sum.Statements = sum.Rows+load.Rows, sum.Bytes+load.Bytes, sum.Statements+load.Statements
		}
		same("rows of the tables", sum.Rows, t.Rows)
		same("bytes of the tables", sum.Bytes, t.Bytes)
		same("statements of the tables", sum.Statements, t.Statements)
	}
	if len(d.Pods) > 0 {
		var sum result.PodFacts
		for _, p := range d.Pods {
			sum.Rows, sum.Transactions = sum.Rows+p.Rows, sum.Transactions+p.Transactions
		}
		same("rows of the Pods", sum.Rows, t.Rows)
		same("transactions of the Pods", sum.Transactions, t.Transactions)
	}
	for _, l := range d.Latencies {
		if d.Turns != nil && d.Turns.Outside != (result.Totals{}) {
			break // these are of what began in what counts of a slice, and the totals of what ended there
		}
		switch l.Operation {
		case "commit", "load":
			same("latencies of "+l.Operation, l.Count, t.Transactions)
		case "transaction":
			if t.RowsDeleted == 0 { // those that delete are not due at any time
				same("latencies of "+l.Operation, l.Count, t.Transactions)
			}
		}
	}
	return append(all, rates(d)...)
}

// addUp is the sum of all intervals.
func addUp(d *result.Document) result.Totals {
	var sum result.Totals
	for _, i := range d.Series {
		sum.Rows += i.Rows
		sum.Transactions += i.Transactions
		sum.Bytes += i.Bytes
		sum.RowsDeleted += i.RowsDeleted
		sum.Queries += i.Queries
	}
	return sum
}

// requestedRows is what a whole trial consists of; not known where the seed or the server decides.
func requestedRows(cfg *result.Config) (rows, transactions int64, known bool, err error) {
	parts := func(n, size int64) int64 { return (n + size - 1) / size }
	switch cfg.Workload.Type {
	case commitsize.Definition.Type:
		p, err := workload.Decode[commitsize.Parameters](cfg)
		switch {
		case err != nil:
			return 0, 0, false, err
		case p.AsPublished == string(v1alpha1.AsPublishedIsotopp):
			return p.Rows, 1 + parts(p.Rows-1, p.RowsPerCommit), true, nil
		}
		return p.Rows, parts(p.Rows, p.RowsPerCommit), true, nil
	case bulkinsert.Definition.Type:
		p, err := workload.Decode[bulkinsert.Parameters](cfg)
		if err != nil {
			return 0, 0, false, err
		}
		return p.Rows, parts(p.Rows, p.RowsPerStatement*p.StatementsPerTransaction), true, nil
	case iibench.Definition.Type:
		p, err := workload.Decode[iibench.Parameters](cfg)
		if err != nil {
			return 0, 0, false, err
		}
		if len(p.Stages) > 0 {
			rows, transactions, known = requestedInStage(p, cfg.Parameters[result.StageParameter])
			return rows, transactions, known, nil
		}
		return p.Rows, parts(p.Rows, p.RowsPerCommit), true, nil
	}
	return 0, 0, false, nil
}

// requestedInStage is what a stage of IIBench consists of; not known where the time decides.
func requestedInStage(p *iibench.Parameters, name string) (rows, transactions int64, known bool) {
	for i := range p.Stages {
		s := &p.Stages[i]
		switch {
		case s.Name != name:
		case s.Insert == nil:
			return 0, 0, s.Query == nil
		case s.Insert.DeletePerInsert:
			return s.Insert.Rows, 2 * ((s.Insert.Rows + s.Insert.RowsPerCommit - 1) / s.Insert.RowsPerCommit), true
		default:
			return s.Insert.Rows, (s.Insert.Rows + s.Insert.RowsPerCommit - 1) / s.Insert.RowsPerCommit, true
		}
	}
	return 0, 0, false
}

// rates compares rates with the totals that they are of.
func rates(d *result.Document) []string {
	var all []string
	seconds := float64(d.Totals.Micros) / 1e6
	totals := map[string]int64{
		"rowsPerSecond": d.Totals.Rows, "commitsPerSecond": d.Totals.Transactions, "transactionsPerSecond": d.Totals.Transactions,
	}
	for _, m := range d.Metrics {
		n, known := totals[m.Name]
		if want := float64(n) / seconds; known && math.Abs(m.Value-want) > want/1e6 {
			all = append(all, fmt.Sprintf("%s: %g, but %d in %g s", m.Name, m.Value, n, seconds))
		}
	}
	return all
}
