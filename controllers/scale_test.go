//go:build envtest && scale

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcluster "sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// TestScaleTimePerTrial prints what a trial costs at the beginning and at the end of a run of 5,000 trials at 100 points: all of
// the operator, and an API server that does nothing else.
func TestScaleTimePerTrial(t *testing.T) {
	const trials, looked = plan.MaxTrials, 50
	for _, before := range []int{0, trials - 2*looked} {
		c := newCluster(t)
		var values []v1alpha1.CommitSizeRowsPerCommit
		for i := range 100 {
			values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
		}
		run := testutil.MakeRun("run", "").Sweep(values...).Repetitions(trials / 100).Obj()
		run.Spec.Suspend = ptr.To(before > 0)
		c.apply(run)
		if before > 0 {
			c.seed(run, before)
		}
		c.reconciler.Client = cached(t)
		reached := func(n int) time.Time {
			for len(c.jobs) < n {
				if _, err := c.try("run"); err != nil {
					t.Logf("to be tried again: %v", err)
				}
				c.react()
			}
			return time.Now()
		}
		began := reached(looked)
		took := reached(2 * looked).Sub(began)
		fmt.Printf("after %d trials: %.1f ms per trial\n", before+looked, 1000*took.Seconds()/looked)
	}
}

// cached is the client of a manager: it reads from watches.
func cached(t *testing.T) client.Client {
	t.Helper()
	m := must.Get(ctrlcluster.New(reach, func(o *ctrlcluster.Options) { o.Scheme = api.Scheme() }))(t)
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	running.Go(func() {
		if err := m.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	if !m.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("the cache was not filled")
	}
	return m.GetClient()
}

// seed a suspended run with so many records, and let it go on.
func (c *cluster) seed(run *v1alpha1.BenchmarkRun, n int) {
	c.t.Helper()
	p, err := plan.ForRun(&run.Spec)
	c.must(err)
	list, newest := testutil.Chain(run, p, n)
	for _, cm := range list {
		c.must(api.Create(c.t.Context(), cm))
	}
	c.reconcile(run.Name)
	run = c.get(run.Name)
	run.Status.Records = newest
	c.must(api.Status().Update(c.t.Context(), run))
	run.Spec.Suspend = ptr.To(false)
	c.must(api.Update(c.t.Context(), run))
}

// etcdQuota is the size of etcd's database beyond which it accepts no write, unless it is told another one.
const etcdQuota = 2 << 30

// TestEtcdPerFinishedRun prints what a run of the sample commit-size leaves in etcd: 36 trials, whose documents are that of a
// real loader and a real server but for the trial's number. The operator makes one such run; copies of what it has left show by
// how much etcd's database grows.
func TestEtcdPerFinishedRun(t *testing.T) {
	const copies = 100
	c := newCluster(t)
	c.loader = c.realistic()
	run := c.sample()
	c.apply(run)
	run = c.until(run.Name, v1alpha1.ConditionComplete)
	c.settle(run.Name)
	kept := c.kept(run)

	before := c.databaseBytes()
	for i := range copies {
		c.copied(run, kept, i+1)
	}
	perRun := float64(c.databaseBytes()-before) / copies
	fmt.Printf("etcd's database grew by %d bytes for each of %d runs: %.0f MB for 1,000, and %.0f such runs in its quota of 2 GiB\n",
		int64(perRun), copies, perRun/1000, etcdQuota/perRun)
}

// sample is the run that users try first.
func (c *cluster) sample() *v1alpha1.BenchmarkRun {
	c.t.Helper()
	text, err := os.ReadFile("../config/samples/commit-size.yaml")
	c.must(err)
	run := new(v1alpha1.BenchmarkRun)
	c.must(yaml.UnmarshalStrict(text, run))
	return run
}

// realistic lets every loader end with a document that a loader has written: an attempt of the sample against MariaDB 10.11.
func (c *cluster) realistic() func(*batchv1.Job, *corev1.Pod) {
	c.t.Helper()
	gz, err := os.ReadFile("testdata/commit-size.json.gz")
	c.must(err)
	return func(job *batchv1.Job, pod *corev1.Pod) {
		document, err := result.DecodeDocument(gz)
		c.must(err)
		document.Identity.PodUID, document.Identity.PodName = string(pod.UID), pod.Name
		document.Identity.Trial, err = strconv.Atoi(job.Labels[v1alpha1.LabelTrial])
		c.must(err)
		for i := range document.Metrics { // as results of different trials differ
			document.Metrics[i].Value *= 1 + float64(document.Identity.Trial)/1000
		}
		c.leave(job, pod, document)
	}
}

// kept prints how many bytes a run has left, and returns its ConfigMaps. etcd has ConfigMaps as protobuf, and custom resources as
// JSON.
func (c *cluster) kept(run *v1alpha1.BenchmarkRun) []corev1.ConfigMap {
	c.t.Helper()
	text, err := json.Marshal(run)
	c.must(err)
	var list corev1.ConfigMapList
	c.must(api.List(c.t.Context(), &list, client.InNamespace(c.namespace), client.MatchingLabels{v1alpha1.LabelRun: run.Name}))
	numbers, bytes, documents := map[string]int{}, map[string]int{}, 0
	for i := range list.Items {
		cm := &list.Items[i]
		kind := cm.Labels[v1alpha1.LabelComponent]
		numbers[kind]++
		bytes[kind] += cm.Size()
		documents += len(cm.BinaryData[result.DocumentKey])
	}
	attempts, results := bytes[v1alpha1.ComponentAttempt], bytes[v1alpha1.ComponentResults]
	fmt.Printf("a finished run of %s trials keeps %d bytes:\n", run.Status.Progress, len(text)+attempts+results)
	fmt.Printf("  the run %d\n", len(text))
	fmt.Printf("  %d ConfigMaps of attempts %d, of which the documents are %d\n",
		numbers[v1alpha1.ComponentAttempt], attempts, documents)
	fmt.Printf("  %d ConfigMaps of results %d\n", numbers[v1alpha1.ComponentResults], results)
	return list.Items
}

// copied creates what a run has left once more, under other names.
func (c *cluster) copied(run *v1alpha1.BenchmarkRun, kept []corev1.ConfigMap, n int) {
	c.t.Helper()
	another := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: fmt.Sprintf("%s-%d", run.Name, n)}, Spec: *run.Spec.DeepCopy(),
	}
	c.must(api.Create(c.t.Context(), another))
	another.Status = *run.Status.DeepCopy()
	c.must(api.Status().Update(c.t.Context(), another))
	for i := range kept {
		cm := kept[i].DeepCopy()
		cm.ObjectMeta = metav1.ObjectMeta{
			Namespace: cm.Namespace, Name: fmt.Sprintf("%s-%d", cm.Name, n), Labels: cm.Labels, Annotations: cm.Annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(another, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
		}
		cm.Immutable = ptr.To(true)
		c.must(api.Create(c.t.Context(), cm))
	}
}

// databaseBytes is the size of etcd's database file, as the API server says it.
func (c *cluster) databaseBytes() int64 {
	c.t.Helper()
	clientset, err := kubernetes.NewForConfig(reach)
	c.must(err)
	text, err := clientset.RESTClient().Get().AbsPath("/metrics").DoRaw(c.t.Context())
	c.must(err)
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "apiserver_storage_size_bytes{") {
			_, value, _ := strings.Cut(lines.Text(), "} ")
			size, err := strconv.ParseFloat(value, 64)
			c.must(err)
			return int64(size)
		}
	}
	c.t.Fatal("the API server does not say how large etcd's database is")
	return 0
}
