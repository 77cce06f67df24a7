// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// fakeCluster has these objects.
func fakeCluster(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(scheme()).WithObjects(objects...).Build()
}

// fakeLogs are logs by the name of the Pod, or an error.
type fakeLogs struct {
	texts map[string]string
	err   error
}

func (l fakeLogs) open(_ context.Context, _, pod string, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
	if l.err != nil {
		return nil, l.err
	}
	text, found := l.texts[pod]
	if !found {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, pod)
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

// buffer may be written to and read at once.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// measuring is a run with 7 of 33 trials.
func measuring() *v1alpha1.BenchmarkRun {
	run := testutil.MakeRun("sizes", "ns").Obj()
	run.Status = v1alpha1.BenchmarkRunStatus{
		StartTime: ptr.To(metav1.NewTime(began)), Elapsed: "1m10s", Progress: "7/33",
		Trials: v1alpha1.TrialCounts{Planned: ptr.To[int32](33), Measured: ptr.To[int32](7)},
	}
	setReady(&run.Status.Conditions, v1alpha1.ReasonMeasuring, "trial 8 of 33 (rowsPerCommit=16)")
	return run
}

func setReady(conditions *[]metav1.Condition, reason, message string, isTrue ...string) {
	for _, of := range append([]string{v1alpha1.ConditionReady}, isTrue...) {
		value := metav1.ConditionTrue
		if of == v1alpha1.ConditionReady {
			value = metav1.ConditionFalse
		}
		apimeta.SetStatusCondition(conditions, metav1.Condition{Type: of, Status: value, Reason: reason, Message: message})
	}
}

func loaderPod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "ns", Labels: plan.Labels(testutil.MakeRun("sizes", "ns").Obj(), v1alpha1.ComponentLoader),
	}}
	pod.Labels[v1alpha1.LabelTrial], pod.Labels[v1alpha1.LabelAttempt] = "8", "1"
	pod.Status.Phase = corev1.PodRunning
	return pod
}

// awaited says whether a condition comes true in time.
func awaited(condition func() bool) bool {
	for range 60_000 {
		if condition() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// step is a change that is made when a text was printed.
type step struct {
	printed string
	change  func()
}

// watched follows a run while changes are made to it, and returns what was printed.
func watched(t *testing.T, cl client.Client, run *v1alpha1.BenchmarkRun, steps ...step) (string, error) {
	t.Helper()
	out := new(buffer)
	w := &watcher{cl: cl, key: client.ObjectKeyFromObject(run), every: 10 * time.Millisecond, out: out}
	ended := make(chan error, 1)
	go func() { ended <- w.follow(t.Context()) }()
	for _, s := range steps {
		if !awaited(func() bool { return strings.Contains(out.String(), s.printed) }) {
			t.Fatalf("no %q in\n%s", s.printed, out)
		}
		s.change()
	}
	select {
	case err := <-ended:
		return out.String(), err
	case <-time.After(5 * time.Minute):
		t.Fatalf("it does not end: %s", out)
		return "", nil
	}
}

func TestWatchRun(t *testing.T) {
	run := measuring()
	cl := fakeCluster(run)
	out, err := watched(t, cl, run, step{"7/33 trials", func() {
		run.Status.Trials.Measured = ptr.To[int32](8)
		setReady(&run.Status.Conditions, v1alpha1.ReasonPublishing, "every trial is measured")
		if err := cl.Update(t.Context(), run); err != nil {
			t.Error(err)
		}
	}}, step{"8/33 trials", func() {
		run.Status.Answer.Detail = "14970 rows/s at rowsPerCommit=1024"
		setReady(&run.Status.Conditions, v1alpha1.ReasonComplete, "33 trials", v1alpha1.ConditionFinished, v1alpha1.ConditionComplete)
		if err := cl.Update(t.Context(), run); err != nil {
			t.Error(err)
		}
	}})
	if err != nil {
		t.Error(err)
	}
	const want = "sizes: 7/33 trials, Measuring: trial 8 of 33 (rowsPerCommit=16)\n" +
		"sizes: 8/33 trials, Publishing: every trial is measured\n" +
		"sizes: Complete, 8/33 trials in 1m10s: 14970 rows/s at rowsPerCommit=1024\n" +
		"kubectl benchrun report sizes prints the report.\n"
	must.Same(t, "output", want, out)
}

func TestWatchFailure(t *testing.T) {
	run := measuring()
	setReady(&run.Status.Conditions, v1alpha1.ReasonLoaderFailed, "no privilege", v1alpha1.ConditionFinished, v1alpha1.ConditionFailed)
	_, err := watched(t, fakeCluster(run), run)
	if err == nil || err.Error() != "run sizes failed: LoaderFailed: no privilege" || errors.As(err, new(verdictError)) {
		t.Error(err)
	}
}

// TestWatchVariants: a run with variants and without an answer has an exit code of its own, and its answers so far are shown.
func TestWatchVariants(t *testing.T) {
	for reason, want := range map[string]error{v1alpha1.ReasonDecided: nil, v1alpha1.ReasonUndecided: verdictError{ExitCannotSay}} {
		run := testutil.MakeRun("pair", "ns").Obj()
		run.Spec.Variants = []v1alpha1.Variant{{Name: "durable"}, {Name: "lazy"}}
		run.Status.Progress = "3/20"
		run.Status.Pairs = []v1alpha1.PairStatus{{
			Variant: "lazy", Parameters: map[string]v1alpha1.ParameterValue{"rowsPerCommit": "1"}, Verdict: v1alpha1.VerdictFaster,
			RatioStatus: v1alpha1.RatioStatus{Ratio: "3.1", Low: "2.6", High: "3.7"},
		}}
		setReady(&run.Status.Conditions, v1alpha1.ReasonMeasuring, "round 4 of at most 20, lazy")
		cl := fakeCluster(run)
		out, err := watched(t, cl, run, step{"3/20 rounds", func() {
			run.Status.Answer.Detail = "lazy is 3.1 times as fast"
			setReady(&run.Status.Conditions, reason, "it has ended", v1alpha1.ConditionFinished, v1alpha1.ConditionComplete)
			if err := cl.Update(t.Context(), run); err != nil {
				t.Error(err)
			}
		}})
		must.Is(t, err, want)
		must.Has(t, out,
			"pair: 3/20 rounds, Measuring: round 4 of at most 20, lazy\n", "pair: so far: rowsPerCommit=1 lazy 3.1× (2.6–3.7), faster\n",
			"3/20 rounds in : lazy is 3.1 times as fast\n",
		)
	}
}

func TestWatchDeleted(t *testing.T) {
	run := measuring()
	cl := fakeCluster(run)
	_, err := watched(t, cl, run, step{"7/33 trials", func() {
		if err := cl.Delete(t.Context(), run); err != nil {
			t.Error(err)
		}
	}})
	must.Same(t, "error", "sizes was deleted", must.Text(err))
	must.Same(t, "error", "sizes was deleted", must.Text(must.Err(watched(t, cl, run))))
}

// TestLeft: it is unknown before the first trial, nor while nothing is measured; a pause does not count.
func TestLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*snapshot)
		want   string
	}{
		"at the last result": {func(*snapshot) {}, "about 4m20s left"},
		"no trial yet":       {func(m *snapshot) { m.done, m.run.Status.Elapsed = 0, "" }, ""},
		"queued":             {func(m *snapshot) { m.run.Status.Conditions[0].Reason = v1alpha1.ReasonQueued }, ""},
		"may end early":      {func(m *snapshot) { m.mayEndEarly = true }, "at most about 4m20s left"},
		"was suspended":      {func(m *snapshot) { m.run.Status.SuspendedSeconds = ptr.To[int64](35) }, "about 2m10s left"},
	} {
		m := snapshotOf(measuring())
		tc.change(m)
		must.Same(t, name, tc.want, m.left(began.Add(70*time.Second)))
	}
	must.Same(t, "left", "", snapshotOf(measuring()).left(began.Add(time.Hour)))
}

// TestWatchLines: what passes by in a moment is no line, what lasts is, once, and so is all that was measured.
func TestWatchLines(t *testing.T) {
	var out bytes.Buffer
	w := &watcher{key: client.ObjectKey{Name: "pair"}, out: &out}
	start := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, at := range []struct {
		second, done int
		doing        string
	}{
		{0, 0, "round 1, eager"},
		{1, 0, "the server is starting"},
		{9, 0, "the server is starting"},
		{10, 0, "the image is being pulled"},
		{19, 0, "the image is being pulled"},
		{20, 0, "the image is being pulled"},
		{40, 0, "the image is being pulled"},
		{41, 1, "round 2, lazy"},
		{42, 1, "the server is starting"},
		{60, 2, "round 3, eager"},
	} {
		run := testutil.MakeVariants("pair", "ns", "eager", "lazy").Obj()
		run.Status.Progress = fmt.Sprintf("%d/20", at.done)
		setReady(&run.Status.Conditions, v1alpha1.ReasonMeasuring, at.doing)
		w.now = snapshotOf(run)
		w.show(start.Add(time.Duration(at.second) * time.Second))
	}
	const want = "pair: 0/20 rounds, Measuring: round 1, eager\n" +
		"pair: 0/20 rounds, Measuring: the image is being pulled\n" +
		"pair: 1/20 rounds, Measuring: round 2, lazy\n" +
		"pair: 2/20 rounds, Measuring: round 3, eager\n"
	must.Same(t, "lines", want, out.String())
	out.Reset()
	w = &watcher{key: client.ObjectKey{Name: "sizes"}, out: &out, now: snapshotOf(measuring())}
	w.show(began.Add(75 * time.Second))
	must.Same(t, "line", "sizes: 7/33 trials, Measuring: trial 8 of 33 (rowsPerCommit=16); about 4m15s left\n", out.String())
}

// recorded is the ConfigMap of an attempt, with what a program has printed.
func recorded(t *testing.T, trial, attempt int, outcome result.Outcome, cause result.Cause) *corev1.ConfigMap {
	t.Helper()
	document, err := result.EncodeDocument(&result.Document{
		Version: result.DocumentVersion, ToolOutput: map[string]string{"measure": "queries: 7\n", "cleanup": "gone"},
		Tool: &result.ToolFacts{Name: "sysbench", Commands: []result.ToolCommand{{Phase: "measure"}, {Phase: "cleanup"}}},
	})
	must.Do(t, err)
	record := &result.Record{
		Version: result.RecordVersion, Trial: trial, Attempt: attempt, Outcome: outcome, Cause: cause, Recorded: began,
		Parameters: map[string]string{"rowsPerCommit": "16"},
	}
	if cause != "" {
		record.Message = "evicted because of memory"
	} else {
		record.Summary = &result.Summary{
			Version: result.DocumentVersion, Metrics: []result.Metric{{Name: "rowsPerSecond", Value: 11840, Unit: "rows/s"}}, Findings: []finding.Finding{finding.OfProgram("short")},
		}
	}
	text := must.Get(record.Encode())(t)
	run := testutil.MakeRun("sizes", "ns").Obj()
	labels := plan.Labels(run, v1alpha1.ComponentAttempt)
	labels[v1alpha1.LabelOutcome] = string(outcome)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: plan.AttemptName(run, trial, attempt), Namespace: "ns", Labels: labels},
		Data:       map[string]string{result.RecordKey: text}, BinaryData: map[string][]byte{result.DocumentKey: document.Gzip},
	}
}

func TestLogs(t *testing.T) {
	run := measuring()
	first, second := loaderPod("sizes-t8-a1-0-x"), loaderPod("sizes-t8-a2-0-x")
	second.Labels[v1alpha1.LabelAttempt] = "2"
	var document bytes.Buffer
	must.Do(t, result.WriteDocument(&document, result.EncodedDocument{Gzip: []byte("x"), SHA256: "00"}))
	const progressed = `{"kind":"benchrun-progress","seconds":1,"phase":"measure","rows":1000}` + "\n"
	from := fakeLogs{texts: map[string]string{
		first.Name: progressed + "first\n" + document.String() + "the end", second.Name: "second\n",
	}}
	objects := []client.Object{
		run, first, second, recorded(t, 3, 1, result.OutcomeInvalidated, result.CauseEvicted), recorded(t, 3, 2, result.OutcomeAccepted, ""),
	}
	for name, tc := range map[string]struct {
		of         logRequest
		want, says string
	}{
		"the newest attempt": {logRequest{trial: 8}, "second\n", ""},
		"an earlier one":     {logRequest{trial: 8, attempt: 1}, "   1 s: measure, 1000 rows\nfirst\nthe end", ""},
		"not begun":          {logRequest{trial: 9}, "", "trial 9 of sizes has no Pod and no record: it has not started or does not exist (7/33 trials so far)"},
		"no such attempt":    {logRequest{trial: 3, attempt: 3}, "", "trial 3, attempt 3, of sizes has no Pod"},
		"the record":         {logRequest{trial: 3}, recordOfSecond, ""},
		"an invalidated one": {logRequest{trial: 3, attempt: 1}, recordOfFirst, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := tc.of.print(t.Context(), fakeCluster(objects...), from.open, run, &out)
			must.Same(t, "output", tc.want, out.String())
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v does not say %q", err, tc.says)
			}
		})
	}
}

const recordOfSecond = "The Pod is gone. Trial 3, attempt 2 (rowsPerCommit=16): Accepted, recorded 2026-01-02 03:04:05 UTC.\n" +
	"rowsPerSecond: 11840 rows/s\nwarning: short\n\n--- what the program printed, measure ---\nqueries: 7\n\n--- what the program printed, cleanup ---\ngone\n"

const recordOfFirst = "The Pod is gone. Trial 3, attempt 1 (rowsPerCommit=16): Invalidated, recorded 2026-01-02 03:04:05 UTC.\n" +
	"Evicted: evicted because of memory\nThe loader's Pod was evicted or preempted, its node was tainted, or Kueue suspended the Job. " +
	"What to do: use nodes that are not drained while they measure.\n\n--- what the program printed, measure ---\nqueries: 7\n\n--- what the program printed, cleanup ---\ngone\n"

// TestLogsForbidden: without permission the error says so, whatever the record has.
func TestLogsForbidden(t *testing.T) {
	run := measuring()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods/log"}, "x", errors.New("no"))
	cl := fakeCluster(run, loaderPod("sizes-t8-a1-0-x"), recorded(t, 8, 1, result.OutcomeAccepted, ""))
	if err := (logRequest{trial: 8}).print(t.Context(), cl, fakeLogs{err: forbidden}.open, run, new(bytes.Buffer)); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	// The Pod vanishes between two answers of the API server.
	var out bytes.Buffer
	if err := (logRequest{trial: 8}).print(t.Context(), cl, fakeLogs{}.open, run, &out); err != nil || !strings.HasPrefix(out.String(), "The Pod is gone.") {
		t.Error(err, out.String())
	}
}

// The record of an attempt in slices has the numbers of each variant.
func TestLogsOfSlices(t *testing.T) {
	objects := finishedVariants(t, v1alpha1.AlternateSlices, func(d *result.Document) { d.Findings = []finding.Finding{finding.OfProgram("short")} })
	run, _ := objects[len(objects)-1].(*v1alpha1.BenchmarkRun)
	var out bytes.Buffer
	err := (logRequest{trial: 1}).print(t.Context(), clusterWith(objects...), fakeLogs{}.open, run, &out)
	for _, line := range []string{"one: rowsPerSecond: 1000 rows/s\n", "other: rowsPerSecond: 1000 rows/s\n", "warning: one: short\n", "warning: other: short\n"} {
		if err != nil || !strings.Contains(out.String(), line) {
			t.Errorf("%v: %q is missing in\n%s", err, line, &out)
		}
	}
	objects = finishedVariants(t, v1alpha1.AlternateRuns)
	out.Reset()
	if err := (logRequest{trial: 1}).print(t.Context(), clusterWith(objects...), fakeLogs{}.open, run, &out); err != nil ||
		!strings.HasPrefix(out.String(), "The Pod is gone. Trial 1, attempt 1, variant o") || !strings.Contains(out.String(), "\nrowsPerSecond: 1000 rows/s\n") {
		t.Errorf("%v: %s", err, &out)
	}
}
