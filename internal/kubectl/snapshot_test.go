// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// begunComparison is a comparison of two variants of which so many runs are complete and the next is under way, with what the
// cluster has of it. The second variant is twice as fast.
func begunComparison(t *testing.T, complete int) (*v1alpha1.BenchmarkRun, []client.Object) {
	t.Helper()
	comparison := testutil.MakeVariants("pair", "bench", "durable", "lazy").Sweep(1).With(func(s *v1alpha1.BenchmarkRun) {
		s.Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonMeasuring, Message: "round 2 of 20",
		}}
	}).Obj()
	objects := []client.Object{comparison}
	for i, m := range plan.ForComparison(&comparison.Spec)[:complete+1] {
		run := plan.MemberRun(comparison, m)
		run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(comparison, v1alpha1.GroupVersion.WithKind(plan.ComparisonKind))}
		if i < complete {
			objects = append(objects, completed(t, run, 1000*(1+float64(m.Variant))+float64(i)))
		}
		objects = append(objects, run)
	}
	return comparison, objects
}

// completed makes a run of one trial complete. It returns its results.
func completed(t *testing.T, run *v1alpha1.BenchmarkRun, value float64) client.Object {
	t.Helper()
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	records := []*result.Record{testutil.Record(1, 1, p.Points[0].Parameters, value)}
	rep, err := report.OfRun(run, p, records, v1alpha1.ConditionComplete)
	if err != nil {
		t.Fatal(err)
	}
	files, err := report.Files(rep)
	if err != nil {
		t.Fatal(err)
	}
	cm := configMap(plan.ResultsName(run), files...)
	run.Status.Results = v1alpha1.ResultsReference{
		ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(cm.Data[report.JSONFile])),
	}
	for _, of := range []string{v1alpha1.ConditionFinished, v1alpha1.ConditionComplete} {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: of, Status: metav1.ConditionTrue})
	}
	return cm
}

// A comparison that has not finished has a report of its runs that are complete, which says so in every format for people.
func TestReportOfAComparisonSoFar(t *testing.T) {
	for complete, want := range map[int]struct {
		rounds  int
		answer  string
		compare bool
	}{
		0: {0, "no answer", false}, 1: {0, "no answer", false}, 3: {1, "cannot say", true}, 12: {6, "lazy is ", true},
	} {
		_, objects := begunComparison(t, complete)
		p, err := reported(t.Context(), clusterWith(objects...), "bench", "pair")
		if err != nil {
			t.Fatal(err)
		}
		if s := comparisonOf(t, p); s.Rounds != want.rounds || len(s.Runs) != complete || (len(s.Pairs) > 0) != want.compare {
			t.Errorf("%d runs: %d rounds, %d runs, %d comparisons", complete, s.Rounds, len(s.Runs), len(s.Pairs))
		}
		for _, format := range []string{"text", "markdown", "github"} {
			got := text(t, p, format)
			if !strings.Contains(got, "pair (unfinished): "+want.answer) || strings.Contains(got, "Discarded") ||
				!strings.Contains(got, ", Unfinished, ") ||
				!strings.Contains(got, "this is what has been measured so far; round 2 of 20") {
				t.Errorf("%s of %d runs:\n%s", format, complete, got)
			}
		}
		if got := strings.Count(text(t, p, "csv"), "\n"); got != complete+1 {
			t.Errorf("%d runs: %d lines of CSV", complete, got)
		}
		if got := text(t, p, "html"); !strings.Contains(got, "this is what has been measured so far") {
			t.Errorf("%d runs: the page does not say that it is not whole", complete)
		}
	}
}

// It compares as the operator does. The documents are not read, so that variables that were not requested are not mentioned.
func TestReportOfAComparisonCompares(t *testing.T) {
	comparison, objects := begunComparison(t, 8)
	got, err := judgedSoFar(t.Context(), clusterWith(objects...), comparison)
	if err != nil {
		t.Fatal(err)
	}
	if p := got.Pairs[0]; p.Baseline != "durable" || p.Variant != "lazy" || len(p.Values) != 4 || p.Ratio < 1.9 || p.Ratio > 2.1 {
		t.Errorf("%+v", p)
	}
	if d := got.Variants[1]; d.Besides != "" || d.Unrequested != 0 {
		t.Errorf("variables were compared that were not read: %+v", d)
	}
}

// A comparison that has failed says why; a run that a third party has made is none of its own; results that were changed or
// deleted are an error.
func TestReportOfAComparisonThatIsNotWhole(t *testing.T) {
	comparison, objects := begunComparison(t, 3)
	comparison.Status.Conditions = append(comparison.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMemberFailed, Message: "run x failed",
	})
	rep, err := judgedSoFar(t.Context(), clusterWith(objects...), comparison)
	if err != nil || rep.Outcome != "Failed" || rep.Message != "MemberFailed: run x failed" {
		t.Errorf("%v, %+v", err, rep)
	}
	stranger, others := begunComparison(t, 3)
	others[2].SetOwnerReferences(nil)
	rep, err = judgedSoFar(t.Context(), clusterWith(others...), stranger)
	if err != nil || len(rep.Runs) != 2 || rep.Rounds != 0 {
		t.Errorf("%v, %+v", err, rep)
	}
	for want, change := range map[string]func([]client.Object) []client.Object{
		"was deleted": func(list []client.Object) []client.Object { return append(list[:1:1], list[2:]...) },
		"is not what the operator wrote": func(list []client.Object) []client.Object {
			run, _ := list[2].(*v1alpha1.BenchmarkRun)
			run.Status.Results.Digest = "sha256:00"
			return list
		},
	} {
		comparison, objects := begunComparison(t, 1)
		if _, err := judgedSoFar(t.Context(), clusterWith(change(objects)...), comparison); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	broken, _ := begunComparison(t, 0)
	broken.Spec.Workload.CommitSize.Sweep = new(v1alpha1.CommitSizeSweep)
	if _, err := judgedSoFar(t.Context(), clusterWith(broken), broken); err == nil || !strings.Contains(err.Error(), "planning comparison pair") {
		t.Errorf("the error is %v", err)
	}
}

// Where one stands in the queue of a lane is looked up, in all namespaces that the user may list.
func TestPosition(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 1, 2, 3, 4, seconds, 0, time.UTC))
	}
	in := func(namespace, name string, created int, admitted metav1.ConditionStatus) *v1alpha1.BenchmarkRun {
		return testutil.MakeRun(name, namespace).With(func(r *v1alpha1.BenchmarkRun) {
			r.CreationTimestamp = at(created)
			r.Status.Conditions = []metav1.Condition{
				{Type: v1alpha1.ConditionAdmitted, Status: admitted},
				{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQueued},
			}
		}).Obj()
	}
	mine := in("ns", "mine", 30, metav1.ConditionFalse)
	objects := fake.NewClientBuilder().WithScheme(scheme).WithObjects(mine, in("a", "holder", 20, metav1.ConditionTrue),
		in("a", "before", 10, metav1.ConditionFalse), in("ns", "also-before", 25, metav1.ConditionFalse), in("a", "after", 40, metav1.ConditionFalse)).Build()
	for name, tc := range map[string]struct {
		all  bool
		want string
	}{
		"all namespaces": {true, "run a/holder is admitted to lane default.\nQueue of lane default: position 3 of 4."},
		"one namespace":  {false, "Queue of lane default: position 2 of 2 in this namespace (you are not allowed to list the others)."},
	} {
		from := interceptor.NewClient(objects, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				o := client.ListOptions{}
				o.ApplyOptions(opts)
				if !tc.all && o.Namespace == "" {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "benchmarkruns"}, "", nil)
				}
				return c.List(ctx, list, opts...)
			},
		})
		got, err := position(t.Context(), from, runSubject{mine})
		if text := strings.Join(got, "\n"); err != nil || text != tc.want {
			t.Errorf("%s: %q, %v, want %q", name, text, err, tc.want)
		}
	}
	running := in("ns", "mine", 30, metav1.ConditionTrue)
	running.Status.Conditions[1].Reason = v1alpha1.ReasonMeasuring
	if got, err := position(t.Context(), objects, runSubject{running}); got != nil || err != nil {
		t.Errorf("of a run that measures it says %q, %v", got, err)
	}
}

// Two runs of one name are distinguished by the last parts of their paths, if these differ.
func TestCompareNamesFiles(t *testing.T) {
	_, r := measuredRun(t, "main", 1)
	_, again := measuredRun(t, "main", 1)
	again.Run.UID = "another"
	dir := t.TempDir()
	for name, of := range map[string]*report.Report{"a.json": r, "b.json": again, "sub/a.json": again} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), resultsJSON(t, of), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	header := func(before, after string) string { return before + "  " + after + "  ratio" }
	for other, want := range map[string]string{
		"b.json": header("a.json", "b.json"), "sub/a.json": header(dir+"/a.json", dir+"/sub/a.json"),
	} {
		if code, out, errOut := plugin(t, "compare", dir+"/a.json", dir+"/"+other, "--allow-undecided"); code != ExitFine ||
			!strings.Contains(out, want) {
			t.Errorf("exit code %d, want %q in\n%s%s", code, want, out, errOut)
		}
	}
}

func TestCalled(t *testing.T) {
	for _, tc := range []struct{ a, b, wantA, wantB reference }{
		{reference{name: "./old/"}, reference{name: "new"}, reference{name: "old"}, reference{name: "new"}},
		{reference{name: "run/a"}, reference{name: "a.tgz"}, reference{name: "run/a"}, reference{name: "a.tgz"}},
		{
			reference{name: "/y/s.tgz", variant: "eager"},
			reference{name: "/x/s.tgz", variant: "lazy"},
			reference{name: "s.tgz:eager"},
			reference{name: "s.tgz:lazy"},
		},
		{reference{name: "/x/"}, reference{name: "/y/x"}, reference{name: "/x/"}, reference{name: "/y/x"}},
		{
			reference{name: "/x/s/", variant: "a"},
			reference{name: "/y/s/", variant: "b"},
			reference{name: "s:a"},
			reference{name: "s:b"},
		},
	} {
		if a, b := called(&tc.a, &tc.b); a != tc.wantA.name || b != tc.wantB.name {
			t.Errorf("%s and %s are called %s and %s", tc.a.text(), tc.b.text(), a, b)
		}
	}
}

func TestIsPath(t *testing.T) {
	for name, want := range map[string]bool{
		"commit-size": false, "run/commit-size": false, "comparison/x": false, "brun/x": false, "a.b": false,
		"./x": true, "../x": true, "/x": true, "x/": true, "run/": true, "out/x": true, "x.json": true, "out/x.json": true, ".": true,
		"x.tgz": true,
	} {
		if got := isPath(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
