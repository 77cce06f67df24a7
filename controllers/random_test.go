//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// chance makes specifications by chance: every field is sometimes there, mostly with a value that is allowed.
type chance struct{ *rand.Rand }

func (c chance) pick(values ...any) any { return values[c.IntN(len(values))] }

// sometimes sets a field in one of n cases.
func (c chance) sometimes(n int, into map[string]any, key string, value func() any) {
	if c.IntN(n) == 0 {
		into[key] = value()
	}
}

func (c chance) spec() map[string]any {
	s := map[string]any{"database": c.database(), "workload": c.workload()}
	c.sometimes(5, s, "sweep", func() any { return map[string]any{"mode": c.pick("Grid", "OneFactor", "List")} })
	c.sometimes(2, s, "trials", c.trials)
	c.sometimes(3, s, "loader", c.loader)
	c.sometimes(4, s, "placement", func() any { return c.pick("SameNode", "Any", "Nowhere") })
	c.sometimes(3, s, "seed", func() any { return c.pick(int64(0), int64(42), int64(9007199254740991), int64(-1)) })
	c.sometimes(4, s, "suspend", func() any { return c.pick(true, false) })
	c.sometimes(4, s, "cleanup", func() any { return c.pick("Always", "OnSuccess", "Never") })
	c.sometimes(4, s, "ttlSecondsAfterFinished", func() any { return c.pick(int64(0), int64(60)) })
	c.sometimes(4, s, "results", func() any { return map[string]any{"retention": c.pick("WithRun", "Retain")} })
	c.sometimes(40, s, "repetitions", func() any { return int64(3) })
	return s
}

func (c chance) database() map[string]any {
	d := map[string]any{}
	c.sometimes(2, d, "image", func() any { return c.pick("mariadb:11.8", "registry.example/mariadb@sha256:"+fmt.Sprintf("%064d", 1)) })
	c.sometimes(2, d, "settings", func() any {
		s := map[string]any{}
		c.sometimes(2, s, "bufferPoolSize", func() any { return c.pick("128Mi", "1Gi", "1e9", "100Gi", "1Mi", "big") })
		c.sometimes(2, s, "redoLogSize", func() any { return c.pick("96Mi", "4194304", "1Ki") })
		c.sometimes(2, s, "flushLogAtTrxCommit", func() any { return c.pick(int64(0), int64(1), int64(3), int64(4)) })
		c.sometimes(2, s, "binaryLog", func() any { return c.pick(true, false) })
		return s
	})
	c.sometimes(3, d, "variables", func() any {
		return c.pick(
			map[string]any{"sync_binlog": "1", "sql_mode": "A,B"}, map[string]any{"init_connect": `SET @x = "#';\"`},
			map[string]any{"log_bin": "OFF"}, map[string]any{"a": "b\nc"}, map[string]any{"loose_x": ""}, map[string]any{"Upper": "1"})
	})
	c.sometimes(3, d, "storage", func() any {
		return c.pick(
			map[string]any{"size": "1Gi"}, map[string]any{"medium": "Memory", "size": "512Mi"},
			map[string]any{"medium": "NodeDisk", "size": "2Gi"}, map[string]any{"medium": "Memory", "storageClassName": "x"},
			map[string]any{"storageClassName": "fast"})
	})
	c.sometimes(3, d, "resources", func() any {
		return c.pick(
			map[string]any{"limits": map[string]any{"cpu": "2", "memory": "4Gi"}},
			map[string]any{"limits": map[string]any{"memory": "1Gi"}, "requests": map[string]any{"memory": "2Gi"}},
			map[string]any{"requests": map[string]any{"cpu": "500m"}})
	})
	c.sometimes(4, d, "nodeSelector", func() any {
		return c.pick(map[string]any{"disk": "nvme"}, map[string]any{"not a label!": "x"})
	})
	c.sometimes(4, d, "tolerations", func() any {
		return []any{map[string]any{"key": "bench", "operator": c.pick("Exists", "Equal"), "effect": "NoSchedule"}}
	})
	return d
}

func (c chance) workload() map[string]any {
	w := map[string]any{"type": c.pick("CommitSize", "CommitSize", "CommitSize", "CommitSize", "Nothing")}
	member := map[string]any{}
	c.sometimes(2, member, "rows", func() any { return c.pick(int64(1), int64(1000), int64(1000000000), int64(0)) })
	c.sometimes(3, member, "rowsPerCommit", func() any { return c.pick(int64(1), int64(100), int64(5000)) })
	c.sometimes(3, member, "asPublished", func() any { return c.pick("None", "Isotopp") })
	c.sometimes(2, member, "sweep", c.sweep)
	c.sometimes(6, member, "points", func() any { return []any{map[string]any{"rowsPerCommit": int64(1)}} })
	if c.IntN(10) > 0 {
		w["commitSize"] = member
	}
	c.sometimes(3, w, "limits", func() any { return map[string]any{"seconds": c.pick(int64(1), int64(15552000), int64(0))} })
	return w
}

func (c chance) sweep() any {
	values := []any{}
	for i := range c.IntN(40) + 1 {
		values = append(values, int64(i+1))
	}
	values = c.pick(values, values, values, []any{int64(1), int64(1)}, []any{"x"}, []any{}).([]any)
	return map[string]any{c.pick("rowsPerCommit", "rowsPerCommit", "rowsPerCommit", "rows").(string): values}
}

func (c chance) trials() any {
	t := map[string]any{}
	c.sometimes(2, t, "repetitions", func() any { return c.pick(int64(1), int64(100), int64(101)) })
	c.sometimes(4, t, "precision", func() any { return map[string]any{"targetRelativeCIPercent": c.pick(int64(2), int64(0))} })
	c.sometimes(2, t, "order", func() any { return c.pick("Interleaved", "Shuffled", "Sequential") })
	c.sometimes(2, t, "server", func() any { return c.pick("Reused", "PerTrial") })
	c.sometimes(5, t, "data", func() any { return c.pick("Recreate", "Keep") })
	c.sometimes(3, t, "maxInvalid", func() any { return c.pick(int64(0), int64(1000), int64(-1)) })
	c.sometimes(3, t, "deadlineSeconds", func() any { return c.pick(int64(10), int64(15552000), int64(1)) })
	return t
}

func (c chance) loader() any {
	l := map[string]any{}
	c.sometimes(4, l, "pods", func() any { return c.pick(int64(1), int64(2)) })
	c.sometimes(2, l, "separateFromDatabase", func() any { return c.pick("Preferred", "Required", "None") })
	c.sometimes(2, l, "scratch", func() any { return c.pick(map[string]any{}, map[string]any{"size": "1Gi"}) })
	c.sometimes(3, l, "resources", func() any { return map[string]any{"limits": map[string]any{"cpu": "100m", "memory": "64Mi"}} })
	return l
}

// TestEnvtestRandomSpecifications puts specifications that were made by chance before a real API server. What it refuses it
// refuses with a sentence; of what it allows nothing is lost, and the operator makes a plan and objects of it, which the
// API server then allows too, or refuses with a sentence that ends the run.
func TestEnvtestRandomSpecifications(t *testing.T) {
	const specifications = 1500
	c := newCluster(t)
	var allowed, refused int
	for seed := range uint64(specifications) {
		spec := chance{rand.New(rand.NewPCG(seed, 1))}.spec()
		object := &unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(spec)}}
		object.SetAPIVersion(v1alpha1.GroupVersion.String())
		object.SetKind("BenchmarkRun")
		object.SetName("random")
		object.SetNamespace(c.namespace)
		err := api.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
		switch {
		case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
			refused++
			continue
		case err != nil:
			t.Fatalf("seed %d: %v", seed, err)
		}
		allowed++
		must.Same(t, fmt.Sprintf("seed %d", seed), "", missing(spec, object.Object["spec"], "spec"))
		c.carriesOut(seed, object)
	}
	if allowed < specifications/20 || refused < specifications/20 {
		t.Errorf("%d allowed and %d refused: the test says little", allowed, refused)
	}
	t.Logf("%d specifications allowed, %d refused", allowed, refused)
}

// carriesOut checks that a specification which was allowed leads to objects.
func (c *cluster) carriesOut(seed uint64, object *unstructured.Unstructured) {
	c.t.Helper()
	var run v1alpha1.BenchmarkRun
	c.must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &run))
	run.UID = "01234567-89ab-cdef-0123-456789abcdef"
	p, err := validation.PlanRun(&run)
	if err != nil {
		return // the run ends with this sentence, before anything is created
	}
	if len(p.Trials) == 0 || len(p.Trials) > plan.MaxTrials {
		c.t.Errorf("seed %d: the plan has %d trials", seed, len(p.Trials))
		return
	}
	objects, err := database.Objects(&run, 1, "node", c.reconciler.Images)
	if err != nil {
		c.t.Errorf("seed %d: %v", seed, err)
		return
	}
	made := []client.Object{}
	for _, o := range objects {
		made = append(made, o)
	}
	last := p.Trials[len(p.Trials)-1]
	job, err := trial.Job(&run, trial.Attempt{Trial: last, Point: p.Points[last.Point], Number: 1, Instance: 1}, c.reconciler.Images)
	if err != nil {
		c.t.Errorf("seed %d: %v", seed, err)
		return
	}
	for _, o := range append(made, job) {
		if err := api.Create(c.t.Context(), o, client.DryRunAll); err != nil && !apierrors.IsInvalid(err) {
			c.t.Errorf("seed %d: %T: %v", seed, o, err)
		}
	}
}

// missing finds the first value that was asked for and is not there.
func missing(requested, have any, path string) string {
	switch requested := requested.(type) {
	case map[string]any:
		got, ok := have.(map[string]any)
		if !ok {
			return path
		}
		for key, value := range requested {
			if lost := missing(value, got[key], path+"."+key); lost != "" {
				return lost
			}
		}
	case []any:
		got, ok := have.([]any)
		if !ok || len(got) != len(requested) {
			return path
		}
		for i := range requested {
			if lost := missing(requested[i], got[i], fmt.Sprintf("%s[%d]", path, i)); lost != "" {
				return lost
			}
		}
	default:
		if !reflect.DeepEqual(requested, have) {
			return path
		}
	}
	return ""
}

// lag is a cache that is behind the API server: of each kind it has the state of some steps ago, of each another. It never goes
// back, as an informer never does.
type lag struct {
	c       *cluster
	rng     *rand.Rand
	history map[reflect.Type][]client.ObjectList
	at      map[reflect.Type]int
	// meddle is what another writer does to an owner right before its status is written, or nil.
	meddle func(client.Object)
}

func newLag(c *cluster, seed uint64) *lag {
	return &lag{c: c, rng: rand.New(rand.NewPCG(seed, 0)), history: map[reflect.Type][]client.ObjectList{}, at: map[reflect.Type]int{}}
}

// maxLag is by how many steps a kind may be behind.
const maxLag = 6

// pass a step: what there is now is added to the history, and each kind catches up with some of it.
func (l *lag) pass() {
	configs := &metav1.PartialObjectMetadataList{}
	configs.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	for _, list := range []client.ObjectList{
		&v1alpha1.BenchmarkRunList{}, &batchv1.JobList{}, &corev1.PodList{}, configs, &appsv1.StatefulSetList{}, &corev1.ServiceList{},
		&corev1.PersistentVolumeClaimList{}, &policyv1.PodDisruptionBudgetList{}, &coordinationv1.LeaseList{},
	} {
		l.c.list(list)
		kind := reflect.TypeOf(list)
		l.history[kind] = append(l.history[kind], list)
		newest := len(l.history[kind]) - 1
		l.at[kind] = max(newest-maxLag, min(newest, l.at[kind]+l.rng.IntN(3)))
	}
}

// behind is the client of an operator with that cache.
func (l *lag) behind() client.Client {
	return interceptor.NewClient(api, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			switch o := o.(type) {
			case *v1alpha1.BenchmarkRun:
				return named(key.Name, o, l.state(&v1alpha1.BenchmarkRunList{}).(*v1alpha1.BenchmarkRunList).Items)
			case *coordinationv1.Lease:
				return named(key.Name, o, l.state(&coordinationv1.LeaseList{}).(*coordinationv1.LeaseList).Items)
			default:
				return fmt.Errorf("%T is not read by name from the cache", o)
			}
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			var options client.ListOptions
			options.ApplyOptions(opts)
			items, err := apimeta.ExtractList(l.state(list))
			if err != nil {
				return err
			}
			items = slices.DeleteFunc(items, func(o runtime.Object) bool {
				return options.LabelSelector != nil && !options.LabelSelector.Matches(labels.Set(o.(client.Object).GetLabels()))
			})
			return apimeta.SetList(list, items)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption,
		) error {
			if l.meddle != nil {
				l.meddle(o)
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	})
}

// named copies the object of a list that has the name.
func named[T any, P interface {
	*T
	client.Object
	DeepCopyInto(*T)
}](name string, into P, items []T) error {
	for i := range items {
		if item := P(&items[i]); item.GetName() == name {
			item.DeepCopyInto(into)
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "any"}, name)
}

func (l *lag) state(list client.ObjectList) client.ObjectList {
	kind := reflect.TypeOf(list)
	return l.history[kind][l.at[kind]].DeepCopyObject().(client.ObjectList)
}

// Decisions that are made on a cache that is behind end as those on the API server itself: no attempt is lost that was not, no
// Job is made twice, no database is used twice. Meanwhile the world changes between any two looks.
func TestEnvtestCacheThatIsBehind(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			l := newLag(c, seed)
			w := newWorld(c, l.rng)
			l.meddle = w.meddle
			c.reconciler.Client, c.reconciler.Logs = l.behind(), w
			// Half of the loaders are still said to run after they have delivered.
			awaited := c.follows()
			c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				if l.rng.IntN(2) == 0 {
					c.succeed(job, pod)
				} else {
					c.delivers(job, pod)
				}
			}
			c.apply(lagging(seed))
			for range 800 {
				w.pass()
				l.pass()
				if _, err := c.try("run"); err != nil {
					t.Logf("to be tried again: %v", err)
				}
				awaited()
				c.reportEnds(func() bool { return l.rng.IntN(4) == 0 })
				c.react()
				if apimeta.IsStatusConditionTrue(c.get("run").Status.Conditions, v1alpha1.ConditionFinished) {
					break
				}
			}
			c.allAccepted("run", 4)
			w.noRecordDeleted()
			frozen.Check(t, fmt.Sprintf("scenarios/lag-%d.json", seed), c.endOf("run"))
		})
	}
}

// lagging is a run of four trials: with one server or several and, of the last two seeds, with variants.
func lagging(seed uint64) *v1alpha1.BenchmarkRun {
	run := testutil.MakeRun("run", "").Sweep(1, 2).Repetitions(2).Obj()
	if seed >= 6 {
		run = withVariants()
		run.Spec.Alternation = []v1alpha1.Alternation{v1alpha1.AlternateTrials, v1alpha1.AlternateRuns}[seed%2]
	} else if seed%2 == 1 {
		run.Spec.Trials.Server = v1alpha1.ServerPerTrial
	}
	return run
}

// Nothing is decided about a run that is older than what was decided about before: the cache is behind. If the API server itself
// has nothing newer, it was restored from a backup, and the operator goes on with what there is.
func TestEnvtestOlderRunIsNotDecidedAbout(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	m := &mortal{}
	old, behind := c.get("run"), false
	c.reconciler.Client = interceptor.NewClient(m.client().(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, k client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if run, ok := o.(*v1alpha1.BenchmarkRun); ok && behind {
				old.DeepCopyInto(run)
				return nil
			}
			return k.Get(ctx, key, o, opts...)
		},
	})
	for c.jobs["run-t1-a1"] == 0 {
		c.reconcile("run")
		c.react()
	}
	behind = true
	before := m.writes
	if again := c.reconcile("run"); again.RequeueAfter != staleRetry || m.writes != before {
		t.Errorf("%d writes with an old run, looked at again after %s", m.writes-before, again.RequeueAfter)
	}
	behind = false
	c.reconciler.memories.of(old).version = "9" + c.get("run").ResourceVersion
	must.Same(t, "looked at again after", staleRetry, c.reconcile("run").RequeueAfter)
	c.until("run", v1alpha1.ConditionComplete)
	c.allAccepted("run", 1)
}

// An operator that has just started may read a run that is behind. What that run says of its newest attempt does not count later.
func TestEnvtestStartBehindAnAttempt(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	for c.jobs["run-t1-a1"] == 0 {
		c.reconcile("run")
		c.react()
	}
	old := c.get("run")
	want := c.until("run", v1alpha1.ConditionComplete).Status.Attempt

	c.reconciler = c.newReconciler()
	upToDate := c.reconciler.Client
	c.reconciler.Client = interceptor.NewClient(api, interceptor.Funcs{
		Get: func(ctx context.Context, k client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if run, ok := o.(*v1alpha1.BenchmarkRun); ok {
				old.DeepCopyInto(run)
				return nil
			}
			return k.Get(ctx, key, o, opts...)
		},
	})
	_, err := c.try("run")
	t.Logf("with an old run: %v", err)
	c.reconciler.Client = upToDate
	c.reconcile("run")
	if got := c.get("run").Status.Attempt; got != want {
		t.Errorf("the newest attempt is %v, was %v", got, want)
	}
}
