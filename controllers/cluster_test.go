//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var (
	api client.WithWatch
	// reach is how the API server is reached.
	reach *rest.Config
)

func TestMain(m *testing.M) {
	os.Exit(testutil.RunWithEnvironment(m, func(e *envtest.Environment, c client.WithWatch) { api, reach = c, e.Config }, testutil.Remember))
}

// cluster plays the parts of Kubernetes that envtest lacks: the StatefulSet and Job controllers, the kubelet, and the
// garbage collector. Reconciles are called one by one, so that nothing in a test waits.
type cluster struct {
	t          *testing.T
	namespace  string
	reconciler *RunReconciler
	clock      *clocktesting.FakeClock
	events     *events.FakeRecorder
	logs       map[string][]byte
	// server is what happens to a database's Pod, and loader to a loader's; the defaults are that all goes well.
	server func(*corev1.Pod)
	loader func(*batchv1.Job, *corev1.Pod)
	// policy changes each Pod before it is made, as an admission policy does; nil if there is none.
	policy func(*corev1.Pod)
	// jobs counts how often a Job of each name was seen to be made, and counted has the UIDs of those.
	jobs    map[string]int
	counted map[types.UID]bool
	// ends are those of loaders that have delivered and still run, by the names of their Pods: the kubelet has yet to report them.
	ends map[string]*corev1.PodStatus
	// databaseNode is the database's node. host is what it is like, in tests that tune it.
	databaseNode string
	host         *fakeHost
	// stopping is how many turns a Pod without an owner takes to stop: it is being deleted meanwhile.
	stopping int
	stopped  map[string]int
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must.Do(t, api.Create(t.Context(), namespace))
	c := &cluster{
		t: t, namespace: namespace.Name, clock: clocktesting.NewFakeClock(time.Now()), events: events.NewFakeRecorder(1000),
		logs: map[string][]byte{}, jobs: map[string]int{}, counted: map[types.UID]bool{}, ends: map[string]*corev1.PodStatus{}, stopped: map[string]int{}, server: testutil.ReadyDatabasePod,
		databaseNode: "node-of-statefulset",
	}
	c.loader = c.succeed
	c.reconciler = c.newReconciler()
	return c
}

// newReconciler is that of an operator that has just started. It is installed for the test's namespace alone, so that the runs of
// other tests are not in its lanes.
func (c *cluster) newReconciler() *RunReconciler {
	r := &RunReconciler{Client: asCached(api), Live: &Live{Reader: api}, Recorder: c.events, Clock: c.clock, Logs: c}
	r.Images, r.MariaDBOperator = podutil.Images{Loader: "loader:test", Sysbench: "sysbench:test"}, true
	r.Scope, r.LaneNamespace, r.HostNamespace, r.HostTuning = Scope{c.namespace}, c.namespace, c.namespace, []string{c.namespace}
	return r
}

// asCached reads what a cache would have kept.
func asCached(c client.WithWatch) client.Client {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := c.Get(ctx, key, o, opts...); err != nil {
				return err
			}
			_, err := Cached(o)
			return err
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := c.List(ctx, list, opts...); err != nil {
				return err
			}
			return apimeta.EachListItem(list, func(o runtime.Object) error {
				_, err := Cached(o)
				return err
			})
		},
	})
}

// OpenLog implements LogOpener.
func (c *cluster) OpenLog(_ context.Context, _, pod string, _ corev1.PodLogOptions) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(c.logs[pod])), nil
}

// succeed lets a loader end with a whole result.
func (c *cluster) succeed(job *batchv1.Job, pod *corev1.Pod) { c.leave(job, pod, c.measured(job, pod)) }

// measured is what a loader makes of its configuration.
func (c *cluster) measured(job *batchv1.Job, pod *corev1.Pod) *result.Document {
	trialNumber, _ := strconv.Atoi(job.Labels[v1alpha1.LabelTrial])
	attempt, _ := strconv.Atoi(job.Labels[v1alpha1.LabelAttempt])
	doc := testutil.Document(pod.UID, trialNumber, attempt, 1000+float64(trialNumber))
	if sides := c.configOf(job).Sides; sides != nil {
		for i, side := range sides.Each {
			one := testutil.Document(pod.UID, trialNumber, attempt, 1000*float64(1+i)+float64(trialNumber))
			doc.Sides = append(doc.Sides, result.SideDocument{Variant: side.Variant, Document: *one})
		}
	}
	return doc
}

// configOf is what a Job asks of its loader: nothing, if a stranger has made it.
func (c *cluster) configOf(job *batchv1.Job) *result.Config {
	env := job.Spec.Template.Spec.Containers[0].Env
	i := slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == result.EnvConfig })
	if i < 0 {
		return &result.Config{}
	}
	config, err := result.ParseConfig([]byte(env[i].Value))
	c.must(err)
	return config
}

// leave lets a loader end with that result of its attempt.
func (c *cluster) leave(job *batchv1.Job, pod *corev1.Pod, document *result.Document) {
	who := &document.Identity
	document.Config, who.RunUID = *c.configOf(job), job.Labels[v1alpha1.LabelRunUID]
	who.Trial, who.Attempt = document.Config.Trial, document.Config.Attempt
	c.write(job, pod, document)
}

// write lets a loader end with that result, whosever it is.
func (c *cluster) write(job *batchv1.Job, pod *corev1.Pod, document *result.Document) {
	encoded, err := result.EncodeDocument(document)
	c.must(err)
	var log bytes.Buffer
	must.Do(c.t, result.WriteDocument(&log, encoded))
	c.logs[pod.Name] = log.Bytes()
	message, err := result.EncodeSummary(document.Summarize(encoded))
	c.must(err)
	testutil.EndedLoaderPod(pod, 0, string(message), c.clock.Now())
	testutil.JobCondition(job, batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached)
}

// failWith lets a loader end with a failure in its summary.
func (c *cluster) failWith(reason result.Cause, message string) func(*batchv1.Job, *corev1.Pod) {
	return func(job *batchv1.Job, pod *corev1.Pod) {
		summary, err := result.EncodeSummary(result.Summary{
			Version: result.DocumentVersion, Identity: result.Identity{PodUID: string(pod.UID)},
			Failure: &result.Failure{Reason: reason, Message: message},
		})
		c.must(err)
		c.failSilently(string(summary))(job, pod)
	}
}

// failSilently lets a loader end badly with any termination message.
func (c *cluster) failSilently(message string) func(*batchv1.Job, *corev1.Pod) {
	return func(job *batchv1.Job, pod *corev1.Pod) {
		testutil.EndedLoaderPod(pod, 1, message, c.clock.Now())
		testutil.JobCondition(job, batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded)
	}
}

func (c *cluster) apply(run *v1alpha1.BenchmarkRun) {
	c.t.Helper()
	run.Namespace, run.UID = c.namespace, ""
	must.Do(c.t, api.Create(c.t.Context(), run))
}

func (c *cluster) get(name string) *v1alpha1.BenchmarkRun {
	c.t.Helper()
	var run v1alpha1.BenchmarkRun
	must.Do(c.t, api.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, &run))
	return &run
}

func (c *cluster) reconcile(name string) ctrl.Result {
	c.t.Helper()
	r, err := c.reconciler.Reconcile(c.t.Context(), ctrl.Request{
		NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: name},
	})
	if err != nil {
		c.t.Fatalf("reconciling: %v", err)
	}
	return r
}

// until reconciles, and lets the cluster react, until a condition of the run is true.
func (c *cluster) until(name, condition string) *v1alpha1.BenchmarkRun {
	c.t.Helper()
	for range 400 {
		c.reconcile(name)
		c.react()
		run := c.get(name)
		for _, have := range run.Status.Conditions {
			if have.Type == condition && have.Status == metav1.ConditionTrue {
				return run
			}
		}
	}
	c.t.Fatalf("%s was never %s: %+v", name, condition, c.get(name).Status)
	return nil
}

// patiently is until, but lets steps fail that are to be tried again: time passes before the next try.
func (c *cluster) patiently(name, condition string) *v1alpha1.BenchmarkRun {
	c.t.Helper()
	for range 100 {
		_, err := c.reconciler.Reconcile(c.t.Context(), ctrl.Request{
			NamespacedName: client.ObjectKey{Namespace: c.namespace, Name: name},
		})
		if err != nil {
			c.clock.Step(lastRetry)
		}
		c.react()
		if run := c.get(name); apimeta.IsStatusConditionTrue(run.Status.Conditions, condition) {
			return run
		}
	}
	c.t.Fatalf("%s was never %s: %+v", name, condition, c.get(name).Status)
	return nil
}

// settle reconciles a few times more, so that what is left to do after the end is done.
func (c *cluster) settle(name string) {
	c.t.Helper()
	c.cycle(name, 8)
}

// cycle reconciles so many times, and lets the cluster react after each.
func (c *cluster) cycle(name string, n int) {
	c.t.Helper()
	for range n {
		c.reconcile(name)
		c.react()
	}
}

func (c *cluster) list(list client.ObjectList) {
	c.t.Helper()
	c.must(api.List(c.t.Context(), list, client.InNamespace(c.namespace)))
}

func (c *cluster) must(err error) {
	c.t.Helper()
	must.Do(c.t, err)
}

// attemptNames are the names of the records of all attempts.
func (c *cluster) attemptNames() []string {
	c.t.Helper()
	var configs corev1.ConfigMapList
	c.must(api.List(c.t.Context(), &configs, client.InNamespace(c.namespace),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentAttempt}))
	var names []string
	for _, cm := range configs.Items {
		names = append(names, cm.Name+" "+cm.Labels[v1alpha1.LabelOutcome])
	}
	return names
}
