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
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/telemetry"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// managers are those that ran one after the other: the sum of what they counted, and the transitions that they logged.
type managers struct {
	c       *cluster
	metrics []*telemetry.Metrics
	logged  []string
}

// start a manager, which counts from zero and remembers nothing.
func (m *managers) start() {
	before := m.c.reconciler
	m.c.reconciler = &BenchmarkRunReconciler{Base: before.Base, Logs: before.Logs}
	m.c.reconciler.Metrics = telemetry.New()
	m.metrics = append(m.metrics, m.c.reconciler.Metrics)
}

// reconcile a run. An error is tried again.
func (m *managers) reconcile(name string) {
	logger := funcr.NewJSON(func(line string) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			m.c.t.Fatal(err)
		}
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
	if diff := cmp.Diff(ofRun, slices.DeleteFunc(slices.Clone(m.logged), isAttempt)); diff != "" {
		m.c.t.Errorf("log of the run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(ofAttempts, slices.DeleteFunc(slices.Clone(m.logged), isRun)); diff != "" {
		m.c.t.Errorf("log of its attempts (-want +got):\n%s", diff)
	}
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
			if diff := cmp.Diff(want, counted(t, m.metrics...)); diff != "" {
				t.Errorf("counts of %d managers (-want +got):\n%s", len(m.metrics), diff)
			}
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
