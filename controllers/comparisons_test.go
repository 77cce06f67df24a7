//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// comparisons is a cluster with the reconciler of comparisons, in which a test says how runs end.
type comparisons struct {
	*cluster
	comparisons *BenchmarkComparisonReconciler
	// end lets a run end that is under way and not suspended.
	end func(*v1alpha1.BenchmarkRun)
	// pilots are recorded by each run before its trials.
	pilots []*result.Record
	// made are the names of the runs in the order in which they were created.
	made []string
}

func newComparisons(t *testing.T) *comparisons {
	t.Helper()
	s := &comparisons{cluster: newCluster(t)}
	s.comparisons = s.newComparisonReconciler()
	s.end = func(run *v1alpha1.BenchmarkRun) { s.complete(run, 1000) }
	return s
}

// newComparisonReconciler is that of an operator that has just started.
func (s *comparisons) newComparisonReconciler() *BenchmarkComparisonReconciler {
	return &BenchmarkComparisonReconciler{Base: Base{
		Client: api, Live: &Live{Reader: api}, Recorder: s.events, Clock: s.clock, Scope: Scope{s.namespace}, LaneNamespace: s.namespace,
		HostNamespace: s.namespace, Images: s.reconciler.Images,
	}}
}

func (s *comparisons) applyComparison(comparison *v1alpha1.BenchmarkComparison) {
	s.t.Helper()
	comparison.Namespace, comparison.UID = s.namespace, ""
	s.must(api.Create(s.t.Context(), comparison))
}

func (s *comparisons) getComparison() *v1alpha1.BenchmarkComparison {
	s.t.Helper()
	return s.comparisonNamed("s")
}

func (s *comparisons) comparisonNamed(name string) *v1alpha1.BenchmarkComparison {
	s.t.Helper()
	var comparison v1alpha1.BenchmarkComparison
	s.must(api.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &comparison))
	return &comparison
}

func (s *comparisons) reconcileComparison() (ctrl.Result, error) {
	s.t.Helper()
	return s.reconcileNamed("s")
}

func (s *comparisons) reconcileNamed(name string) (ctrl.Result, error) {
	s.t.Helper()
	return s.comparisons.Reconcile(s.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: s.namespace, Name: name}})
}

// turn reconciles the comparison, and lets a run that is under way end.
func (s *comparisons) turn() {
	s.t.Helper()
	if _, err := s.reconcileComparison(); err != nil {
		s.t.Fatalf("reconciling: %v", err)
	}
	s.runsEnd()
}

func (s *comparisons) runsEnd() {
	s.t.Helper()
	var runs v1alpha1.BenchmarkRunList
	s.list(&runs)
	for i := range runs.Items {
		run := &runs.Items[i]
		if run.Labels[v1alpha1.LabelComparison] == "" {
			continue
		}
		if !slices.Contains(s.made, run.Name) {
			s.made = append(s.made, run.Name)
		}
		if !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) && !ptr.Deref(run.Spec.Suspend, false) {
			s.end(run)
		}
	}
}

// untilComparison takes turns until a condition of the comparison is true.
func (s *comparisons) untilComparison(condition string) *v1alpha1.BenchmarkComparison {
	s.t.Helper()
	for range 200 {
		s.turn()
		if comparison := s.getComparison(); apimeta.IsStatusConditionTrue(comparison.Status.Conditions, condition) {
			return comparison
		}
	}
	s.t.Fatalf("the comparison was never %s: %+v", condition, s.getComparison().Status)
	return nil
}

// complete ends a run as its own reconciler does: every point has that value.
func (s *comparisons) complete(run *v1alpha1.BenchmarkRun, value float64) {
	s.t.Helper()
	p, err := validation.PlanRun(run)
	s.must(err)
	rep := &report.Report{Run: report.Run{Name: run.Name, UID: string(run.UID)}, Records: s.pilots}
	for _, trial := range p.Trials {
		rep.Records = append(rep.Records, testutil.Record(trial.Number, 1, p.Points[trial.Point].Parameters, value))
	}
	files, err := report.Files(rep)
	s.must(err)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: run.Name + "-results"}, Data: map[string]string{}}
	for _, f := range files {
		cm.Data[f.Name] = string(f.Data)
	}
	if err := api.Create(s.t.Context(), cm); !apierrors.IsAlreadyExists(err) {
		s.must(err)
	}
	run.Status.Results = v1alpha1.ResultsReference{ConfigMap: cm.Name, Digest: digestOf(files)}
	run.Status.Environment = v1alpha1.Environment{DatabaseNode: "worker", LoaderNode: "worker2", SettingsDigest: "sha256:abcd"}
	s.finish(run, v1alpha1.ConditionComplete, v1alpha1.ReasonComplete, "measured")
}

// fail ends a run without results.
func (s *comparisons) fail(run *v1alpha1.BenchmarkRun, reason, message string) {
	s.t.Helper()
	s.finish(run, v1alpha1.ConditionFailed, reason, message)
}

func (s *comparisons) finish(run *v1alpha1.BenchmarkRun, condition, reason, message string) {
	s.t.Helper()
	run.Status.CompletionTime = ptr.To(metav1.NewTime(s.clock.Now()))
	for _, c := range []string{condition, v1alpha1.ConditionFinished} {
		apimeta.SetStatusCondition(&run.Status.Conditions, metav1.Condition{
			Type: c, Status: metav1.ConditionTrue, Reason: reason, Message: message,
		})
	}
	s.must(api.Status().Update(s.t.Context(), run))
}

// byVariant lets the runs of a variant have another value than those of others, with some noise.
func (s *comparisons) byVariant(values map[string]float64) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) {
		noise := 1 + 0.004*float64(len(s.made)%3)
		s.complete(run, values[run.Labels[v1alpha1.LabelVariant]]*noise)
	}
}

// reasonOfEnd is why the comparison has failed.
func reasonOfEnd(comparison *v1alpha1.BenchmarkComparison) string {
	c := apimeta.FindStatusCondition(comparison.Status.Conditions, v1alpha1.ConditionFailed)
	return c.Reason + ": " + c.Message
}

// A run, or its results, that is gone before the comparison has ended takes the numbers of its round with it.
func TestEnvtestComparisonMemberLost(t *testing.T) {
	for name, lose := range map[string]func(*comparisons, string){
		"run deleted": func(s *comparisons, run string) { s.must(api.Delete(s.t.Context(), s.get(run))) },
		"results changed": func(s *comparisons, run string) {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: run + "-results"}}
			s.must(api.Patch(s.t.Context(), cm, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"results.json":"{}"}}`))))
		},
		"results deleted": func(s *comparisons, run string) {
			s.must(api.Delete(s.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: run + "-results"}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newComparisons(t)
			s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Obj())
			for len(s.made) < 3 {
				s.turn()
			}
			fine := s.end
			s.end = func(*v1alpha1.BenchmarkRun) {} // the fourth is under way
			s.turn()
			s.turn()
			s.end = fine
			lose(s, s.made[1])
			s.comparisons = s.newComparisonReconciler() // what it remembers of the results is forgotten
			s.end = func(*v1alpha1.BenchmarkRun) {}
			comparison := s.untilComparison(v1alpha1.ConditionFinished)
			if got := reasonOfEnd(comparison); !strings.HasPrefix(got, "MemberLost: ") || !strings.Contains(got, s.made[1]) {
				t.Errorf("it ended %s", got)
			}
			err := api.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: s.made[3]}, &v1alpha1.BenchmarkRun{})
			if !apierrors.IsNotFound(err) {
				t.Errorf("run %s is still under way: %v", s.made[3], err)
			}
		})
	}
}

// A comparison of runs that are carried out by their own reconciler. No run begins beside the database of the one before.
func TestEnvtestComparisonWithItsRuns(t *testing.T) {
	s := newComparisons(t)
	s.end = func(*v1alpha1.BenchmarkRun) {
		for _, name := range s.made {
			s.reconcile(name)
		}
		s.react()
		var pods corev1.PodList
		s.list(&pods)
		names := map[string]bool{}
		for _, pod := range pods.Items {
			if name := pod.Labels[v1alpha1.LabelRun]; name != "" { // the database that they share has none
				names[name] = true
			}
		}
		if len(names) > 1 {
			t.Errorf("Pods of several runs at a time: %v", names)
		}
	}
	s.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		document := testutil.Document(pod.UID, 1, 1, 1000)
		document.Server.Variables = map[string]string{"autocommit": "ON", "sort_buffer_size": "1"}
		if strings.HasSuffix(job.Labels[v1alpha1.LabelRun], "b") {
			document.Server.Variables["sort_buffer_size"] = "2"
		}
		s.leave(job, pod, document)
	}
	s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Rounds(2).Obj())
	for range 200 {
		s.turn()
		s.end(nil) // a finished run cleans up
		if apimeta.IsStatusConditionTrue(s.getComparison().Status.Conditions, v1alpha1.ConditionFinished) {
			break
		}
	}
	if comparison := s.getComparison(); len(s.made) != 4 || comparison.Status.Progress != "2/2" ||
		!apimeta.IsStatusConditionTrue(comparison.Status.Conditions, v1alpha1.ConditionComplete) {
		t.Errorf("runs %v, %+v", s.made, comparison.Status)
	}
	differ := "b has the same specification as a; 1 of the other 2 variables differs: sort_buffer_size (1 → 2)"
	if diff := cmp.Diff([]string{differ}, s.getComparison().Status.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	for _, name := range s.made[1:] {
		if node := s.get(name).Annotations[v1alpha1.AnnotationDatabaseNode]; node != "node-of-statefulset" {
			t.Errorf("%s is bound to %q", name, node)
		}
	}
}

// TestEnvtestComparisonCrashAfterEveryWrite kills the operator after its n-th write, for every n of a whole comparison, and
// starts another: the end is the same each time, and every run is made once, in the same order.
func TestEnvtestComparisonCrashAfterEveryWrite(t *testing.T) {
	t.Parallel()
	type end struct {
		Made     []string
		Answer   string
		Progress string
		Results  string
		Reasons  []string
	}
	crashAfter := func(t *testing.T, n int) (end, int) {
		t.Helper()
		s := newComparisons(t)
		m, steps := &mortal{dieAfter: n}, 0
		s.comparisons.Client = m.client()
		s.applyComparison(testutil.MakeComparison("s", "", "a", "b").Rounds(2).Obj())
		for ends := 0; ends < 4; {
			_, err := s.reconcileComparison()
			if m.dead {
				m.dead, m.dieAfter = false, 0
				s.comparisons = s.newComparisonReconciler()
				s.comparisons.Client = m.client()
			} else if err != nil {
				t.Fatalf("killed after write %d: reconciling: %v", n, err)
			}
			s.runsEnd()
			if apimeta.IsStatusConditionTrue(s.getComparison().Status.Conditions, v1alpha1.ConditionFinished) {
				ends++ // and a few steps after the end
			}
			if steps++; steps > 100 {
				t.Fatalf("killed after write %d: it does not end: %+v", n, s.getComparison().Status)
			}
		}
		comparison := s.getComparison()
		e := end{Made: s.made, Answer: comparison.Status.Answer, Progress: comparison.Status.Progress, Results: comparison.Status.Results.ConfigMap}
		for _, c := range comparison.Status.Conditions {
			e.Reasons = append(e.Reasons, c.Type+" "+string(c.Status)+" "+c.Reason)
		}
		slices.Sort(e.Reasons)
		return e, m.writes
	}
	want, writes := crashAfter(t, 0)
	var all []int
	for n := range writes {
		all = append(all, n+1)
	}
	killedAfter(t, all, func(t *testing.T, n int) {
		got, _ := crashAfter(t, n)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("killed after write %d of %d (-undisturbed +killed):\n%s", n, writes, diff)
		}
	})
	if !slices.Contains(want.Reasons, "Complete True Undecided") && !slices.Contains(want.Reasons, "Complete True Decided") {
		t.Errorf("an undisturbed comparison ended %v", want.Reasons)
	}
}
