//go:build envtest && scale

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

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
