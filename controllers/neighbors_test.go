//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A Pod of somebody else's that comes to the database's node during a trial, and a node under pressure, are said with the number.
// A Pod that was there all the time, and the run's own, are not. Of a Pod of another namespace, nothing that whoever has "view"
// in the run's namespace can read has its name.
func TestEnvtestNeighbors(t *testing.T) {
	c := newCluster(t)
	visitors := summaryBesideNeighbors(t, c)
	for _, want := range []string{
		"- Pods started on the database node during the attempt: " + c.namespace + "/visitor, 1 from Jobs (1 of 3 trials)\n",
		"- the database node was short of resources: DiskPressure (2 of 3 trials)\n",
	} {
		if !strings.Contains(visitors.summary, want) {
			t.Errorf("the summary lacks %q:\n%s", want, visitors.summary)
		}
	}
	for _, other := range []string{"resident", "elsewhere", "run-db1", "Pods left"} {
		if strings.Contains(visitors.summary, "during the attempt: "+other) || strings.Contains(visitors.summary, c.namespace+"/"+other) {
			t.Errorf("the summary names %s:\n%s", other, visitors.summary)
		}
	}
	for _, secret := range append(visitors.uids, "confidential", visitors.elsewhere) {
		for name, text := range visitors.readable {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s:\n%s", name, secret, text)
			}
		}
	}
}

// An administrator may let results name Pods of all namespaces.
func TestEnvtestNeighborsWithNames(t *testing.T) {
	c := newCluster(t)
	c.reconciler.NameOthers = true
	visitors := summaryBesideNeighbors(t, c)
	want := visitors.elsewhere + "/confidential-visitor"
	if !strings.Contains(visitors.summary, want) {
		t.Errorf("the summary lacks %s:\n%s", want, visitors.summary)
	}
}

// besideNeighbors is what is left of a run beside Pods of others.
type besideNeighbors struct {
	summary string
	// elsewhere is another namespace that has Pods on the node, and uids are those of all Pods of others.
	elsewhere string
	uids      []string
	// readable is the text of each object of the run, and of all events.
	readable map[string]string
}

func summaryBesideNeighbors(t *testing.T, c *cluster) *besideNeighbors {
	t.Helper()
	seen := &besideNeighbors{readable: map[string]string{}}
	node := "node-of-" + c.namespace
	c.databaseNode = node
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "tenant-"}}
	c.must(api.Create(t.Context(), other))
	seen.elsewhere = other.Name
	c.must(api.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}))
	t.Cleanup(func() {
		if err := api.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}); err != nil {
			t.Error(err)
		}
	})
	// It is in the test's namespace, or in that of somebody else, of whose Job it is and who labels it as one of the run's own.
	pod := func(namespace, name, node string) {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		if namespace == seen.elsewhere {
			p.Labels = map[string]string{v1alpha1.LabelRunUID: string(c.get("run").UID)}
			p.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "confidential", UID: "1", Controller: ptr.To(true),
			}}
		}
		c.must(api.Create(t.Context(), p))
		seen.uids = append(seen.uids, string(p.UID))
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
	pod(c.namespace, "resident", node)
	pod(seen.elsewhere, "confidential-resident", node)
	c.loader = func(job *batchv1.Job, loader *corev1.Pod) {
		text, err := json.Marshal(job)
		c.must(err)
		seen.readable["Job "+job.Name] = string(text)
		if strings.HasSuffix(job.Name, "-t2-a1") {
			pod(c.namespace, "visitor", node)
			pod(seen.elsewhere, "confidential-visitor", node)
			pod(c.namespace, "elsewhere", "another-node")
			var n corev1.Node
			n.Name = node
			n.Status.Conditions = []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
			}
			c.must(api.Status().Update(t.Context(), &n))
		}
		c.succeed(job, loader)
	}
	c.until("run", "Complete")
	seen.summary = c.summary("run")
	seen.keep(t, c)
	return seen
}

// keep what can be read of the run in the end.
func (b *besideNeighbors) keep(t *testing.T, c *cluster) {
	t.Helper()
	text, err := json.Marshal(c.get("run"))
	c.must(err)
	b.readable["the run"] = string(text)
	var configs corev1.ConfigMapList
	c.must(api.List(t.Context(), &configs, client.InNamespace(c.namespace)))
	for i := range configs.Items {
		text, err := json.Marshal(configs.Items[i].Data)
		c.must(err)
		b.readable["ConfigMap "+configs.Items[i].Name] = string(text)
	}
	contents, err := clusterfiles.Read(t.Context(), api, c.namespace, "run-results")
	c.must(err)
	results, err := result.UnpackFile("results.json", contents)
	c.must(err)
	b.readable["results.json"] = string(results)
	if len(configs.Items) < 4 || len(results) == 0 {
		t.Fatalf("there are %d ConfigMaps, and results.json has %d bytes", len(configs.Items), len(results))
	}
}
