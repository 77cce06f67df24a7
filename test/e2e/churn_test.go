//go:build reliability

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

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

// alternating is a run of two variants that take turns in one attempt, so many rounds at two commit sizes, whose databases are on
// a node.
func alternating(name, lane, node string, rounds int) string {
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
    resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 512Mi}}
  variants: [{name: durable}, {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}]
  alternation: Slices
  rounds: {atMost: %d, until: All}
  workload: {type: CommitSize, commitSize: {sweep: {rowsPerCommit: [1, 100]}}, limits: {seconds: 2}}
  trials: {primeSeconds: 1}
  loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 128Mi}}}
  seed: 42
`, name, lane, node, rounds)
}

// managerAhead compiles a manager whose clock, the one that all its controllers and its election use, is 301 seconds ahead, and
// returns its folder. The nodes of a kind cluster have one clock, which is the machine's.
func managerAhead(ctx context.Context) string {
	GinkgoHelper()
	goTool := func(args ...string) string {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = repository
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = GinkgoWriter
		out, err := cmd.Output()
		Expect(err).NotTo(HaveOccurred(), string(out))
		return strings.TrimSpace(string(out))
	}
	folder := GinkgoT().TempDir()
	const module = "k8s.io/utils"
	utils := filepath.Join(folder, "utils")
	Expect(os.CopyFS(utils, os.DirFS(goTool("list", "-m", "-f", "{{.Dir}}", module)))).To(Succeed())
	clock := filepath.Join(utils, "clock", "clock.go")
	text := need(os.ReadFile(clock))
	ahead := strings.NewReplacer("return time.Now()", "return time.Now().Add(301 * time.Second)",
		"return time.Since(ts)", "return time.Since(ts) + 301*time.Second").Replace(string(text))
	Expect(ahead).NotTo(Equal(string(text)))
	Expect(os.WriteFile(clock, []byte(ahead), 0o600)).To(Succeed())
	for _, name := range []string{"go.mod", "go.sum"} {
		content := need(os.ReadFile(filepath.Join(repository, name)))
		Expect(os.WriteFile(filepath.Join(folder, name), content, 0o600)).To(Succeed())
	}
	goTool("mod", "edit", "-replace", module+"="+utils, filepath.Join(folder, "go.mod"))
	// The flags of hack/lib.sh, so that what is the same is compiled once.
	goTool("build", "-modfile", filepath.Join(folder, "go.mod"), "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false",
		"-ldflags=-s -w", "-o", filepath.Join(folder, "manager"), "./cmd/manager")
	return folder
}

// foreignLoader is a folder with the loader's program, as it looks to a node of another architecture: its header names one that
// this machine does not have.
func foreignLoader() string {
	GinkgoHelper()
	program := need(os.ReadFile(filepath.Join(repository, "bin", "linux-"+runtime.GOARCH, "loader")))
	other := elf.EM_AARCH64
	if runtime.GOARCH == "arm64" {
		other = elf.EM_X86_64
	}
	const machine = 18 // where the header of an ELF file has it
	binary.LittleEndian.PutUint16(program[machine:], uint16(other))
	folder := GinkgoT().TempDir()
	Expect(os.WriteFile(filepath.Join(folder, "loader"), program, 0o755)).To(Succeed())
	return folder
}
