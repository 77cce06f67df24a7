// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/client"
	innodb "github.com/benchrun-dev/benchrun/internal/engine/innodb/client"
	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	attempts "github.com/benchrun-dev/benchrun/internal/trial" // trial is the harness of the integration tests
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// diary notes what happens, in order. It is a window, and a tool that says what it was asked.
type diary struct {
	workload.Tool
	start    time.Time
	warmsUp  bool
	broken   error
	happened []string
}

func (d *diary) note(what string) { d.happened = append(d.happened, what) }

func (d *diary) together(ctx context.Context, do func(context.Context) error) error {
	d.note("together")
	return do(ctx)
}

func (d *diary) begin(context.Context) (time.Time, error) {
	d.note("begin")
	return d.start, nil
}

func (d *diary) end(context.Context) error {
	d.note("end")
	return nil
}

func (d *diary) Commands(phase workload.ToolPhase) []workload.Command {
	if phase == workload.PhaseWarmup && !d.warmsUp {
		return nil
	}
	return []workload.Command{{Args: []string{"echo", string(phase)}}}
}

func (d *diary) Judge(_ workload.ToolPhase, e *workload.Execution) ([]result.Check, error) {
	d.note("judge " + strings.TrimSpace(e.Output))
	return nil, d.broken
}

func (*diary) Progress(string) string { return "" }

func (d *diary) Read(executions []*workload.Execution) (*workload.Reading, error) {
	text := "read"
	for _, e := range executions {
		text += " " + strings.TrimSpace(e.Output)
	}
	d.note(text)
	return &workload.Reading{Clients: 3, Totals: result.Totals{Transactions: int64(len(executions))}}, nil
}

func newDiaryLoad(t *testing.T, d *diary) *toolLoad {
	t.Helper()
	out := progress.Start(io.Discard)
	t.Cleanup(out.Finish)
	return &toolLoad{
		attempt: &attempt{cfg: &result.Config{}, progress: out, identity: result.Identity{Loader: "test"}},
		tool:    d, output: map[string]string{},
	}
}

// The server's counters are read around the measured command and nothing else, and Pods warm up together if there is something
// to do.
func TestToolLoadInItsWindow(t *testing.T) {
	for _, tc := range []struct {
		warmsUp bool
		want    []string
	}{
		{false, []string{"begin", "judge measure", "end", "read measure"}},
		{true, []string{"together", "judge warmup", "begin", "judge measure", "end", "read measure"}},
	} {
		d := &diary{warmsUp: tc.warmsUp, start: time.Now().Add(-time.Second)}
		l := newDiaryLoad(t, d)
		x := l.extras(d)
		must.Do(t, l.through(t.Context(), append(x.warmUp, measuring(l, d))))
		must.Same(t, "happened", tc.want, d.happened)
		if began := l.executed[len(l.executed)-1].Execution.Began; began < time.Second {
			t.Errorf("the command began %s after the moment that Pods have in common", began)
		}
	}
}

// What other Pods measured is judged and read as if it had been executed here; their warm-up is judged only.
func TestToolLoadMerge(t *testing.T) {
	d := &diary{}
	l := newDiaryLoad(t, d)
	must.Do(t, l.measure(t.Context(), d))
	own, err := l.part()
	if err != nil || own.Facts.Clients != 3 || own.Loader != "test" || len(own.Executed) != 1 {
		t.Fatalf("%+v, %v", own, err)
	}
	d.happened = nil
	execution := func(phase workload.ToolPhase, output string) record.Execution {
		return record.Execution{Phase: phase, Execution: &workload.Execution{Output: output}}
	}
	other := &record.Part{Facts: result.PodFacts{Pod: 1}, Executed: []record.Execution{
		execution(workload.PhaseWarmup, "warm"), execution(workload.PhaseMeasure, "other"),
	}}
	must.Do(t, l.merge([]*record.Part{other}))
	must.Same(t, "happened", []string{"judge warm", "judge other", "read measure other"}, d.happened)
	if l.output["measure of Pod 1"] != "other" || l.reading.Totals.Transactions != 2 {
		t.Errorf("output %v, reading %+v", l.output, l.reading)
	}
}

// A tool that lost its connection was disturbed; any other error is the tool's own. The window stays open either way: there is
// nothing to count.
func TestToolLoadFails(t *testing.T) {
	for cause, want := range map[error]result.Cause{
		errors.New("exit code 1"):  result.CauseToolFailed,
		workload.ErrConnectionLost: result.CauseConnectionLost,
	} {
		d := &diary{broken: cause}
		err := newDiaryLoad(t, d).measure(t.Context(), d)
		if f, ok := errors.AsType[*failure.Failure](err); !ok || f.Reason != want {
			t.Errorf("%v became %v", cause, err)
		}
		must.Same(t, "happened", []string{"begin", "judge measure"}, d.happened)
	}
}

// What the API server admits, the loader must not refuse: not even what no test has the time to measure.
func TestSamplesAreWhatTheLoaderTakes(t *testing.T) {
	files := must.Get(filepath.Glob("../../config/samples/publications/*.yaml"))(t)
	must.Same(t, "publications", 10, len(files))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := must.Get(os.ReadFile(file))(t)
			for document := range strings.SplitSeq(string(text), "\n---\n") {
				for _, run := range runsIn(t, document) {
					taken(t, run)
				}
			}
		})
	}
}

// The longest time that the API server admits is one for the loader.
func TestLongestLimit(t *testing.T) {
	run := testutil.MakeRun("r", "ns").Obj()
	const longest, longer = 15552000, 15552001
	for seconds, admitted := range map[int32]bool{longest: true, longer: false} {
		run.Spec.Workload.Limits.Seconds = &seconds
		text := must.Get(json.Marshal(run))(t)
		of, errs := testutil.MakeRunSchema(t).Stored(t, text)
		if (len(errs) == 0) != admitted {
			t.Fatalf("%d seconds: %v", seconds, errs)
		}
		if admitted {
			taken(t, of)
		}
	}
}

// taken demands that the loader takes the configuration of each point of a run.
func taken(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	for _, of := range p.Trials {
		config := must.Get(attempts.Config(run, attempts.Attempt{Trial: of, Point: p.Points[of.Point], Number: 1, Instance: 1}))(t)
		text := must.Get(json.Marshal(config))(t)
		if _, _, err := prepareConfig(string(text), ""); err != nil {
			t.Errorf("%s: %v", run.Name, err)
		}
	}
}

// runsIn a document: a run, or what each of its variants asks for in the first round.
func runsIn(t *testing.T, document string) []*v1alpha1.BenchmarkRun {
	t.Helper()
	var run v1alpha1.BenchmarkRun
	must.Do(t, yaml.UnmarshalStrict([]byte(document), &run))
	var runs []*v1alpha1.BenchmarkRun
	for i := range plan.Sides(&run) {
		runs = append(runs, stored(t, plan.Side(&run, i, 1)))
	}
	return runs
}

// stored is a run as it comes back from the API server.
func stored(t *testing.T, run *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	t.Helper()
	run.Namespace = "ns"
	text := must.Get(json.Marshal(run))(t)
	run, errs := testutil.MakeRunSchema(t).Stored(t, text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return run
}

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

// What is written between the end of a turn and the beginning of the next one is counted, and nothing else. What counts of each slice
// is kept, but of none in which nothing does.
func TestPauses(t *testing.T) {
	counter := []int64{100, 130, 200, 205}
	clock := record.NewClock(time.Time{})
	clock.Slice(0, 0)
	p := &pauses{clock: clock, counter: func() (n int64, _ error) {
		n, counter = counter[0], counter[1:]
		return n, nil
	}}
	so := []result.Slice{{Micros: 400, Statements: 9, Rows: 18}, {Micros: 400, Statements: 9, Rows: 18}, {Micros: 900, Statements: 10, Rows: 20}}
	p.counted = func() (s result.Slice) {
		s, so = so[0], so[1:]
		return s
	}
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
	p.endSlice()
	a := &attempt{}
	if a.paused(p); a.pagesInPauses == nil || *a.pagesInPauses != 35 || a.idle == nil || a.idle.CPUMicros != 30*30-20*20+50*50-40*40 {
		t.Errorf("%v pages, want 35; idle %+v", a.pagesInPauses, a.idle)
	}
	must.Same(t, "slices", []result.Slice{{Micros: 400, Statements: 9, Rows: 18}, {Micros: 500, Statements: 1, Rows: 2}}, a.slices)
}

// quotas are those of a clock's slices.
type quotas struct{ of []time.Duration }

func (q *quotas) Quota(period time.Duration)          { q.of = append(q.of, period) }
func (*quotas) Go(length time.Duration) time.Duration { return length }
func (*quotas) Stop()                                 {}

// A server may have a quota before its first turn, and has one where that held it back in its last one.
func TestPausesOfAQuota(t *testing.T) {
	type facts = result.ProcessFacts
	for name, tc := range map[string]struct {
		seen []*facts
		want []time.Duration
	}{
		"no limit":   {[]*facts{{}, {}}, []time.Duration{0, 0}},
		"unknown":    {[]*facts{nil, {CPULimitMillis: -1, ThrottledMicros: -1}}, []time.Duration{0, 0}},
		"not needed": {[]*facts{{CPULimitMillis: 900, ThrottledMicros: 7}, {CPULimitMillis: 900, ThrottledMicros: 7}}, []time.Duration{quotaPeriod, 0}},
		"needed":     {[]*facts{{CPULimitMillis: 900}, {CPULimitMillis: 900, ThrottledMicros: 1}, {CPULimitMillis: 900, ThrottledMicros: 1}}, []time.Duration{quotaPeriod, quotaPeriod, 0}},
	} {
		clock := &quotas{}
		p := &pauses{clock: clock, counter: func() (int64, error) { return 0, nil }}
		for _, facts := range tc.seen {
			p.process = func() (*result.ProcessFacts, error) { return facts, nil }
			p.Go(0)
		}
		must.Same(t, name, tc.want, clock.of)
	}
}

// A counter that cannot be read once is not asked again, and nothing is said of it.
func TestPausesUnknown(t *testing.T) {
	asked, a := 0, &attempt{}
	clock := record.NewClock(time.Time{})
	clock.Slice(0, 0)
	p := &pauses{clock: clock, counted: func() (s result.Slice) { return s }, counter: func() (int64, error) {
		asked++
		return 7, errors.New("gone")
	}}
	p.Go(time.Millisecond)
	p.Stop()
	p.Go(time.Millisecond)
	if a.paused(p); a.pagesInPauses != nil || asked != 1 {
		t.Errorf("%v pages after %d questions", a.pagesInPauses, asked)
	}
	if a.paused(nil); a.pagesInPauses != nil {
		t.Errorf("%d pages without pauses", *a.pagesInPauses)
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
		found := caughtUp(engine.MariaDB, doc)
		must.Same(t, fmt.Sprintf("%s: %v", name, found), tc.says, len(found))
	}
	if found := caughtUp(engine.MariaDB, new(result.Document)); found != nil {
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
	sink := innodb.NewSink()
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
	connections := must.Get(innodb.NewBy(listen(t)))(t)
	s, err := connections.Session(t.Context(), "bench", nil)
	must.Do(t, err)
	c := &clients{sessions: []client.Session{s}, interrupt: connections.End}
	defer c.close()
	out := progress.Start(io.Discard)
	defer out.Finish()
	var measured *record.Recorder
	_, err = timed(t.Context(), 1, atOnce, func(start time.Time) error {
		measured, _, err = c.run(t.Context(), inserting{load: load}, start, 0, out)
		return err
	})
	must.Do(t, err)
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
