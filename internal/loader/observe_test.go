// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

func TestServerCosts(t *testing.T) {
	facts := func(user, written, reads, writes int64) *result.ProcessFacts {
		return &result.ProcessFacts{Process: "7@1", UserMicros: user, WriteBytes: written, ReadCalls: reads, WriteCalls: writes}
	}
	for name, tc := range map[string]struct {
		observed *result.Observed
		rows     int64
		want     []result.Metric
	}{
		"nobody saw it": {nil, 10, nil},
		"no rows":       {&result.Observed{Before: facts(0, 0, 0, 0), After: facts(1, 1, 1, 1)}, 0, nil},
		"all of it": {&result.Observed{Before: facts(0, 4096, 0, 10), After: facts(100, 8192, 5, 25)}, 10, []result.Metric{
			{Name: "serverMicrosPerRow", Value: 10, Unit: "µs/row", Better: "lower"},
			{Name: "serverBytesWrittenPerRow", Value: 409.6, Unit: "bytes/row", Better: "lower"},
			{Name: "serverFileCallsPerRow", Value: 2, Unit: "calls/row", Better: "lower"},
		}},
		// Zero is an answer, and unknown is none.
		"a part of it": {&result.Observed{Before: facts(5, 4096, -1, 10), After: facts(5, 4096, -1, 25)}, 10, []result.Metric{
			{Name: "serverMicrosPerRow", Value: 0, Unit: "µs/row", Better: "lower"},
			{Name: "serverBytesWrittenPerRow", Value: 0, Unit: "bytes/row", Better: "lower"},
		}},
	} {
		must.Same(t, name, tc.want, serverCosts(tc.observed, tc.rows, "row", "PerRow"))
	}
}

// What is written between the end of a turn and the beginning of the next one is counted, and nothing else.
func TestPauses(t *testing.T) {
	counter := []int64{100, 130, 200, 205}
	clock := record.NewClock(time.Time{})
	clock.Slice(0, 0)
	p := &pauses{clock: clock, counter: func() (n int64, _ error) {
		n, counter = counter[0], counter[1:]
		return n, nil
	}}
	used := int64(0)
	p.process = func() (*result.ProcessFacts, error) {
		used += 10
		return &result.ProcessFacts{Process: "1", UserMicros: used * used}, nil
	}
	for range 2 {
		p.Go(time.Millisecond)
		p.Stop()
	}
	p.Go(time.Millisecond)
	a := &attempt{}
	if a.paused(p); a.pagesInPauses == nil || *a.pagesInPauses != 35 || a.idle == nil || a.idle.CPUMicros != 20*20-10*10+40*40-30*30 {
		t.Errorf("%v pages, want 35; idle %+v", a.pagesInPauses, a.idle)
	}
}

// A counter that cannot be read once is not asked again, and nothing is said of it.
func TestPausesUnknown(t *testing.T) {
	asked := 0
	clock := record.NewClock(time.Time{})
	clock.Slice(0, 0)
	p := &pauses{clock: clock, counter: func() (int64, error) {
		asked++
		return 7, errors.New("gone")
	}}
	p.Go(time.Millisecond)
	p.Stop()
	p.Go(time.Millisecond)
	if n := p.written(); n != nil || asked != 1 {
		t.Errorf("%v pages after %d questions", n, asked)
	}
	if none := (*pauses)(nil).written(); none != nil {
		t.Errorf("%d pages without pauses", *none)
	}
}

// Few pages, or few of all, are nothing to be said of.
func TestCaughtUp(t *testing.T) {
	for name, tc := range map[string]struct {
		pages  *int64
		before string
		idle   *result.Idle
		says   int
	}{
		"half of them":          {ptr.To[int64](5000), "0", nil, 1},
		"few of all":            {ptr.To[int64](5000), "-90000", nil, 0},
		"few":                   {ptr.To[int64](1000), "9000", nil, 0},
		"not known":             {nil, "0", nil, 0},
		"all are not known":     {ptr.To[int64](5000), "", nil, 0},
		"more than are counted": {ptr.To[int64](5000), "9999", nil, 1},
		"a fiftieth of two":     {nil, "0", &result.Idle{Micros: 1e6, CPUMicros: 40_000}, 0},
		"more CPU":              {nil, "0", &result.Idle{Micros: 1e6, CPUMicros: 40_001}, 1},
		"both":                  {ptr.To[int64](5000), "0", &result.Idle{Micros: 1e6, CPUMicros: 1e6}, 2},
	} {
		doc := &result.Document{
			Turns: &result.TurnFacts{PagesInPauses: tc.pages, Idle: tc.idle}, Client: result.ClientFacts{CPUs: 2},
		}
		counter := engine.MariaDB.Counters.PagesWritten
		doc.Server.StatusBefore, doc.Server.StatusAfter = map[string]string{counter: tc.before}, map[string]string{counter: "10000"}
		found := caughtUp(&engine.MariaDB, doc)
		if len(found) != tc.says {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := caughtUp(&engine.MariaDB, new(result.Document)); found != nil {
		t.Errorf("without slices: %v", found)
	}
}

// Transactions that outlast a slice are said.
func TestOutlasting(t *testing.T) {
	for micros, want := range map[int64]int{500_000: 0, 500_001: 1} {
		doc := &result.Document{
			Totals: result.Totals{Micros: 4e6}, Turns: &result.TurnFacts{Slices: 10, LongestDrainMicros: micros, Outside: result.Totals{Micros: 1e6}},
		}
		if found := outlasting(doc); len(found) != want {
			t.Errorf("%d µs after a slice of 0.5 s: %v", micros, found)
		}
	}
	if found := outlasting(new(result.Document)); found != nil {
		t.Errorf("without slices: %v", found)
	}
}

// A load that is over before its first slice has come to a steady state is measured as a whole, and nothing of it is outside.
func TestOverAtOnce(t *testing.T) {
	recorders, clock := record.NewRecorders(2, nil, time.Time{})
	clock.Slice(2, 0)
	clock.Go(time.Hour)
	recorders[0].Insert(0, clock.Now(), 5)
	clock.Finish()
	l := &clientLoad{attempt: new(attempt), plan: workload.Plan{Rows: 5}, measured: recorders[0], slices: clock.Slices()}
	if sums := l.totals(); sums.Rows != 5 || sums.Micros < 1 || sums.StoppedBy != result.StoppedByRows || l.outside() != (result.Totals{}) {
		t.Errorf("%+v and, outside, %+v", sums, l.outside())
	}
}

// inserting is a workload of inserts.
type inserting struct {
	workload.Workload
	load *insert.Load
}

func (w inserting) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	return w.load.Insert(ctx, c)
}

// listen serves each connection with a sink, over the network.
func listen(t testing.TB) *mysql.Config {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serve(t, client) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr = "tcp", listener.Addr().String()
	return cfg
}

// serve passes on what the client and a sink say to each other, until the client leaves.
func serve(t testing.TB, client net.Conn) {
	defer client.Close()
	sink := conn.NewSink()
	buf := make([]byte, 64<<10)
	for {
		for {
			n, err := sink.Read(buf)
			if errors.Is(err, io.EOF) {
				break
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if _, err := sink.Write(buf[:n]); err != nil {
			t.Error(err)
			return
		}
	}
}

// inserts are what a client over the network measures of a load.
func inserts(t testing.TB, load *insert.Load) *record.Recorder {
	t.Helper()
	connections, err := conn.NewBy(listen(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := connections.Session(t.Context(), "bench", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &clients{sessions: []*conn.Session{s}, interrupt: connections.End}
	defer c.close()
	out := progress.Start(io.Discard)
	defer out.Finish()
	var measured *record.Recorder
	_, err = timed(t.Context(), 1, atOnce, func(start time.Time) error {
		measured, _, err = c.run(t.Context(), inserting{load: load}, start, 0, out)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return measured
}

// loadOf makes statements of so many rows.
func loadOf(rows, perStatement int64, appendRow func([]byte, int64) []byte) *insert.Load {
	load := insert.New(rows, perStatement, rows, workload.Share{Pods: 1})
	load.Heads, load.RowBytes, load.AppendRow = []string{"INSERT INTO t VALUES "}, 16, appendRow
	return load
}

func appendNumber(dst []byte, n int64) []byte {
	return append(strconv.AppendInt(append(dst, '('), n, 10), ')')
}

// The latency of an insert is the server's time, which the making of the next statement is not part of.
func TestLatencyOfInsertsWithoutMakingThem(t *testing.T) {
	const statements, making = 10, 50 * time.Millisecond
	measured := inserts(t, loadOf(statements, 1, func(dst []byte, n int64) []byte {
		time.Sleep(making)
		return appendNumber(dst, n)
	}))
	latencies := must.Get(measured.Latencies())(t)
	i := slices.IndexFunc(latencies, func(l result.Latency) bool { return l.Operation == "insert" })
	if l := latencies[i]; l.Count != statements || l.P50Micros >= making.Microseconds()/2 {
		t.Errorf("%d inserts took %d µs, with %s of making each", l.Count, l.P50Micros, making)
	}
	if ended := measured.Ended(); ended < (statements-1)*making {
		t.Errorf("the inserts ended after %s", ended)
	}
}
