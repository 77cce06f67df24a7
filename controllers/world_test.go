//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// world is everything around a run that changes between any two looks: other Pods on its node, what the node says of itself, the
// time, logs that cannot be read at the moment, and people who edit the run.
type world struct {
	c   *cluster
	rng *rand.Rand
	// visitors counts the Pods of others that came so far; visitor is the one that is there.
	visitors int
	visitor  *corev1.Pod
	// records are the UIDs of all records that were seen, by their names.
	records map[string]types.UID
	// logFailures is how often the log of a Pod cannot be read at most; 0 is without a bound. failed counts them.
	logFailures int
	failed      map[string]int
}

func newWorld(c *cluster, rng *rand.Rand) *world {
	c.t.Helper()
	c.databaseNode = "node-" + c.namespace
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.databaseNode}}
	c.must(api.Create(c.t.Context(), node))
	c.t.Cleanup(func() { c.must(api.Delete(context.Background(), node)) })
	return &world{c: c, rng: rng, records: map[string]types.UID{}, failed: map[string]int{}}
}

// pass some time, in which the world changes.
func (w *world) pass() {
	w.c.t.Helper()
	w.c.clock.Step(time.Duration(w.rng.IntN(300)) * time.Millisecond)
	w.visit()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.c.databaseNode}}
	pressure := corev1.ConditionFalse
	if w.rng.IntN(2) == 0 {
		pressure = corev1.ConditionTrue
	}
	node.Status.Conditions = []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeDiskPressure, Status: pressure},
	}
	w.c.must(api.Status().Update(w.c.t.Context(), node))
	w.noRecordDeleted()
}

// visit replaces the Pod of another owner on the database's node by another.
func (w *world) visit() {
	w.c.t.Helper()
	w.leave()
	w.visitors++
	w.visitor = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.c.namespace, Name: fmt.Sprintf("visitor-%d", w.visitors)},
		Spec:       corev1.PodSpec{NodeName: w.c.databaseNode, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	w.c.must(api.Create(w.c.t.Context(), w.visitor))
}

// leave: the Pod of another owner goes.
func (w *world) leave() {
	w.c.t.Helper()
	if w.visitor != nil {
		w.c.must(client.IgnoreNotFound(api.Delete(w.c.t.Context(), w.visitor, client.GracePeriodSeconds(0))))
	}
}

// meddle edits a run now and then while its status is being written, so that the write meets a conflict, and removes Pods that
// have ended: what was seen of an attempt cannot be seen again.
func (w *world) meddle(owner client.Object) {
	if w.rng.IntN(4) > 0 {
		return
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/note":"%d"}}}`, w.rng.Int()))
	edited := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: owner.GetName()}}
	w.c.must(api.Patch(w.c.t.Context(), edited, patch))
	for name := range w.records {
		w.c.must(client.IgnoreNotFound(api.DeleteAllOf(w.c.t.Context(), &corev1.Pod{}, client.InNamespace(w.c.namespace),
			client.MatchingLabels{"batch.kubernetes.io/job-name": name}, client.GracePeriodSeconds(0))))
	}
}

// OpenLog implements LogOpener: now and then a log cannot be read, and every second Pod's log cannot be followed. That is tried
// while the world has its dice.
func (w *world) OpenLog(_ context.Context, _, pod string, of corev1.PodLogOptions) (io.ReadCloser, error) {
	switch {
	case of.Follow && crc32.ChecksumIEEE([]byte(pod+w.c.namespace))%2 == 0:
		return nil, errors.New("the kubelet does not answer")
	case !of.Follow && w.rng.IntN(4) == 0 && (w.logFailures == 0 || w.failed[pod] < w.logFailures):
		w.failed[pod]++
		return nil, errors.New("the kubelet does not answer")
	}
	return io.NopCloser(bytes.NewReader(w.c.logs[pod])), nil
}

// noRecordDeleted fails if a record that was once there is gone, or is another one.
func (w *world) noRecordDeleted() {
	w.c.t.Helper()
	var configs corev1.ConfigMapList
	w.c.must(api.List(w.c.t.Context(), &configs, client.InNamespace(w.c.namespace),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentAttempt}))
	now := map[string]types.UID{}
	for _, cm := range configs.Items {
		now[cm.Name] = cm.UID
	}
	for name, uid := range w.records {
		if now[name] != uid {
			w.c.t.Fatalf("record %s was %s and is %q", name, uid, now[name])
		}
	}
	w.records = now
}

// A termination message has no room for all of these warnings, settings and latencies. The record has them from the document,
// the results have them from the record, and the status has as many as it may hold.
func TestEnvtestRecordIsCompletedFromTheDocument(t *testing.T) {
	const warnings = 40
	var want []string
	var findings []finding.Finding
	for i := range warnings {
		want = append(want, fmt.Sprintf("warning %02d: %s", i, strings.Repeat("x", 400)))
		findings = append(findings, finding.OfProgram(want[i]))
	}
	c := newCluster(t)
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		document := testutil.Document(pod.UID, 1, 1, 1000)
		document.Findings = findings
		document.Inputs = []result.Input{{Name: strings.Repeat("i", 4000), SHA256: "feed"}}
		document.Latencies = append(document.Latencies, result.Latency{Operation: strings.Repeat("l", 4000), Count: 1})
		c.leave(job, pod, document)
		left, err := result.DecodeSummary(pod.Status.ContainerStatuses[0].State.Terminated.Message)
		c.must(err)
		if len(left.Findings)+len(left.Inputs)+len(left.Latencies) != 0 {
			t.Errorf("the termination message has room for more than was thought: %+v", left)
		}
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)

	var attempt, results corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t1-a1"}, &attempt))
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &results))
	record, err := result.DecodeRecord(attempt.Data[result.RecordKey])
	c.must(err)
	must.Same(t, "findings of the record", findings, record.Summary.Findings)
	if s := record.Summary; len(s.Inputs) != 1 || len(s.Latencies) != 2 {
		t.Errorf("the record has %d inputs and %d latencies", len(s.Inputs), len(s.Latencies))
	}
	for _, w := range want {
		must.Has(t, results.Data["summary.md"], "- "+w+"\n")
	}
	must.Same(t, "warnings of the status", append(want[:31:31], "9 more, see the results"), run.Status.FindingTexts())
}

var errKilled = errors.New("the manager was killed")

// mortal is a client that dies after its n-th write: the write takes place, its answer is never seen.
type mortal struct {
	writes, dieAfter int
	dead             bool
	// leases are the numbers of the writes of Leases.
	leases []int
}

// note a write that is about to take place.
func (m *mortal) note(o client.Object) {
	if _, lease := o.(*coordinationv1.Lease); lease {
		m.leases = append(m.leases, m.writes+1)
	}
}

func (m *mortal) write(do func() error) error {
	if m.dead {
		return errKilled
	}
	err := do()
	if m.writes++; m.writes == m.dieAfter {
		m.dead = true
		return errKilled
	}
	return err
}

func (m *mortal) client() client.Client {
	return interceptor.NewClient(api, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			m.note(o)
			return m.write(func() error { return c.Create(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			m.note(o)
			return m.write(func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			return m.write(func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return m.write(func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return m.write(func() error { return c.Update(ctx, o, opts...) })
		},
	})
}

// TestEnvtestWritesPerTrial counts what a trial on a reused database costs the API server, Events not counted: the Job, the
// status that names it, the record, the status that names this, the Job's deletion.
func TestEnvtestWritesPerTrial(t *testing.T) {
	writes := func(trials int32) int {
		c := newCluster(t)
		m := &mortal{}
		c.reconciler.Client = m.client()
		c.apply(testutil.MakeRun("run", "").Repetitions(trials).Obj())
		c.until("run", v1alpha1.ConditionComplete)
		return m.writes
	}
	few, many := writes(2), writes(6)
	perTrial := float64(many-few) / 4
	fmt.Printf("API writes per trial: %.2f\n", perTrial)
	if perTrial > 5 {
		t.Errorf("a trial takes %.2f API writes (2 trials: %d, 6 trials: %d), want 5", perTrial, few, many)
	}
}

// outcome is everything that must not depend on when the manager was killed.
type outcome struct {
	Attempts []string
	Jobs     map[string]int
	Answer   string
	Progress string
	Complete bool
}

// TestEnvtestCrashAfterEveryWrite kills the manager after its n-th write, for every n of a whole run with an invalidated
// attempt, and starts another: the end is the same each time, and no Job is made twice.
func TestEnvtestCrashAfterEveryWrite(t *testing.T) {
	t.Parallel()
	crashEverywhere(t, testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(1).Obj(), "scenarios/crash.json")
}

// TestEnvtestCrashWithVariants does the same to a run whose variants are measured in slices: two servers, which are new in the second
// round, and one loader.
func TestEnvtestCrashWithVariants(t *testing.T) {
	t.Parallel()
	crashEverywhere(t, withVariants(), "")
}

func withVariants() *v1alpha1.BenchmarkRun {
	return testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Variants = []v1alpha1.Variant{{Name: "durable"}, {
			Name: "lazy", Database: &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}},
		}}
		r.Spec.Rounds = &v1alpha1.RoundsSpec{AtMost: 2, AtLeast: 6, Until: v1alpha1.RoundsAll}
		r.Spec.Trials.Repetitions = nil
	}).Obj()
}

func crashEverywhere(t *testing.T, run *v1alpha1.BenchmarkRun, recording string) {
	t.Helper()
	want, writes := crashAfter(t, 0, run, recording)
	if !want.Complete {
		t.Fatalf("the run that is not killed: %+v", want)
	}
	var all []int
	for n := range writes {
		all = append(all, n+1)
	}
	killedAfter(t, all, func(t *testing.T, n int) {
		got, _ := crashAfter(t, n, run, "")
		must.Same(t, fmt.Sprintf("killed after write %d of %d, as undisturbed", n, writes), want, got)
	})
	fmt.Printf("crash after every write: n = %d\n", writes)
}

// killedAfter runs a scenario for each of these writes, after which the manager is killed; several at a time.
func killedAfter(t *testing.T, writes []int, scenario func(t *testing.T, n int)) {
	t.Helper()
	for _, n := range writes {
		t.Run(fmt.Sprintf("write %d", n), func(t *testing.T) {
			t.Parallel()
			scenario(t, n)
		})
	}
}

func crashAfter(t *testing.T, n int, made *v1alpha1.BenchmarkRun, recording string) (outcome, int) {
	t.Helper()
	c := newCluster(t)
	m := &mortal{dieAfter: n}
	c.reconciler.Client = m.client()
	fine := c.loader
	c.loader = c.failSilently("")
	c.apply(made.DeepCopy())
	settled := 0
	w := newWorld(c, rand.New(rand.NewPCG(uint64(n), 0)))
	for range 400 {
		w.pass()
		_, err := c.reconciler.Reconcile(t.Context(), ctrl.Request{
			NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: "run"},
		})
		switch {
		case m.dead:
			m.dead, m.dieAfter = false, 0
			c.reconciler = c.newReconciler() // another manager takes over, and remembers nothing
			c.reconciler.Client = m.client()
		case err != nil:
			t.Fatalf("killed after write %d: reconciling: %v", n, err)
		}
		c.react()
		if len(c.jobs) > 0 {
			c.loader = fine // the first attempt was disturbed, the others are not
		}
		if apimeta.IsStatusConditionTrue(c.get("run").Status.Conditions, v1alpha1.ConditionFinished) {
			if settled++; settled > 6 {
				break
			}
		}
	}
	run := c.get("run")
	w.leave()
	c.nothingRuns()
	if recording != "" {
		c.frozen(recording, "run")
	}
	return outcome{
		Attempts: c.attemptNames(), Jobs: c.jobs, Answer: run.Status.Answer.Detail, Progress: run.Status.Progress,
		Complete: apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete),
	}, m.writes
}
