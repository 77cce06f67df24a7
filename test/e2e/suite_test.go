//go:build e2e || faults || samples || reliability || tutorials

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e asks a real cluster, into which the chart was installed, for what users do.
package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// runTime is how long a small run may take on a slow and busy machine.
const runTime = 8 * time.Minute

// patience of a test with what is to come: others may compile on the same machine.
const patience = 4 * time.Minute

// takesMinutes starts a spec before shorter ones, so that two processes end at about the same time.
const takesMinutes = SpecPriority(1)

var (
	restConfig *rest.Config
	cluster    client.WithWatch
	repository string
	namespace  string
)

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Benchrun on kind")
}

var _ = BeforeSuite(func(SpecContext) {
	SetDefaultEventuallyPollingInterval(time.Second) // a hundred times a second is what the cluster would be busy with
	repository = must.Repository()
	log.SetLogger(GinkgoLogr)
	Expect(os.Setenv("KUBECONFIG", filepath.Join(repository, "bin", "kubeconfig"))).To(Succeed())
	var err error
	restConfig, err = clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	Expect(err).NotTo(HaveOccurred())
	restConfig.QPS, restConfig.Burst = 100, 200
	scheme := k8sruntime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	cluster, err = client.NewWithWatch(restConfig, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
})

// Each spec has a namespace of its own, that admits nothing but Pods of the strictest standard.
var _ = BeforeEach(func(ctx SpecContext) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	Expect(cluster.Create(ctx, ns)).To(Succeed())
	namespace = ns.Name
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			report(ctx)
		}
		Expect(client.IgnoreNotFound(cluster.Delete(ctx, ns))).To(Succeed())
	})
})

// unrestricted lets Pods into the namespace that the strictest standard forbids: the MariaDB operator gives init containers
// no security context.
func unrestricted(ctx SpecContext) {
	GinkgoHelper()
	kubectl(ctx, "label", "--overwrite", "namespace", namespace, "pod-security.kubernetes.io/enforce=baseline")
}

// report prints what a person would look at first.
func report(ctx context.Context) {
	for _, args := range [][]string{
		{"get", "benchmarkruns,pods,jobs,statefulsets,pvc,configmaps", "-o", "wide"},
		{"describe", "benchmarkruns"},
		{"get", "events", "--sort-by=.metadata.creationTimestamp"},
		{"logs", "-n", "benchrun-system", "deployment/benchrun-manager", "--tail=60"},
	} {
		out, err := command(ctx, args...)
		fmt.Fprintf(GinkgoWriter, "$ kubectl %s\n%s(%v)\n", strings.Join(args, " "), out, err)
	}
}

// need is the value of a call that must not fail: text := need(os.ReadFile(path)).
func need[T any](value T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return value
}

// command is kubectl as a user would type it.
func command(ctx context.Context, args ...string) (string, error) {
	return commandWith(ctx, "", args...)
}

func commandWith(ctx context.Context, stdin string, args ...string) (string, error) {
	if !slices.Contains(args, "-n") {
		args = append([]string{"-n", namespace}, args...)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(repository, "bin", "kubectl"), args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// kubectl must succeed.
func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := command(ctx, args...)
	Expect(err).NotTo(HaveOccurred(), out)
	return out
}

func getRun(ctx context.Context, name string) *v1alpha1.BenchmarkRun {
	GinkgoHelper()
	var run v1alpha1.BenchmarkRun
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &run)).To(Succeed())
	return &run
}

// finished waits for a run's end, with a watch.
func finished(ctx context.Context, name string) *v1alpha1.BenchmarkRun {
	GinkgoHelper()
	kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+runTime.String(), "benchmarkrun/"+name)
	return getRun(ctx, name)
}

// complete waits for a run's end, which must be a good one.
func complete(ctx context.Context, name string) *v1alpha1.BenchmarkRun {
	GinkgoHelper()
	run := finished(ctx, name)
	Expect(failure(run)).To(BeEmpty())
	Expect(apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue())
	return run
}

// failure is the reason and message of a run that failed, or empty.
func failure(run *v1alpha1.BenchmarkRun) string {
	if c := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed); c != nil && c.Status == metav1.ConditionTrue {
		return c.Reason + ": " + c.Message
	}
	return ""
}

func configMap(ctx context.Context, name string) *corev1.ConfigMap {
	GinkgoHelper()
	var cm corev1.ConfigMap
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &cm)).To(Succeed())
	return &cm
}

// document is the whole result of an accepted attempt.
func document(ctx context.Context, name string) *result.Document {
	GinkgoHelper()
	d := need(result.DecodeDocument(configMap(ctx, name).BinaryData[result.DocumentKey]))
	return d
}

// record of an attempt.
func record(ctx context.Context, name string) *result.Record {
	GinkgoHelper()
	r := need(result.DecodeRecord(configMap(ctx, name).Data[result.RecordKey]))
	return r
}

// check finds a check of a document by its name.
func check(d *result.Document, name string) result.Check {
	GinkgoHelper()
	for _, c := range d.Checks {
		if c.Name == name {
			return c
		}
	}
	Fail(fmt.Sprintf("the document has no check %q: %+v", name, d.Checks))
	return result.Check{}
}

// small is a run of 200 rows at two commit sizes, to be indented into.
func small(name, database string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database:
    image: mariadb:11.8
    storage: {size: 1Gi}
%s
  workload: {type: CommitSize, commitSize: {rows: 200, sweep: {rowsPerCommit: [1, 50]}}}
  trials: {repetitions: 1}
  seed: 7
`, name, database)
}

// onDisk is a run of commits that wait for the disk of its volume. The log is written past the page cache.
func onDisk(name, storage, workload string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database:
    image: mariadb:11.8
    settings: {flushLogAtTrxCommit: 1, binaryLog: false}
    variables: {innodb_log_file_buffering: "OFF", innodb_log_file_write_through: "ON"}
    storage: {size: 512Mi, %s}
  workload: {type: CommitSize, commitSize: %s, limits: {seconds: 3}}
  trials: {repetitions: 1}
`, name, storage, workload)
}

// modest is what a small run has beside others: its loader leaves them room on nodes of two CPUs.
const modest = `  loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 128Mi}}}
`

// nothingRuns expects that soon nothing uses a node or a volume.
func nothingRuns(ctx SpecContext) {
	GinkgoHelper()
	Eventually(func(g Gomega) { g.Expect(running(ctx)).To(BeEmpty()) }).WithContext(ctx).WithTimeout(patience).Should(Succeed())
}

// running are the names of everything that uses a node or a volume.
func running(ctx SpecContext) []string {
	var names []string
	for kind, list := range map[string]client.ObjectList{
		"pod": new(corev1.PodList), "job": new(batchv1.JobList), "statefulset": new(appsv1.StatefulSetList), "pvc": new(corev1.PersistentVolumeClaimList),
	} {
		Expect(cluster.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
		for _, o := range need(apimeta.ExtractList(list)) {
			names = append(names, kind+"/"+o.(client.Object).GetName())
		}
	}
	return names
}
