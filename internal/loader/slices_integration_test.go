// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"database/sql"
	"net"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/loader/turns"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
)

// inSlices lets trials take turns, each in a schema of its own.
func inSlices(t *testing.T, trials ...*trial) {
	t.Helper()
	referee := httptest.NewServer(new(turns.Referee))
	t.Cleanup(referee.Close)
	host, text, err := net.SplitHostPort(referee.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	for place, tr := range trials {
		tr.cfg.Turns = &result.Turns{
			Host: host, Port: port, PasswordFile: tr.cfg.Server.PasswordFile,
			Variants: len(trials), Place: place, Seed: 3, SliceMilliseconds: 60,
		}
		if place > 0 {
			tr.cfg.Server.Schema = "bench" + strconv.Itoa(place)
		}
	}
}

// Two trials take turns: each measures for as long as was asked for, both together take twice as long, and no row is lost. It is
// the same for whatever clients wait for: answers, each other, or the time at which a transaction is due.
func TestIntegrationSlices(t *testing.T) {
	const seconds = 2
	paced := func() *trial {
		p := commitsize.Parameters{RowsPerCommit: 5}
		p.RatePerSecond = 200
		return newTrial(t, p)
	}
	several := func() *trial {
		return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.RowsPerStatement = 5_000_000, 20 })
	}
	each := func() *trial {
		return newIIBench(t, func(p *iibench.Parameters) {
			p.Rows, p.RowsPerCommit, p.RowsPerStatement, p.InsertThreads, p.QueryThreads, p.KeepRows = 5_000_000, 50, 50, 2, 1, 1000
			p.ReportEveryRows = 1000
		})
	}
	one := func() *trial { return newTrial(t, commitsize.Parameters{RowsPerCommit: 1}) }
	for name, pair := range map[string][2]*trial{
		"one client": {one(), one()}, "several": {several(), one()}, "each other": {each(), each()}, "a rate": {paced(), one()},
	} {
		t.Run(name, func(t *testing.T) {
			inSlices(t, pair[:]...)
			docs := make([]*result.Document, len(pair))
			var running sync.WaitGroup
			for i, tr := range pair {
				tr.cfg.LimitSeconds = seconds
				running.Go(func() {
					var err error
					if _, docs[i], err = tr.run(t.Context(), t); err != nil {
						t.Error(err)
					}
				})
			}
			running.Wait()
			if t.Failed() {
				t.FailNow()
			}
			whole := int64(0)
			for i, doc := range docs {
				// A slice waits for what is under way, for seconds on a loaded machine; one piece is none.
				if doc.Turns == nil || doc.Turns.Slices < 3 || doc.Turns.PagesInPauses == nil {
					t.Fatalf("trial %d: turns %+v", i, doc.Turns)
				}
				// What each server needs to come to rest passes once: it is not what the others wait for in their turns.
				if rested, met := phaseOf(doc, "quiesce"), phaseOf(doc, "meet"); rested < 0 || rested > met || met > phaseOf(doc, "probe") {
					t.Errorf("trial %d: phases %+v", i, doc.Phases)
				}
				if m := doc.Totals.Micros; m < 0.97*seconds*1e6 || m > 1.5*seconds*1e6 {
					t.Errorf("trial %d measured for %d µs, want %d s", i, m, seconds)
				}
				whole = max(whole, doc.Turns.Micros)
				sums(t, doc)
			}
			if whole < 1.94*seconds*1e6 {
				t.Errorf("both together took %d µs, less than one after the other", whole)
			}
		})
	}
}

// phaseOf is the place of a phase among those of a document; -1 if it has none of that name.
func phaseOf(doc *result.Document, name string) int {
	return slices.IndexFunc(doc.Phases, func(p result.Phase) bool { return p.Name == name })
}

// Whoever ends early takes the other along, and says why; the other says that it was not its own fault.
func TestIntegrationSlicesLost(t *testing.T) {
	dropTable(t)
	lost, other := newTrial(t, commitsize.Parameters{RowsPerCommit: 1}), newTrial(t, commitsize.Parameters{RowsPerCommit: 1})
	inSlices(t, lost, other)
	lost.cfg.LimitSeconds, other.cfg.LimitSeconds = 60, 60
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	whileMeasuring(t, 20, func(*sql.DB) { cancel() })
	var running sync.WaitGroup
	running.Go(func() { lost.mustFail(ctx, t, result.CauseInterrupted) })
	running.Go(func() { other.mustFail(t.Context(), t, result.CauseAlternationBroken, "another variant") })
	running.Wait()
}
