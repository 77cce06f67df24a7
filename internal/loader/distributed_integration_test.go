// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
)

// podOutcome is what one of several Pods left.
type podOutcome struct {
	summary *result.Summary
	out     string
	err     error
}

// pods makes the attempt with those Pods out of so many.
func (tr *trial) pods(ctx context.Context, t *testing.T, of int, indexes ...int) []podOutcome {
	t.Helper()
	tr.cfg.Pods = of
	config := tr.encoded(t)
	outcomes := make([]podOutcome, len(indexes))
	var running sync.WaitGroup
	for i, index := range indexes {
		id := tr.id
		id.PodUID, id.PodName = fmt.Sprintf("pod-%d-%d", index, i), fmt.Sprintf("pod-%d", index)
		log := filepath.Join(t.TempDir(), "termination-log")
		running.Go(func() {
			var out lockedBuffer
			outcomes[i].err = Run(ctx, Input{
				Config: config, Identity: id, PodIndex: strconv.Itoa(index), Output: &out, TerminationLog: log,
			})
			outcomes[i].out = out.String()
			message, err := os.ReadFile(log)
			if err != nil {
				t.Error(err)
				return
			}
			if outcomes[i].summary, err = result.DecodeSummary(string(message)); err != nil {
				t.Errorf("reading %q: %v", message, err)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return outcomes
}

// mustLoad is pods with all Pods and a result.
func (tr *trial) mustLoad(t *testing.T, pods int) *result.Document {
	t.Helper()
	var indexes []int
	for i := range pods {
		indexes = append(indexes, i)
	}
	outcomes := tr.pods(t.Context(), t, pods, indexes...)
	for i, o := range outcomes {
		if o.err != nil {
			t.Fatalf("Pod %d: %v", i, o.err)
		}
		if o.summary.Identity.Pod != i || o.summary.Delivered != (i > 0) || strings.Contains(o.out, "benchrun-document") != (i == 0) {
			t.Errorf("Pod %d left %+v", i, o.summary)
		}
	}
	encoded := must.Get(result.ReadDocument(strings.NewReader(outcomes[0].out), outcomes[0].summary.DocumentSHA256))(t)
	doc := must.Get(result.DecodeDocument(encoded.Gzip))(t)
	return doc
}

// addUp checks what the Pods did against the totals.
func addUp(t *testing.T, doc *result.Document, pods int) {
	t.Helper()
	var rows, transactions, micros, clients int64
	for i, p := range doc.Pods {
		if p.Pod != i || p.PodName != fmt.Sprintf("pod-%d", i) || p.Client.UserMicros+p.Client.SystemMicros <= 0 {
			t.Errorf("Pod %d is %+v", i, p)
		}
		rows, transactions, clients = rows+p.Rows, transactions+p.Transactions, clients+int64(p.Clients)
		micros = max(micros, p.Micros)
	}
	got := doc.Totals
	if len(doc.Pods) != pods || rows != got.Rows || transactions != got.Transactions || micros != got.Micros || clients < int64(pods) {
		t.Errorf("%d Pods with %d rows, %d transactions, %d clients, %d µs; totals %+v", len(doc.Pods), rows, transactions, clients, micros, got)
	}
	for _, l := range doc.Latencies {
		if l.Operation == "commit" && l.Count != got.Transactions {
			t.Errorf("%d latencies of %d commits", l.Count, got.Transactions)
		}
	}
	sums(t, doc)
}

func TestIntegrationPodsLoadTheSameRows(t *testing.T) {
	for name, newTrial := range map[string]func(connections int) *trial{
		"file list": func(n int) *trial { return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Clients = n }) },
		"narrow": func(n int) *trial {
			return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Table, p.Tables, p.Clients = "Narrow", 5, n })
		},
		"few transactions": func(n int) *trial {
			return newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.Clients = 700, n })
		},
		"iibench": func(n int) *trial {
			return newIIBench(t, func(p *iibench.Parameters) { p.Clients, p.QueryClients, p.ReportEveryRows = n, 1, 5000 })
		},
		"indexes at the end": func(n int) *trial {
			return newIIBench(t, func(p *iibench.Parameters) { p.Clients, p.IndexesAt = n, "End" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, one := newTrial(1).mustRun(t)
			four := newTrial(6).mustLoad(t, 4)
			if checksum(four) != checksum(one) || checksum(one) == "" {
				t.Errorf("four Pods load %s, one %s", checksum(four), checksum(one))
			}
			if four.Totals.Rows != one.Totals.Rows || four.Totals.StoppedBy != result.StoppedByRows {
				t.Errorf("totals %+v, those of one %+v", four.Totals, one.Totals)
			}
			addUp(t, four, 4)
			milestonesAscend(t, four)
		})
	}
}

func milestonesAscend(t *testing.T, doc *result.Document) {
	t.Helper()
	last := result.Milestone{}
	for _, m := range doc.Milestones {
		if m.Rows <= last.Rows || m.Micros < last.Micros || m.Rows > doc.Totals.Rows {
			t.Errorf("milestone %+v after %+v", m, last)
		}
		last = m
	}
	if len(doc.Milestones) > 0 && (last.Rows != doc.Totals.Rows || last.TableBytes <= 0) {
		t.Errorf("the last milestone is %+v", last)
	}
}

// Pods that a limit stops have each sent another number of rows, and the table has gaps: exactly the right ones.
func TestIntegrationPodsStoppedByTheLimit(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.Clients, p.RowsPerStatement = 1_000_000_000, 3, 50 })
	tr.cfg.LimitSeconds = 1
	doc := tr.mustLoad(t, 3)
	if doc.Totals.StoppedBy != result.StoppedBySeconds || doc.Totals.Micros < 900_000 {
		t.Errorf("totals %+v", doc.Totals)
	}
	addUp(t, doc, 3)
}

func TestIntegrationPodsThatDoNotCome(t *testing.T) {
	fresh := func() *trial {
		tr := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Clients = 3 })
		tr.cfg.ConnectSeconds = 1
		return tr
	}
	reasons := func(outcomes []podOutcome) (text string) {
		for _, o := range outcomes {
			if o.summary.Failure == nil {
				t.Fatalf("there is a result: %+v", o.summary)
			}
			text += fmt.Sprintf("%s: %s\n", o.summary.Failure.Reason, o.summary.Failure.Message)
		}
		return text
	}
	for name, tc := range map[string]struct {
		pods []int
		want string
	}{
		"one is missing": {[]int{0, 1}, "BarrierTimeout: 2 of the 3 loader Pods arrived within 1s; missing: Pod 2\n" +
			"Interrupted: Pod 0, which leads, has ended\n"},
		"who leads is missing": {[]int{2}, "BarrierTimeout: Pod 0 of the 3 loader Pods, which prepares the tables, did not arrive within 1s\n"},
		"no such Pod":          {[]int{3}, "Configuration: checking the loader's configuration: workload BulkInsert: this is Pod 3, but the loader Pods (3) are numbered from 0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reasons(fresh().pods(t.Context(), t, 3, tc.pods...)); got != tc.want {
				t.Errorf("got\n%s, want\n%s", got, tc.want)
			}
		})
	}
	// Of two Pods that both say that they are the second, one ends; the third never comes.
	if got := reasons(fresh().pods(t.Context(), t, 3, 0, 1, 1)); strings.Count(got, "StartedTwice: trial 1, attempt 1 was started before") != 1 {
		t.Errorf("got %s", got)
	}
}

// A Pod that fails while it measures is not waited for by itself: the others go on, and who leads waits until it is told to
// stop, as the Job's controller does.
func TestIntegrationPodsInterrupted(t *testing.T) {
	tr := newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Rows, p.Clients = 1_000_000_000, 2 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		db := other(t)
		if err := eventually(func() bool {
			var n int
			return db.QueryRow("SELECT COUNT(*) FROM (SELECT 1 FROM bench.inserts LIMIT 600) AS r").Scan(&n) == nil && n == 600
		}); err != nil {
			t.Error(err)
		}
		cancel()
	}()
	for i, o := range tr.pods(ctx, t, 2, 0, 1) {
		if o.summary.Failure == nil || o.summary.Failure.Reason != result.CauseInterrupted {
			t.Errorf("Pod %d left %+v", i, o.summary)
		}
	}
}
