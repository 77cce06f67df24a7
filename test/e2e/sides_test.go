//go:build e2e || faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// completed is a run that has measured all that it needs.
func completed(ctx SpecContext, name string) *v1alpha1.BenchmarkRun {
	GinkgoHelper()
	kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+(2*runTime).String(), "benchmarkrun/"+name)
	run := getRun(ctx, name)
	Expect(apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionComplete)).To(BeTrue(), "%+v", run.Status)
	return run
}

// measures is a variant as the document of an attempt has it.
type measures struct {
	*result.Document
	side result.SideRecord
}

// sidesOf an attempt are what it measured, by the names of the variants.
func sidesOf(ctx SpecContext, attempt string) map[string]measures {
	GinkgoHelper()
	d, sides := document(ctx, attempt), map[string]measures{}
	for i, side := range record(ctx, attempt).Sides {
		one := d
		if len(d.Sides) > 0 {
			one = &d.Sides[i].Document
		}
		sides[side.Variant] = measures{one, side}
	}
	return sides
}

// durableAndLazy is a run of two rounds, with its name, what takes turns, its rows and limits, and its trials.
const durableAndLazy = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  alternation: %s
  rounds: {atMost: 2, until: All}
  database:
    image: mariadb:11.8
    settings: {bufferPoolSize: 64Mi, redoLogSize: 96Mi}
    storage: {size: 1Gi}
    resources: {requests: {cpu: 100m}, limits: {memory: 512Mi}}
  workload: {type: CommitSize, commitSize: %s%s}
  loader: {resources: {requests: {cpu: 100m}, limits: {memory: 256Mi}}}
  trials: %s
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
`

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
