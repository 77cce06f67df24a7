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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
)

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
	if again := c.reconcile("run"); again.RequeueAfter != staleRetry {
		t.Errorf("looked at again after %s", again.RequeueAfter)
	}
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
