//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// four is a run of one trial of eight seconds with four loader Pods.
func four(name, loader string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database: {image: mariadb:11.8, storage: {size: 1Gi}}
  workload: {type: BulkInsert, bulkInsert: {table: Narrow, rows: 1000000000, rowsPerStatement: 100, clients: 4}, limits: {seconds: 8}}
  trials: {repetitions: 1, startDeadlineSeconds: 90}
  loader: {pods: 4, resources: {limits: {cpu: %s, memory: 96Mi}}}
`, name, loader)
}

var _ = Describe("four loader Pods", func() {
	// A worker of the kind cluster has two CPUs: with 1.1 each, the database's one and the system's, there is room for two.
	It("of which one never starts end the run by the barrier", func(ctx SpecContext) {
		apply(ctx, four("barrier", "1100m"))
		Expect(failure(finished(ctx, "barrier"))).To(And(
			HavePrefix("BarrierTimeout: "), ContainSubstring("not all loaders ran within trials.startDeadlineSeconds (90): "),
			MatchRegexp(`[12] of 4 loaders are running; Pod [0-3] is not: the loader's Pod cannot be scheduled: .*Insufficient cpu`)))
	}, SpecTimeout(runTime))
})

var _ = DescribeTable("data and a schema that are not there fail within the deadline, in the cluster's words",
	func(ctx SpecContext, from, words string) {
		apply(ctx, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: schema}\ndata: {own.sql: CREATE TABLE inserts (a INT)}")
		apply(ctx, fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: stuck}
spec:
  database: {image: mariadb:11.8, storage: {size: 1Gi}}
  workload: {type: BulkInsert, bulkInsert: {rows: 10, rowsPerStatement: 10}, %s}
  trials: {repetitions: 1, startDeadlineSeconds: 90}
`, from))
		Expect(failure(finished(ctx, "stuck"))).To(And(
			HavePrefix("LoaderNotStarted: "), ContainSubstring("within trials.startDeadlineSeconds (90)"), ContainSubstring(words)))
	},
	Entry("a claim", "dataFrom: {persistentVolumeClaim: none-such, path: a}",
		`persistentvolumeclaim "none-such" not found`, SpecTimeout(runTime)),
	Entry("a ConfigMap", "schemaFrom: {name: none-such, key: own.sql}", `configmap "none-such" not found`, SpecTimeout(runTime)),
	Entry("a key", "schemaFrom: {name: schema, key: other.sql}", "references non-existent config key: other.sql", SpecTimeout(runTime)),
)

// inTurns is a run with variants whose servers are up at the same time, where there is room for them.
const inTurns = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: turns}
spec:
  database:
    image: mariadb:11.8
    storage: {size: 1Gi}
    resources: {requests: {cpu: 100m}, limits: {cpu: "1500m", memory: 672Mi}}
  workload: {type: CommitSize, commitSize: {rowsPerCommit: 10}, limits: {seconds: 2}}
  loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 256Mi}}}
  trials: {primeSeconds: 0}
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
  rounds: {atMost: 2, until: All}
`

var _ = It("measures whole runs where the servers of all variants do not fit at the same time", takesMinutes, func(ctx SpecContext) {
	apply(ctx, strings.Replace(inTurns, "requests: {cpu: 100m}", "requests: {cpu: 1100m}", 1))
	status := finished(ctx, "turns").Status
	Expect(apimeta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", status)
	Expect(status.Alternation).To(Equal(v1alpha1.AlternateRuns))
	Expect(status.AlternationReason).To(ContainSubstring("Insufficient cpu"))
}, SpecTimeout(3*runTime))

// swappiness of this machine, whose kernel all nodes share.
func swappiness() string {
	GinkgoHelper()
	text := need(os.ReadFile("/proc/sys/vm/swappiness"))
	return strings.TrimSpace(string(text))
}

// withManagerFlag starts the manager with another flag for the rest of a spec.
func withManagerFlag(ctx context.Context, flag string) {
	GinkgoHelper()
	patch := func(ctx context.Context, op string) {
		kubectl(ctx, "patch", "deployment/benchrun-manager", "-n", "benchrun-system", "--type=json", "-p", op)
		kubectl(ctx, "rollout", "status", "deployment/benchrun-manager", "-n", "benchrun-system", "--timeout=3m")
	}
	args := kubectl(ctx, "get", "deployment/benchrun-manager", "-n", "benchrun-system", "-o",
		"jsonpath={.spec.template.spec.containers[0].args}")
	DeferCleanup(func(ctx SpecContext) {
		patch(ctx, `[{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": `+args+`}]`)
	}, NodeTimeout(4*time.Minute))
	patch(ctx, `[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "`+flag+`"}]`)
}

// restoredTo waits until the machine has a value again, and no node counts as tuned.
func restoredTo(ctx context.Context, value string) {
	GinkgoHelper()
	Eventually(func() (string, error) {
		leases, err := commandWith(ctx, "", "get", "leases", "-n", "benchrun-system", "-l", v1alpha1.LabelTunedNode, "-o", "name")
		return swappiness() + leases, err
	}).WithContext(ctx).WithTimeout(patience).Should(Equal(value))
}

var _ = It("tunes the database's node where that is allowed, and restores it, also if the run is deleted", Serial, func(ctx SpecContext) {
	before, requested := swappiness(), "59"
	if before == requested {
		requested = "58"
	}
	tuning := "    hostTuning: {swappiness: " + requested + "}"
	apply(ctx, small("refused", tuning))
	Expect(failure(finished(ctx, "refused"))).To(HavePrefix("HostTuningNotAllowed: database.hostTuning changes kernel settings of a node"))

	withManagerFlag(ctx, "--host-tuning-namespaces="+namespace)
	apply(ctx, small("tuned", tuning))
	run := complete(ctx, "tuned")
	Expect(run.Status.Environment.Swappiness).To(Equal(requested))
	Expect(run.Status.HostTuning).To(Equal([]v1alpha1.HostTuningStatus{{
		Node: run.Status.Environment.DatabaseNode, Before: v1alpha1.HostSettings{Swappiness: before},
		After: v1alpha1.HostSettings{Swappiness: requested}, Restored: ptr.To(true),
	}}))
	restoredTo(ctx, before)

	apply(ctx, strings.ReplaceAll(small("deleted", tuning), "rows: 200", "rows: 1000000000"))
	kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/deleted-t1-a1")
	Expect(swappiness()).To(Equal(requested))
	kubectl(ctx, "delete", "benchmarkrun/deleted", "--wait=false")
	restoredTo(ctx, before)
}, SpecTimeout(runTime))
