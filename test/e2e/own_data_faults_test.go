//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

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
  trials: {repetitions: 1, startDeadlineSeconds: 30}
`, from))
		Expect(failure(finished(ctx, "stuck"))).To(And(
			HavePrefix("LoaderNotStarted: "), ContainSubstring("within trials.startDeadlineSeconds (30)"), ContainSubstring(words)))
	},
	Entry("a claim", "dataFrom: {persistentVolumeClaim: none-such, path: a}",
		`persistentvolumeclaim "none-such" not found`, SpecTimeout(runTime)),
	Entry("a ConfigMap", "schemaFrom: {name: none-such, key: own.sql}", `configmap "none-such" not found`, SpecTimeout(runTime)),
	Entry("a key", "schemaFrom: {name: schema, key: other.sql}", "references non-existent config key: other.sql", SpecTimeout(runTime)),
)
