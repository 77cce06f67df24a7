//go:build reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// workers are the nodes of the cluster that run what users run.
func workers(ctx context.Context) []string {
	GinkgoHelper()
	var nodes corev1.NodeList
	Expect(cluster.List(ctx, &nodes)).To(Succeed())
	var names []string
	for _, node := range nodes.Items {
		if _, found := node.Labels["node-role.kubernetes.io/control-plane"]; !found {
			names = append(names, node.Name)
		}
	}
	return names
}

// churn is a Job of another user in a namespace of his own: small Pods that come to a node and go, three at a time, until the
// spec ends or that many have run.
type churn struct{ job *batchv1.Job }

func startChurn(ctx context.Context, node string, completions int) churn {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-others-"}}
	Expect(cluster.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(cluster.Delete(ctx, ns)).To(Succeed()) })
	job := &batchv1.Job{}
	Expect(yaml.UnmarshalStrict(fmt.Appendf(nil, `
metadata: {name: churn, namespace: %s}
spec:
  completions: %d
  parallelism: 3
  backoffLimit: 1000
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 0
      nodeSelector: {kubernetes.io/hostname: %s}
      containers: [{name: sleeper, image: "mariadb:11.8", command: [sleep, "0.5"]}]
`, ns.Name, completions, node), job)).To(Succeed())
	Expect(cluster.Create(ctx, job)).To(Succeed())
	return churn{job}
}

// came is how many Pods have come and gone.
func (c churn) came(ctx context.Context) int {
	GinkgoHelper()
	var job batchv1.Job
	Expect(cluster.Get(ctx, client.ObjectKeyFromObject(c.job), &job)).To(Succeed())
	return int(job.Status.Succeeded)
}

// sixSizes is a run of short trials, so many of each of six commit sizes, whose database is on a node.
func sixSizes(name, lane, node string, repetitions int) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  lane: %s
  database:
    image: mariadb:11.8
    nodeSelector: {kubernetes.io/hostname: %s}
    settings: {bufferPoolSize: 64Mi, redoLogSize: 16Mi}
    storage: {size: 1Gi}
    resources: {requests: {cpu: 100m}, limits: {cpu: "1", memory: 512Mi}}
  workload: {type: CommitSize, commitSize: {rows: 200, sweep: {rowsPerCommit: [1, 4, 16, 64, 100, 200]}}}
  trials: {repetitions: %d}
  loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 128Mi}}}
  seed: 42
`, name, lane, node, repetitions)
}
