// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestExplainQueued(t *testing.T) {
	run := testutil.MakeRun("sizes", "ns").Obj()
	const message = "run default/other holds lane default; this one is number 2 of 3 that wait"
	setReady(&run.Status.Conditions, v1alpha1.ReasonQueued, message)
	apimeta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQueued, Message: message,
		LastTransitionTime: metav1.NewTime(began),
	})
	run.Status.Trials.Planned = ptr.To[int32](3)
	got := explanation(snapshotOf(run), nil, nil, began.Add(4*time.Minute))
	want := []string{
		"Run sizes: Queued since 03:04:05 UTC (4m), 0 of 3 trials measured.",
		"  " + message,
		"It waits for its lane, in which one run measures at a time.",
		"What to do: wait, suspend or delete the holder, or use other lanes (spec.lane) for runs that cannot disturb each other.",
		"docs/troubleshooting.md says more.",
	}
	must.Same(t, "what is got", want, got)
}

// A finished run says when it is deleted, and how to keep what it has measured.
func TestExplainExpiry(t *testing.T) {
	run := measuring()
	run.Status.ExpirationTime = ptr.To(metav1.NewTime(began.Add(30 * 24 * time.Hour)))
	retained := testutil.MakeVariants("s", "ns", "a", "b").Obj()
	retained.Status.ExpirationTime = ptr.To(metav1.NewTime(began.Add(-time.Second)))
	retained.Spec.Results.Retention = v1alpha1.RetentionRetain
	for want, of := range map[string]*v1alpha1.BenchmarkRun{
		"Deletion: 2026-02-01 03:04:05 UTC (in 30d), with its results (kubectl benchrun export saves them). " +
			"spec.ttlSecondsAfterFinished changes the time.": run,
		"Deletion: 2026-01-02 03:04:04 UTC (in 0s), without its results. spec.ttlSecondsAfterFinished changes the time.": retained,
	} {
		if got := explanation(snapshotOf(of), nil, nil, began); !slices.Contains(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if got := snapshotOf(measuring()).explainExpiry(began); got != nil {
		t.Errorf("one that stays says %q", got)
	}
}

func TestExplainFailed(t *testing.T) {
	run := measuring()
	setReady(&run.Status.Conditions, v1alpha1.ReasonTooManyInvalid, "4 attempts were invalidated", v1alpha1.ConditionFailed)
	apimeta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionResultsAvailable, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonResultsNotWritten, Message: "quota",
	})
	run.Status.Answer.Detail = "14970 rows/s"
	run.Status.Deadline = ptr.To(metav1.NewTime(began.Add(time.Hour)))
	run.Status.Trials.Invalidated = ptr.To[int32](2)
	run.Status.Findings = found("a", "b", "b", "c", "d", "e", "f", "g")
	cl := fakeCluster(run, recorded(t, 3, 1, result.OutcomeInvalidated, result.CauseEvicted), recorded(t, 3, 2, result.OutcomeAccepted, ""))
	records := must.Get(invalidated(t.Context(), cl, run))(t)
	got := explanation(snapshotOf(run), records, run.Status.FindingTexts(), began)
	want := []string{
		"Run sizes: TooManyInvalid, 7 of 33 trials measured.",
		"  4 attempts were invalidated",
		"More than trials.maxInvalid attempts were disturbed.",
		"What to do: remove the causes; the message has the last one.",
		"So far: 14970 rows/s",
		"ResultsAvailable: quota",
		"What to do: fix what the message names: a quota, a policy, or another object of that name.",
		"Deadline: 2026-01-02 04:04:05 UTC (in 60m).",
		"2 attempts did not count and were repeated:",
		"  trial 3, attempt 1 (rowsPerCommit=16): Evicted: evicted because of memory",
		"    The loader's Pod was evicted or preempted, its node was tainted, or Kueue suspended the Job. What to do: use nodes that are not drained while they measure.",
		"Warnings:", "  a", "  b", "  c", "  d", "  e", "  and 2 more: see kubectl benchrun report",
		"docs/troubleshooting.md says more.",
	}
	must.Same(t, "what is got", want, got)
}

// TestExplainEverything: whatever the state, there are words for it; also before the operator has seen an object.
func TestExplainEverything(t *testing.T) {
	for reason, a := range reasons() {
		run := measuring()
		setReady(&run.Status.Conditions, reason, "m")
		must.Has(t, strings.Join(explanation(snapshotOf(run), nil, nil, began), "\n"), a.lines()[0])
	}
	run := measuring()
	setReady(&run.Status.Conditions, v1alpha1.ReasonComplete, "m", v1alpha1.ConditionComplete)
	apimeta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: "Complete", LastTransitionTime: metav1.NewTime(began),
	})
	if got := explanation(snapshotOf(run), nil, nil, began.Add(time.Hour))[0]; got !=
		"Run sizes: Complete since 03:04:05 UTC (60m), 7 of 33 trials measured." {
		t.Error(got)
	}
	unseen := testutil.MakeVariants("pair", "ns", "a", "b").Obj()
	text := strings.Join(explanation(snapshotOf(unseen), nil, nil, began), "\n")
	must.Has(t, text, "Run pair: New, 0 of 0 rounds", "the operator has not seen it yet", "is the operator running?")
}

// Of variants, it counts rounds, has the answer, names the variant of an attempt that did not count, and has the warnings about
// variants and those about the run's environment.
func TestExplainVariants(t *testing.T) {
	run := testutil.MakeVariants("sizes", "ns", "a", "b").Obj()
	setReady(&run.Status.Conditions, v1alpha1.ReasonUndecided, "all 20 rounds are measured", v1alpha1.ConditionFinished, v1alpha1.ConditionComplete)
	run.Status.Answer.Detail, run.Status.Progress = "cannot say", "20/20"
	run.Status.Trials = v1alpha1.TrialCounts{Planned: ptr.To[int32](40), Measured: ptr.To[int32](40), Invalidated: ptr.To[int32](1)}
	run.Status.Findings = found("the node is shared", "too few rounds", "the node is shared")
	cm := recorded(t, 3, 1, result.OutcomeInvalidated, result.CauseEvicted)
	record, err := result.DecodeRecord(cm.Data[result.RecordKey])
	must.Do(t, err)
	record.Sides = []result.SideRecord{{Variant: "b", Instance: 2}}
	cm.Data[result.RecordKey] = must.Get(record.Encode())(t)
	cl := fakeCluster(run, cm)
	attempts := must.Get(invalidated(t.Context(), cl, run))(t)
	got := explanation(snapshotOf(run), attempts, run.Status.FindingTexts(), began)
	want := []string{
		"  trial 3, attempt 1, variant b (rowsPerCommit=16): Evicted: evicted because of memory",
		"Warnings:", "  the node is shared", "  too few rounds",
	}
	text := strings.Join(got, "\n")
	if !strings.HasPrefix(text, "Run sizes: Undecided since ") || !strings.Contains(got[0], ", 20 of 20 rounds measured.") ||
		!slices.Contains(got, "Answer: cannot say") {
		t.Error(text)
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("it does not say %q:\n%s", line, text)
		}
	}
}

// Who got no answer from one server at a time is told of what is measured closer together, or why that was not possible.
func TestExplainHints(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		says   string
	}{
		"one at a time":       {func(*v1alpha1.BenchmarkRun) {}, "`alternation: Slices`, or `Trials` where slices are refused"},
		"in slices":           {func(c *v1alpha1.BenchmarkRun) { c.Status.Alternation = v1alpha1.AlternateSlices }, ""},
		"without room":        {func(c *v1alpha1.BenchmarkRun) { c.Status.AlternationReason = "no room" }, "Why one server at a time was measured: no room"},
		"that goes on":        {func(c *v1alpha1.BenchmarkRun) { c.Status.CompletionTime = nil }, ""},
		"that has its answer": {func(c *v1alpha1.BenchmarkRun) { c.Status.Pairs[0].Verdict = v1alpha1.VerdictFaster }, ""},
	} {
		c := testutil.MakeVariants("pair", "ns", "a", "b").Obj()
		c.Status.CompletionTime, c.Status.Pairs = ptr.To(metav1.NewTime(began)), []v1alpha1.PairStatus{{Verdict: v1alpha1.VerdictCannotSay}}
		tc.change(c)
		got := strings.Join(snapshotOf(c).hints, "\n")
		if !strings.Contains(got, tc.says) || (got == "") != (tc.says == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// found are findings of a status.
func found(texts ...string) []v1alpha1.FindingStatus {
	var list []v1alpha1.FindingStatus
	for _, text := range texts {
		list = append(list, v1alpha1.FindingStatus{Text: text})
	}
	return list
}

// A finding is explained without a cluster; an unknown code lists those that exist.
func TestExplainFinding(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nowhere")
	t.Setenv("HOME", t.TempDir())
	const want = "CommitsNotDurable (Notice)\n" +
		"  commits are not durable: VARIABLE is VALUE\n" +
		"The server does not flush its redo log at each commit. That is faster, but the last commits are lost if the machine fails.\n" +
		"What to do: set database.settings.flushLogAtTrxCommit: 1 for durable commits.\n"
	if code, out, errs := runMain(t, "", "explain", "--finding", "CommitsNotDurable"); code != 0 || out != want || errs != "" {
		t.Errorf("exit code %d, %q\n%s\nwant\n%s", code, errs, out, want)
	}
	for says, arguments := range map[string][]string{
		"finding Nonsense does not exist; use one of BinaryLogDiffers, ": {"explain", "--finding", "Nonsense"},
		`unknown command "a"`: {"explain", "a", "--finding", "CommitsNotDurable"},
	} {
		if code, out, errs := runMain(t, "", arguments...); code != ExitError || out != "" || !strings.Contains(errs, says) {
			t.Errorf("%q: exit code %d, output %q, error %q, want %q", arguments, code, out, errs, says)
		}
	}
}

// constants are the values of the string constants of a file whose names begin like that.
func constants(t *testing.T, file, prefix string) []string {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, isValue := n.(*ast.ValueSpec)
		if !isValue || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		value := must.Get(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
		values = append(values, value)
		return true
	})
	slices.Sort(values)
	return values
}

// TestAdvice: every reason, cause and finding is explained, and nothing else is.
func TestAdvice(t *testing.T) {
	for _, tc := range []struct {
		explained map[string]advice
		want      []string
		least     int
	}{
		{reasons(), constants(t, "../../api/v1alpha1/condition_types.go", "Reason"), 40},
		{causes(), constants(t, "../result/cause.go", "Cause"), 26},
		{findings(), codes(), 46},
	} {
		if got := slices.Sorted(maps.Keys(tc.explained)); !slices.Equal(got, tc.want) || len(got) < tc.least {
			t.Errorf("explained are %v, want %v", got, tc.want)
		}
		for name, a := range tc.explained {
			if text := strings.Join(a.lines(), " "); !strings.HasSuffix(a.means, ".") || strings.ContainsAny(text, "`|") || strings.Contains(text, "](") {
				t.Errorf("%s: %q is no sentence for a terminal", name, text)
			}
		}
	}
}
