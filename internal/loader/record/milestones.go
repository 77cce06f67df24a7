// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Milestones notice when all clients together have inserted another so many rows. The table's sizes are asked for aside:
// no client waits for them.
type Milestones struct {
	// every so many rows of all Pods there is one: every step rows of this Pod's.
	every, step int64
	// sizes asks for the bytes of the table and of its secondary indexes.
	sizes func() (table, indexes int64, err error)
	rows  atomic.Int64
	// reached has room: a client that found it full would wait. Two milestones of a sensible load are a second apart.
	reached chan milestone
	asking  sync.WaitGroup
	// points and err belong to the goroutine that asks, and to finish after its end.
	points []milestone
	err    error
}

type milestone struct {
	rows                   int64
	at                     time.Duration
	tableBytes, indexBytes int64
}

// StartMilestones returns nil if none are asked for. Otherwise Finish must be called. One of several Pods has about as many
// as an only one would have.
func StartMilestones(ctx context.Context, db *sql.DB, requested workload.Milestones, pods int) *Milestones {
	if requested.Every == 0 {
		return nil
	}
	m := &Milestones{every: requested.Every, reached: make(chan milestone, 1024)}
	m.step = max(requested.Every/int64(max(pods, 1)), 1)
	m.sizes = func() (table, indexes int64, err error) {
		if requested.Sizes == "" {
			return -1, -1, nil
		}
		if err = db.QueryRowContext(ctx, requested.Sizes).Scan(&table, &indexes); err != nil {
			return -1, -1, fmt.Errorf("reading the table's size: %w", err)
		}
		return table, indexes, nil
	}
	m.asking.Go(func() {
		for p := range m.reached {
			m.add(p)
		}
	})
	return m
}

func (m *Milestones) pass(at time.Duration, rows int64) {
	now := m.rows.Add(rows)
	if before := now - rows; now/m.step > before/m.step {
		m.reached <- milestone{rows: now, at: at}
	}
}

func (m *Milestones) add(p milestone) {
	p.tableBytes, p.indexBytes = -1, -1
	if m.err == nil {
		p.tableBytes, p.indexBytes, m.err = m.sizes()
	}
	m.points = append(m.points, p)
}

// Finish returns when all sizes are known, and adds the end of the measured phase if it is no milestone itself. m may be nil.
func (m *Milestones) Finish(ended time.Duration) error {
	if m == nil {
		return nil
	}
	close(m.reached)
	m.asking.Wait()
	slices.SortFunc(m.points, func(a, b milestone) int { return cmp.Compare(a.rows, b.rows) })
	// Rows are counted when a client gets to it, and answers are timed when they came: a later one may have come earlier.
	for i := range m.points[min(1, len(m.points)):] {
		m.points[i+1].at = max(m.points[i+1].at, m.points[i].at)
	}
	m.end(m.rows.Load(), ended)
	return m.err
}

// Bytes are those of the table with its indexes now, after Finish; -1 if they are not wanted.
func (m *Milestones) Bytes() (int64, error) {
	table, indexes, err := m.sizes()
	if table < 0 || indexes < 0 {
		return -1, err
	}
	return table + indexes, err
}

// end adds the end, with so many rows, if it is no milestone itself.
func (m *Milestones) end(rows int64, ended time.Duration) {
	if n := len(m.points); rows > 0 && (n == 0 || m.points[n-1].rows < rows) {
		m.add(milestone{rows: rows, at: ended})
	}
}

// Merge adds to each milestone what the other Pods had inserted by then, and the common end. Between two of its own
// milestones a Pod is taken to insert evenly. m may be nil.
func (m *Milestones) Merge(others []*Part, rows int64, ended time.Duration) error {
	if m == nil {
		return nil
	}
	for i := range m.points {
		for _, other := range others {
			m.points[i].rows += rowsBy(other.Milestones, m.points[i].at)
		}
	}
	m.end(rows, ended)
	return m.err
}

func rowsBy(points []partMilestone, at time.Duration) int64 {
	last := partMilestone{}
	for _, p := range points {
		if p.Nanos > at {
			share := float64(at-last.Nanos) / float64(p.Nanos-last.Nanos)
			return last.Rows + int64(share*float64(p.Rows-last.Rows))
		}
		last = p
	}
	return last.Rows
}

// Results are the points with their rates. m may be nil.
func (m *Milestones) Results() []result.Milestone {
	if m == nil {
		return nil
	}
	var all []result.Milestone
	last := milestone{}
	for _, p := range m.points {
		all = append(all, result.Milestone{
			Rows: p.rows, Micros: p.at.Microseconds(),
			RowsPerSecond: rate(last, p), OverallRowsPerSecond: rate(milestone{}, p),
			TableBytes: p.tableBytes, IndexBytes: p.indexBytes,
		})
		last = p
	}
	return all
}

// TerminalRate is the rate in rows per second with which the measured phase ended: since the last milestone but one if the
// end came soon after the last, so that it is measured over half to one and a half of the usual number of rows.
func (m *Milestones) TerminalRate() float64 {
	n := len(m.points)
	if n == 0 {
		return 0
	}
	end, from := m.points[n-1], milestone{}
	for _, p := range m.points[:n-1] {
		if 2*(end.rows-p.rows) >= m.every {
			from = p
		}
	}
	return rate(from, end)
}

func rate(from, to milestone) float64 {
	return float64(to.rows-from.rows) / max(to.at-from.at, time.Microsecond).Seconds()
}
