// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/loader/failure"
	"github.com/benchrun-dev/benchrun/internal/loader/progress"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
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
		if err := l.through(t.Context(), append(x.warmUp, measuring(l, d))...); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, d.happened); diff != "" {
			t.Errorf("happened (-want +got):\n%s", diff)
		}
		if began := l.executed[len(l.executed)-1].Execution.Began; began < time.Second {
			t.Errorf("the command began %s after the moment that Pods have in common", began)
		}
	}
}

// What other Pods measured is judged and read as if it had been executed here; their warm-up is judged only.
func TestToolLoadMerge(t *testing.T) {
	d := &diary{}
	l := newDiaryLoad(t, d)
	if err := l.measure(t.Context(), d); err != nil {
		t.Fatal(err)
	}
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
	if err := l.merge([]*record.Part{other}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"judge warm", "judge other", "read measure other"}, d.happened); diff != "" {
		t.Errorf("happened (-want +got):\n%s", diff)
	}
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
		if diff := cmp.Diff([]string{"begin", "judge measure"}, d.happened); diff != "" {
			t.Errorf("happened (-want +got):\n%s", diff)
		}
	}
}
