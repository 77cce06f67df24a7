//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestEnvtestCompleteRun(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(2).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)
	c.settle("run")

	want := []string{"run-t1-a1 Accepted", "run-t2-a1 Accepted", "run-t3-a1 Accepted", "run-t4-a1 Accepted"}
	must.Same(t, "records", want, c.attemptNames())
	for name, times := range c.jobs {
		must.Same(t, "times that Job "+name+" was made", 1, times)
	}
	must.Same(t, "progress", "4/4", run.Status.Progress)
	must.Has(t, run.Status.Answer.Detail, "rows/s")
	if e := run.Status.Environment; e.ServerVersion != "11.8.3-MariaDB" || e.FdatasyncMicros != 110 || e.DatabaseNode == "" {
		t.Errorf("environment is %+v", e)
	}
	for _, condition := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionFinished} {
		if !apimeta.IsStatusConditionTrue(run.Status.Conditions, condition) {
			t.Errorf("%s is not true", condition)
		}
	}

	var results corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &results))
	for _, file := range []string{"results.csv", "results.json", "results.bench", "summary.md"} {
		if results.Data[file] == "" {
			t.Errorf("the results lack %s", file)
		}
	}
	asked := testutil.Document("", 1, 1, 1).Server.Settings
	must.Same(t, "settings", []report.ServerSettings{{Settings: asked}}, must.Get(report.Decode([]byte(results.Data[report.JSONFile])))(t).Settings)
	pageIn(t, &results, "run")
	if results.Immutable == nil || !*results.Immutable {
		t.Error("the results are not immutable")
	}
	must.Same(t, "lines of results.csv, a header and 4 trials", 5, strings.Count(results.Data["results.csv"], "\n"))
	c.nothingRuns()
}

// nothingRuns checks that a finished run has left no database and no Job.
func (c *cluster) nothingRuns() {
	c.t.Helper()
	var sets appsv1.StatefulSetList
	var jobs batchv1.JobList
	var pods corev1.PodList
	var leases coordinationv1.LeaseList
	c.list(&sets)
	c.list(&jobs)
	c.list(&pods)
	c.list(&leases)
	if n := len(sets.Items) + len(jobs.Items) + len(pods.Items) + len(leases.Items); n != 0 {
		c.t.Errorf("%d StatefulSets, %d Jobs, %d Pods, %d Leases are left",
			len(sets.Items), len(jobs.Items), len(pods.Items), len(leases.Items))
	}
}

func TestEnvtestRetention(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Results.Retention = v1alpha1.RetentionRetain
	}).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	for _, name := range []string{"run-results", "run-t1-a1"} {
		var cm corev1.ConfigMap
		c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, &cm))
		must.Same(t, "owners of "+name+", with which it would go", 0, len(cm.OwnerReferences))
	}
	retained := func(changes ...func(*v1alpha1.BenchmarkRun)) *v1alpha1.BenchmarkRun {
		run := testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Results.Retention = v1alpha1.RetentionRetain
		})
		for _, change := range changes {
			run.With(change)
		}
		return run.Obj()
	}
	// The same again finds them, measures nothing, and says where they are from.
	first := c.get("run")
	c.must(api.Delete(t.Context(), first))
	c.apply(retained())
	again := c.until("run", v1alpha1.ConditionComplete)
	complete := apimeta.FindStatusCondition(again.Status.Conditions, v1alpha1.ConditionComplete)
	if again.Status.Results.FromRun != string(first.UID) || again.Status.Results.Digest != first.Status.Results.Digest ||
		again.Status.Answer.Detail != first.Status.Answer.Detail || again.Status.Records != first.Status.Records ||
		!strings.Contains(complete.Message, "nothing was measured") || c.jobs["run-t1-a1"] != 1 {
		t.Errorf("%+v, %s, %d Jobs: %s", again.Status.Results, again.Status.Answer.Detail, c.jobs["run-t1-a1"], complete.Message)
	}
	c.settle("run")
	if a := apimeta.FindStatusCondition(c.get("run").Status.Conditions, v1alpha1.ConditionResultsAvailable); a.Status != metav1.ConditionTrue {
		t.Errorf("the results are not available: %s", a.Message)
	}
	// Another specification does not, nor the same one when a record was changed.
	c.must(api.Delete(t.Context(), c.get("run")))
	c.apply(retained(func(r *v1alpha1.BenchmarkRun) { r.Spec.Seed = ptr.To[int64](7) }))
	c.failsWith("run", v1alpha1.ReasonNameTaken)
	var record corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t1-a1"}, &record))
	c.must(api.Delete(t.Context(), &record))
	forged := record.DeepCopy()
	forged.ResourceVersion, forged.UID = "", ""
	forged.Data[result.RecordKey] = strings.Replace(record.Data[result.RecordKey], `"trial":1`, `"trial":2`, 1)
	c.must(api.Create(t.Context(), forged))
	c.must(api.Delete(t.Context(), c.get("run")))
	c.apply(retained())
	c.failsWith("run", v1alpha1.ReasonNameTaken)
	// A run that does not ask for retained results must not take them for its own.
	c.must(api.Delete(t.Context(), c.get("run")))
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.failsWith("run", v1alpha1.ReasonNameTaken)
}

// Retained results of variants are found again, too, with the alternation that they were measured in.
func TestEnvtestRetentionOfVariants(t *testing.T) {
	c := newCluster(t)
	asked := withVariants()
	asked.Spec.Results.Retention = v1alpha1.RetentionRetain
	c.apply(asked.DeepCopy())
	first := c.until("run", v1alpha1.ConditionComplete)
	c.must(api.Delete(t.Context(), first))
	c.apply(asked)
	again := c.until("run", v1alpha1.ConditionComplete)
	if again.Status.Results.FromRun != string(first.UID) || c.jobs["run-t1-a1"] != 1 ||
		cmp.Diff(first.Status.Pairs, again.Status.Pairs) != "" || again.Status.Environment.ServerVersion == "" {
		t.Errorf("%+v, %d Jobs, %+v in %+v", again.Status.Results, c.jobs["run-t1-a1"], again.Status.Pairs, again.Status.Environment)
	}
	pair := &first.Status.Pairs[0]
	must.Same(t, "answer", v1alpha1.AnswerStatus{
		Text: "too few rounds for an answer (2 of 6)", Detail: pair.Detail, Verdict: pair.Verdict, RatioStatus: pair.RatioStatus,
	}, first.Status.Answer)
}

// failsWith lets a run go on until it has failed for that reason.
func (c *cluster) failsWith(name, reason string) {
	c.t.Helper()
	run := c.until(name, v1alpha1.ConditionFailed)
	must.Same(c.t, "it ended", reason, apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed).Reason)
}

// managers are those that ran one after the other: the sum of what they counted, and the transitions that they logged.
type managers struct {
	c       *cluster
	metrics []*telemetry.Metrics
	logged  []string
}

// start a manager, which counts from zero and remembers nothing.
func (m *managers) start() {
	before := m.c.reconciler
	m.c.reconciler = m.c.newReconciler()
	m.c.reconciler.Client, m.c.reconciler.Live, m.c.reconciler.Metrics = before.Client, before.Live, telemetry.New()
	m.metrics = append(m.metrics, m.c.reconciler.Metrics)
}

// reconcile a run. An error is tried again.
func (m *managers) reconcile(name string) {
	logger := funcr.NewJSON(func(line string) {
		var fields map[string]any
		must.Do(m.c.t, json.Unmarshal([]byte(line), &fields))
		if fields["msg"] == "Transition" {
			m.logged = append(m.logged, short(fields))
		}
	}, funcr.Options{})
	request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: m.c.namespace, Name: name}}
	if _, err := m.c.reconciler.Reconcile(log.IntoContext(m.c.t.Context(), logger), request); err != nil {
		m.c.t.Logf("to be tried again: %v", err)
	}
}

// logs compares what was logged of the run, and of its attempts, each in its order.
func (m *managers) logs(ofRun, ofAttempts []string) {
	m.c.t.Helper()
	isAttempt := func(line string) bool { return strings.HasPrefix(line, "t") }
	isRun := func(line string) bool { return !isAttempt(line) }
	must.Same(m.c.t, "log of the run", ofRun, slices.DeleteFunc(slices.Clone(m.logged), isAttempt))
	must.Same(m.c.t, "log of its attempts", ofAttempts, slices.DeleteFunc(slices.Clone(m.logged), isRun))
}

// short form of a log line.
func short(fields map[string]any) string {
	text := fmt.Sprintf("%v → %v", fields["from"], fields["to"])
	if trial, ok := fields["trial"]; ok {
		text = fmt.Sprintf("t%v-a%v %s", trial, fields["attempt"], text)
	}
	if reason, ok := fields["reason"]; ok && reason != fields["to"] {
		text += fmt.Sprintf(" (%v)", reason)
	}
	return text
}

// counted by all managers together, without reconciles that are tried again, which differ from one run to the next.
func counted(t *testing.T, list ...*telemetry.Metrics) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, m := range list {
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(m)
		families := must.Get(registry.Gather())(t)
		for _, f := range families {
			for _, s := range f.GetMetric() {
				name := strings.TrimPrefix(f.GetName(), "benchrun_")
				for _, l := range s.GetLabel() {
					name += " " + l.GetValue()
				}
				n := int(s.GetCounter().GetValue()) + int(s.GetHistogram().GetSampleCount())
				if n > 0 {
					counts[name] += n
				}
			}
		}
	}
	return counts
}

// Each transition is counted and logged once, whatever is tried again: the cache is behind, writes meet conflicts, the world
// changes, and another manager takes over in the middle.
func TestEnvtestTransitionsAreCountedOnce(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			c := newCluster(t)
			l := newLag(c, seed)
			w := newWorld(c, l.rng)
			// People edit the run, so that writes meet conflicts. Nothing removes Pods here: a manager that starts would judge the
			// attempt anew.
			l.meddle = func(client.Object) {
				if w.rng.IntN(4) == 0 {
					note := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/note":"%d"}}}`, w.rng.Int())
					c.must(api.Patch(t.Context(), c.get("run"), client.RawPatch(types.MergePatchType, note)))
				}
			}
			c.reconciler.Client, c.reconciler.Logs, w.logFailures = l.behind(), w, reportAfter-1
			c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				if job.Labels[v1alpha1.LabelTrial] == "2" && job.Labels[v1alpha1.LabelAttempt] == "1" {
					c.failWith(result.CauseConnectionLost, "reset by peer")(job, pod)
					return
				}
				c.succeed(job, pod)
			}
			c.apply(testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(2).Obj())
			m := &managers{c: c}
			for i := range 800 {
				if i%40 == 0 {
					m.start()
				}
				w.pass()
				l.pass()
				m.reconcile("run")
				c.react()
				if apimeta.IsStatusConditionTrue(c.get("run").Status.Conditions, v1alpha1.ConditionFinished) {
					break
				}
			}
			want := map[string]int{
				"attempts_total Accepted": 4, "attempts_total Invalidated": 1, "attempts_invalidated_total ConnectionLost": 1,
				"runs_completed_total Complete": 1, "trial_measured_seconds": 4,
			}
			must.Same(t, fmt.Sprintf("counts of %d managers", len(m.metrics)), want, counted(t, m.metrics...))
			m.logs([]string{"Pending → ProvisioningDatabase", "ProvisioningDatabase → Measuring", "Measuring → Complete"}, []string{
				"t1-a1 Pending → Started", "t1-a1 Started → Accepted",
				"t2-a1 Pending → Started", "t2-a1 Started → Invalidated (ConnectionLost)",
				"t2-a2 Pending → Started", "t2-a2 Started → Accepted",
				"t3-a1 Pending → Started", "t3-a1 Started → Accepted",
				"t4-a1 Pending → Started", "t4-a1 Started → Accepted",
			})
		})
	}
}
