//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// installed are two installations that see the same runs, each with the Leases of its lanes in a namespace of its own.
type installed struct {
	*cluster
	one, two *RunReconciler
	leases   map[*RunReconciler]string
}

func newInstalled(t *testing.T) *installed {
	t.Helper()
	c := newCluster(t)
	i := &installed{cluster: c, one: c.newReconciler(), two: c.newReconciler(), leases: map[*RunReconciler]string{}}
	for r, name := range map[*RunReconciler]string{i.one: "one", i.two: "two"} {
		other := newCluster(t).namespace
		r.LaneNamespace, r.HostNamespace, i.leases[r] = other, other, other
		r.Installation = &Installation{Namespace: other, Name: name, Live: &Live{Reader: api}, Clock: c.clock}
		i.renew(r)
	}
	return i
}

// renew the Lease by which the managers of an installation elect their leader.
func (i *installed) renew(r *RunReconciler) {
	i.t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: i.leases[r], Name: "manager", Labels: map[string]string{LabelInstallation: r.Installation.Name},
	}}
	err := api.Get(i.t.Context(), client.ObjectKeyFromObject(lease), lease)
	if apierrors.IsNotFound(err) {
		err = api.Create(i.t.Context(), lease)
	}
	i.must(err)
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(i.clock.Now()))
	i.must(api.Update(i.t.Context(), lease))
}

// takes a turn of an installation, whatever comes of it.
func (i *installed) takes(r *RunReconciler, name string) {
	i.t.Helper()
	i.reconciler = r
	for range 5 {
		if _, err := i.try(name); err != nil {
			i.t.Logf("to be tried again: %v", err)
		}
	}
}

// claims takes a step of an installation that claims a run as it was read.
func (i *installed) claims(r *RunReconciler, run *v1alpha1.BenchmarkRun) (*runStep, error) {
	return r.takeStep(i.t.Context(), claimant, run)
}

// lanes that an installation holds.
func (i *installed) held(r *RunReconciler) int {
	i.t.Helper()
	var leases coordinationv1.LeaseList
	i.must(api.List(i.t.Context(), &leases, client.InNamespace(i.leases[r]), client.HasLabels{v1alpha1.LabelLane}))
	return len(leases.Items)
}

func TestEnvtestOneInstallationActs(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").Obj())
	i.takes(i.one, "run")
	i.takes(i.two, "run")
	must.Same(t, "who acts", i.one.Installation.identity(), i.get("run").Status.Installation)
	if one, two := i.held(i.one), i.held(i.two); one != 1 || two != 0 {
		t.Errorf("lanes that are held: %d by the first, %d by the second", one, two)
	}
	i.reconciler = i.one
	i.until("run", v1alpha1.ConditionComplete)
}

// The other one takes over when no manager of the first has renewed its Lease for a while, and not before: its manager may be
// updated.
func TestEnvtestInstallationThatIsGone(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.StartDeadlineSeconds = 3600
	}).Obj())
	i.takes(i.one, "run")
	i.clock.Step(goneAfter - time.Minute)
	i.takes(i.two, "run")
	if got := i.held(i.two); got != 0 {
		t.Fatalf("the second has %d lanes while the first is there", got)
	}
	i.clock.Step(2 * time.Minute)
	i.takes(i.two, "run")
	must.Same(t, "who acts", i.two.Installation.identity(), i.get("run").Status.Installation)
	i.until("run", v1alpha1.ConditionComplete)
}

// What has finished needs an installation too: it is deleted when its time is over. The other one takes that over as well, and
// not before.
func TestEnvtestFinishedRunOfAnInstallationThatIsGone(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.TTLSecondsAfterFinished = ptr.To[int32](3600)
	}).Obj())
	i.reconciler = i.one
	i.until("run", v1alpha1.ConditionComplete)
	i.clock.Step(2 * time.Hour)
	i.renew(i.one)
	i.takes(i.two, "run")
	if got, want := i.get("run").Status.Installation, i.one.Installation.identity(); got != want {
		t.Fatalf("%q acts while the first is there, want %q", got, want)
	}
	i.clock.Step(goneAfter + time.Minute)
	i.takes(i.two, "run")
	if err := i.exists(&v1alpha1.BenchmarkRun{}, "run"); !apierrors.IsNotFound(err) {
		t.Errorf("the run is still there: %v", err)
	}
}

// Who may not read the Leases of the other one leaves its runs alone until they are long past their deadline: none acts then.
func TestEnvtestInstallationThatMayNotBeRead(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").Obj())
	i.takes(i.one, "run")
	i.two.Installation.Live = &Live{Reader: forbidden{api}}
	i.clock.SetTime(i.get("run").Status.Deadline.Time)
	i.takes(i.two, "run")
	must.Same(t, "who acts", i.one.Installation.identity(), i.get("run").Status.Installation)
	i.clock.Step(goneAfter + time.Minute)
	i.takes(i.two, "run")
	must.Same(t, "who acts", i.two.Installation.identity(), i.get("run").Status.Installation)
	i.until("run", v1alpha1.ConditionFailed)
}

type forbidden struct{ client.Reader }

func (forbidden) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "", nil)
}

// Of two that look at a new run at the same time, with the same version of it, one acts; and not before everybody can see that.
func TestEnvtestInstallationsAtTheSameTime(t *testing.T) {
	for _, suspended := range []bool{false, true} {
		i := newInstalled(t)
		i.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = &suspended }).Obj())
		one, two := i.get("run"), i.get("run")
		must.Get(i.claims(i.one, one))(t)
		if _, err := i.claims(i.two, two); !apierrors.IsConflict(err) {
			t.Errorf("the second: %v, want a conflict", err)
		}
		if one, two := i.held(i.one), i.held(i.two); one != 0 || two != 0 {
			t.Errorf("lanes that are held by claimants: %d by the first, %d by the second", one, two)
		}
		status := i.get("run").Status
		must.Same(t, "who acts", i.one.Installation.identity(), status.Installation)
		if reported := len(status.Conditions) > 0; reported != suspended { // before it acts, a run that may go has nothing to say
			t.Errorf("suspended %t: the first status has conditions: %v", suspended, status.Conditions)
		}
	}
}

// A claim is what a claimant saw, not what came meanwhile.
func TestEnvtestClaimOfAnOwnerThatChanged(t *testing.T) {
	i := newInstalled(t)
	i.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.StartDeadlineSeconds = 3600
	}).Obj())
	seen := i.get("run")
	i.takes(i.one, "run")
	i.clock.SetTime(i.get("run").Status.Deadline.Add(time.Minute)) // that it failed is decided by live reads
	seen.Status.Deadline = i.get("run").Status.Deadline
	if _, err := i.claims(i.two, seen); !isStale(err) {
		t.Errorf("the second: %v, want that it is stale", err)
	}
	must.Same(t, "who acts", i.one.Installation.identity(), i.get("run").Status.Installation)
}

// pageIn is the page among results. It is whole, and has a plot, and what else it is to have.
func pageIn(t *testing.T, results *corev1.ConfigMap, name string, more ...string) {
	t.Helper()
	text := must.Get(result.UnpackFile(page.File, results.BinaryData))(t)
	for _, want := range append([]string{"<!DOCTYPE html>", "<title>" + name, "<svg", "</html>"}, more...) {
		if !bytes.Contains(bytes.ToLower(text), bytes.ToLower([]byte(want))) {
			t.Errorf("the page lacks %q:\n%.2000s", want, text)
		}
	}
}

// refusing is a client whose creations of some objects the cluster refuses, as a quota does.
func refusing(refused func(client.Object) bool) client.Client {
	return interceptor.NewClient(api, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if refused(o) {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, o.GetName(), errors.New("exceeded quota: none"))
			}
			return c.Create(ctx, o, opts...)
		},
	})
}

// try is a reconcile that may fail.
func (c *cluster) try(name string) (ctrl.Result, error) {
	return c.reconciler.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: name}})
}

func (c *cluster) condition(name, conditionType string) metav1.Condition {
	c.t.Helper()
	return *apimeta.FindStatusCondition(c.get(name).Status.Conditions, conditionType)
}

// A record that the cluster refuses loses nothing: the Job and its Pod stay, the condition says what is the matter, and once the
// cluster takes it the run goes on.
func TestEnvtestRefusedRecordIsKept(t *testing.T) {
	c := newCluster(t)
	full := true
	c.reconciler.Client = refusing(func(o client.Object) bool { return full && o.GetName() == "run-t1-a1" && !isJob(o) })
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	for range 30 {
		if _, err := c.try("run"); err != nil {
			t.Logf("to be tried again: %v", err)
		}
		c.react()
	}
	if available := c.condition("run", v1alpha1.ConditionResultsAvailable); available.Reason != v1alpha1.ReasonResultsNotWritten {
		t.Errorf("ResultsAvailable is %s: %s", available.Reason, available.Message)
	}
	ready := c.condition("run", v1alpha1.ConditionReady)
	for _, says := range []string{"trial 1 has measured 1001 rows/s", "ConfigMap run-t1-a1 cannot be written", "exceeded quota"} {
		if ready.Reason != v1alpha1.ReasonRetrying || !strings.Contains(ready.Message, says) {
			t.Errorf("Ready is %s: %s; want %q", ready.Reason, ready.Message, says)
		}
	}
	if c.jobs["run-t1-a1"] != 1 || c.exists(&batchv1.Job{}, "run-t1-a1") != nil {
		t.Error("the Job is gone")
	}
	full = false
	done := c.until("run", v1alpha1.ConditionComplete)
	if done.Status.Progress != "2/2" || c.jobs["run-t1-a1"] != 1 {
		t.Errorf("%s measured, Jobs %v", done.Status.Progress, c.jobs)
	}
}

func isJob(o client.Object) bool {
	_, ok := o.(*batchv1.Job)
	return ok
}

// exists is nil if an object exists.
func (c *cluster) exists(o client.Object, name string) error {
	return api.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, o)
}

// Results that can never be written do not keep the database for ever: at the run's deadline it ends, with its numbers in the
// status.
func TestEnvtestResultsThatCannotBeWritten(t *testing.T) {
	for name, taken := range map[string]func(*cluster){
		"quota": func(c *cluster) {
			c.reconciler.Client = refusing(func(o client.Object) bool { return o.GetName() == "run-results" })
		},
		"a stranger's ConfigMap": func(c *cluster) {
			c.must(api.Create(c.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run-results", Namespace: c.namespace}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			taken(c)
			c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
				r.Spec.DeadlineSeconds, r.Spec.TTLSecondsAfterFinished = ptr.To[int32](600), ptr.To[int32](60)
			}).Obj())
			failed := c.patiently("run", v1alpha1.ConditionFinished)
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != v1alpha1.ReasonDeadlineExceeded || !strings.Contains(condition.Message, "ConfigMap run-results") {
				t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
			}
			if available := c.condition("run", v1alpha1.ConditionResultsAvailable); available.Reason != v1alpha1.ReasonResultsNotWritten {
				t.Errorf("ResultsAvailable is %s: %s", available.Reason, available.Message)
			}
			must.Same(t, "headline", "1001 rows/s (one trial)", failed.Status.Answer.Detail)
			c.settle("run")
			c.nothingRuns()
			c.clock.Step(time.Minute)
			c.settleGone("run")
		})
	}
}

// settleGone reconciles until a run is deleted.
func (c *cluster) settleGone(name string) {
	c.t.Helper()
	for range 10 {
		c.reconcile(name)
		if err := c.exists(&v1alpha1.BenchmarkRun{}, name); apierrors.IsNotFound(err) {
			return
		}
	}
	c.t.Errorf("%s is still there", name)
}

// An error that does not go away is told from the third time on, and ends the run at its deadline.
func TestEnvtestErrorThatDoesNotGoAway(t *testing.T) {
	c := newCluster(t)
	c.reconciler.Client = interceptor.NewClient(api, interceptor.Funcs{
		List: func(ctx context.Context, w client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, ok := list.(*corev1.ServiceList); ok {
				return errors.New("services is forbidden")
			}
			return w.List(ctx, list, opts...)
		},
	})
	c.apply(testutil.MakeRun("run", "").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.DeadlineSeconds = ptr.To[int32](600) }).Obj())
	for i := range 3 {
		if conditions := c.get("run").Status.Conditions; len(conditions) > 0 {
			t.Errorf("after %d tries it says %v", i, conditions)
		}
		if _, err := c.try("run"); err == nil {
			t.Fatal("a step without its objects")
		}
	}
	if ready := c.condition("run", v1alpha1.ConditionReady); ready.Reason != v1alpha1.ReasonRetrying || !strings.Contains(ready.Message, "services is forbidden") {
		t.Errorf("Ready is %s: %s", ready.Reason, ready.Message)
	}
	failed := c.patiently("run", v1alpha1.ConditionFinished)
	condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
	if condition.Reason != v1alpha1.ReasonDeadlineExceeded || !strings.Contains(condition.Message, "services is forbidden") {
		t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
	}
}

// A database that stays does not hold up the drain of its node.
func TestEnvtestNodesAreReleased(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Cleanup = v1alpha1.CleanupNever }).Obj())
	c.until("run", v1alpha1.ConditionFinished)
	c.settle("run")
	var budgets policyv1.PodDisruptionBudgetList
	if c.list(&budgets); len(budgets.Items) != 0 {
		t.Errorf("PodDisruptionBudget %s is left", budgets.Items[0].Name)
	}
	must.Do(t, c.exists(&corev1.Service{}, "run-db1"))
}

// A manager that was away for long, and meets a log that cannot be read at first, loses no measurement.
func TestEnvtestLogThatCannotBeReadAtFirst(t *testing.T) {
	c := newCluster(t)
	logs := &hiccups{LogOpener: c, times: 5}
	c.reconciler.Logs = logs
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		c.succeed(job, pod)
		pod.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.NewTime(c.clock.Now().Add(-time.Hour))
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.patiently("run", v1alpha1.ConditionComplete)
	if want := []string{"run-t1-a1 Accepted"}; !slices.Equal(c.attemptNames(), want) || logs.times != 0 {
		t.Errorf("attempts %v, %d hiccups left", c.attemptNames(), logs.times)
	}
}

// hiccups are logs that cannot be read some times.
type hiccups struct {
	LogOpener
	times int
}

func (h *hiccups) OpenLog(ctx context.Context, namespace, pod string, of corev1.PodLogOptions) (io.ReadCloser, error) {
	if h.times > 0 && !of.Follow {
		h.times--
		return nil, errors.New("the kubelet does not answer")
	}
	return h.LogOpener.OpenLog(ctx, namespace, pod, of)
}

// A tag that is moved while a run is under way invalidates what the other image measured.
func TestEnvtestImageThatChanges(t *testing.T) {
	c := newCluster(t)
	succeed := c.loader
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		succeed(job, pod)
		if job.Name == "run-t2-a1" {
			pod.Status.ContainerStatuses[0].ImageID = "loader@sha256:moved"
		}
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(2).Obj())
	c.until("run", v1alpha1.ConditionComplete)
	must.Same(t, "records", []string{"run-t1-a1 Accepted", "run-t2-a1 Invalidated", "run-t2-a2 Accepted"}, c.attemptNames())
	c.eventSays("ImageChanged: the loader's image is loader@sha256:moved")
}

// An operator that read a run before another one has finished it cannot take the end back.
func TestEnvtestEndIsNotTakenBack(t *testing.T) {
	c := newCluster(t)
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	c.reconcile("run")
	late := c.get("run")
	c.until("run", v1alpha1.ConditionComplete)
	before := late.DeepCopy()
	apimeta.FindStatusCondition(late.Status.Conditions, v1alpha1.ConditionReady).Message = "written late"
	if _, err := c.reconciler.writer(late).patchStatus(t.Context(), before); !isStale(err) {
		t.Errorf("writing the status of an old run: %v, want a conflict", err)
	}
	if got := c.get("run").Status; !apimeta.IsStatusConditionTrue(got.Conditions, v1alpha1.ConditionFinished) {
		t.Errorf("the end was taken back: %+v", got.Conditions)
	}
}
