// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

const (
	// offeredSeconds is how long a rate is offered, and how long the server's limit is looked for.
	offeredSeconds = 20
	// heldPercent is by how much the achieved rate may differ from the offered one.
	heldPercent = 0.5
)

// shares of the server's limit that are offered, in percent.
var shares = []int64{20, 50, 80}

// rates is a load that is offered at several rates. With a rate of 0 it finds the server's limit.
type rates struct {
	name string
	load func(rows int64, rate workload.Rate) result.Workload
}

func offeredLoads() []rates {
	bulk := func(name string, perStatement int64, connections int) rates {
		return rates{name, func(rows int64, rate workload.Rate) result.Workload {
			return workloadtest.Load(bulkinsert.Definition, bulkinsert.Parameters{
				Table: "Narrow", Tables: 1, Rows: rows, RowsPerStatement: perStatement, StatementsPerTransaction: 1,
				Clients: connections, StorageEngine: "InnoDB", Pacing: workload.Pacing{RatePerSecond: rate},
			})
		}}
	}
	return []rates{
		{"offered rate, CommitSize, 1 row per commit", func(rows int64, rate workload.Rate) result.Workload {
			return workloadtest.Load(commitsize.Definition, commitsize.Parameters{
				Rows: rows, RowsPerCommit: 1, Pacing: workload.Pacing{RatePerSecond: rate},
			})
		}},
		bulk("offered rate, BulkInsert, 100 rows per statement, 8 connections", 100, 8),
		bulk("offered rate, BulkInsert, 10 rows per statement, 128 connections", 10, 128),
	}
}

// offeredHead of the table of offered rates.
const offeredHead = "\n| workload | of the server's limit | offered, rows/s | achieved, rows/s | deviation | wanted |" +
	" median latency, µs | 99th percentile, µs | client CPU, µs/row |\n|---|---|---|---|---|---|---|---|---|\n"

// offer prints the table of offered rates. A rate that was not held is an error, after all have been measured.
func offer(ctx context.Context, b *bench, names *regexp.Regexp, out io.Writer) error {
	if _, err := io.WriteString(out, offeredHead); err != nil {
		return err
	}
	var missed []error
	for _, r := range offeredLoads() {
		if !names.MatchString(r.name) {
			continue
		}
		limit, err := b.limit(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: looking for the server's limit: %w", r.name, err)
		}
		for _, share := range shares {
			rate := workload.Rate(limit * float64(share) / 100)
			doc, err := b.attempt(ctx, r.load(offeredSeconds*int64(rate), rate))
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			h := heldOf(doc, rate)
			if _, err := fmt.Fprintln(out, h.row(r.name, share)); err != nil {
				return err
			}
			missed = append(missed, h.missed(r.name))
		}
	}
	return errors.Join(missed...)
}

// limit is the rate that the server reaches when each connection goes on as soon as it has an answer: the median of three.
func (b *bench) limit(ctx context.Context, r rates) (float64, error) {
	var all []float64
	for range 3 {
		doc, err := b.attemptIn(ctx, schema, r.load(1_000_000_000, 0), offeredSeconds/3)
		if err != nil {
			return 0, err
		}
		all = append(all, achieved(doc))
	}
	fmt.Fprintf(os.Stderr, "%s: the server's limit is %.0f rows/s\n", r.name, all)
	return stats.Summarize(all).Median, nil
}

func achieved(doc *result.Document) float64 {
	return 1e6 * float64(doc.Totals.Rows) / float64(doc.Totals.Micros)
}

// held is how a rate was held.
type held struct {
	offered, achieved, cpuPerRow float64
	p50, p99                     int64
}

func heldOf(doc *result.Document, rate workload.Rate) held {
	h := held{
		offered: float64(rate), achieved: achieved(doc),
		cpuPerRow: float64(doc.Client.UserMicros+doc.Client.SystemMicros) / float64(doc.Totals.Rows),
	}
	for _, l := range doc.Latencies {
		if l.Operation == "transaction" {
			h.p50, h.p99 = l.P50Micros, l.P99Micros
		}
	}
	return h
}

// deviation of the achieved rate from the offered one, in percent.
func (h held) deviation() float64 { return 100 * (h.achieved/h.offered - 1) }

func (h held) row(name string, share int64) string {
	return fmt.Sprintf("| %s | %d%% | %.0f | %.1f | %+.3f%% | ± %.1f%% | %d | %d | %s |", name, share, h.offered, h.achieved,
		h.deviation(), heldPercent, h.p50, h.p99, stats.Format(h.cpuPerRow))
}

// missed is an error if the rate was not held.
func (h held) missed(name string) error {
	if math.Abs(h.deviation()) <= heldPercent {
		return nil
	}
	return fmt.Errorf("%s: %.0f rows/s were offered and %.1f achieved, which is %+.3f%%; at most %.1f%% are allowed",
		name, h.offered, h.achieved, h.deviation(), heldPercent)
}
