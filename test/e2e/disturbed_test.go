//go:build faults || reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// twice is a run of two trials of a workload; the overlay is put into its spec.
func twice(name, workload, overlay string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database: {image: mariadb:11.8, storage: {size: 1Gi}}
  workload: {%s}
  trials: {repetitions: 2}
%s`, name, workload, overlay)
}

// long takes eight seconds for each of its two trials, and quick hardly any time.
func long(name, overlay string) string {
	return twice(name, "type: CommitSize, commitSize: {rows: 100000000}, limits: {seconds: 8}", overlay)
}

func quick(name, overlay string) string {
	return twice(name, "type: CommitSize, commitSize: {rows: 100}", overlay)
}

// measuring waits until the first attempt of a run is in the middle of it.
func measuring(ctx SpecContext, run string) {
	GinkgoHelper()
	kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/"+run+"-t1-a1")
	Eventually(func() (string, error) {
		return command(ctx, "logs", "-n", namespace, "job/"+run+"-t1-a1")
	}).WithContext(ctx).WithTimeout(patience).WithPolling(300*time.Millisecond).Should(ContainSubstring("measure"), "the loader's log")
}

// outcomes are the records of all attempts of a run, by name.
func outcomes(ctx SpecContext, run string) map[string]string {
	GinkgoHelper()
	var configs corev1.ConfigMapList
	Expect(cluster.List(ctx, &configs, client.InNamespace(namespace), client.MatchingLabels{
		v1alpha1.LabelRun: run, v1alpha1.LabelComponent: v1alpha1.ComponentAttempt,
	})).To(Succeed())
	found := map[string]string{}
	for _, cm := range configs.Items {
		r := need(result.DecodeRecord(cm.Data[result.RecordKey]))
		found[strings.TrimPrefix(cm.Name, run+"-")] = strings.TrimSpace(string(r.Outcome) + " " + string(r.Cause))
	}
	return found
}

var undisturbed = map[string]string{"t1-a1": "Accepted", "t2-a1": "Accepted"}

// inNode runs a line in a node's shell.
func inNode(ctx context.Context, node, line string) string {
	GinkgoHelper()
	return docker(ctx, "exec", node, "bash", "-c", line)
}

// docker is what happens to a node of the kind cluster from outside.
func docker(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return string(out)
}

// nodeOf is the node of a Pod with these labels.
func nodeOf(ctx SpecContext, labels client.MatchingLabels) string {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(cluster.List(ctx, &pods, client.InNamespace(namespace), labels)).To(Succeed())
	Expect(pods.Items).To(HaveLen(1))
	return pods.Items[0].Spec.NodeName
}

func managerRuns(ctx SpecContext) {
	GinkgoHelper()
	out, err := commandWith(ctx, "", "rollout", "status", "-n", "benchrun-system", "deployment/benchrun-manager", "--timeout=2m")
	Expect(err).NotTo(HaveOccurred(), out)
}

// tooMuch is a run that loads more than there is room for: a volume in memory has the size that it was asked with.
func tooMuch(name, engine string, deadlineSeconds int) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database:
    image: mariadb:11.8
    storage: {medium: Memory, size: 256Mi}
    settings: {bufferPoolSize: 64Mi, redoLogSize: 16Mi}
  workload: {type: BulkInsert, bulkInsert: {rows: 100000000, rowsPerStatement: 1000, storageEngine: %s}}
  trials: {repetitions: 1, primeSeconds: 0, deadlineSeconds: %d}
`, name, engine, deadlineSeconds)
}
