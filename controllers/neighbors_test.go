//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A Pod of somebody else's that comes to the database's node during a trial, and a node under pressure, are said with the number.
// A Pod that was there all the time, and the run's own, are not.
func TestEnvtestNeighbors(t *testing.T) {
	c := newCluster(t)
	const node = "node-with-neighbors"
	c.databaseNode = node
	c.must(api.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}))
	t.Cleanup(func() {
		if err := api.Delete(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}); err != nil {
			t.Error(err)
		}
	})
	pod := func(name, node string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
	}
	c.must(api.Create(t.Context(), pod("resident", node)))
	c.loader = func(job *batchv1.Job, loader *corev1.Pod) {
		if strings.HasSuffix(job.Name, "-t2-a1") {
			c.must(api.Create(t.Context(), pod("visitor", node)))
			c.must(api.Create(t.Context(), pod("elsewhere", "another-node")))
			var n corev1.Node
			n.Name = node
			n.Status.Conditions = []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue},
			}
			c.must(api.Status().Update(t.Context(), &n))
		}
		c.succeed(job, loader)
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(3).Obj())
	c.until("run", "Complete")
	text := c.summary("run")
	for _, want := range []string{
		"- Pods came to the database's node during the attempt: " + c.namespace + "/visitor (1 of 3 trials)\n",
		"- the database's node had conditions that disturb: DiskPressure (2 of 3 trials)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
	for _, other := range []string{"resident", "elsewhere", "run-db1", "Pods left"} {
		if strings.Contains(text, "during the attempt: "+other) || strings.Contains(text, c.namespace+"/"+other) {
			t.Errorf("the summary names %s:\n%s", other, text)
		}
	}
}
