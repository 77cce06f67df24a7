//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	podsWorkload = "type: BulkInsert, bulkInsert: {table: FileList, rows: 40000, rowsPerStatement: 500, concurrency: 4}"
	fourPods     = "  loader: {pods: 4, resources: {limits: {cpu: 200m, memory: 96Mi}}}\n"
)

func checksumOf(d *result.Document) string {
	GinkgoHelper()
	i := slices.IndexFunc(d.Checks, func(c result.Check) bool { return c.Name == "checksum" && c.Passed })
	Expect(i).To(BeNumerically(">=", 0), "%+v", d.Checks)
	return d.Checks[i].Detail
}

var _ = It("loads the same rows with four loader Pods as with one", func(ctx SpecContext) {
	apply(ctx, loads("one-pod", podsWorkload, ""))
	complete(ctx, "one-pod")
	apply(ctx, loads("four-pods", podsWorkload, fourPods))
	run := complete(ctx, "four-pods")
	one, four := document(ctx, "one-pod-t1-a1"), document(ctx, "four-pods-t1-a1")
	Expect(checksumOf(four)).To(Equal(checksumOf(one)))
	Expect(one.Pods).To(BeEmpty())
	Expect(four.Pods).To(HaveLen(4))
	last := int64(0)
	for i, p := range four.Pods {
		Expect(p.Pod).To(Equal(i))
		Expect(p.Rows).To(Equal(int64(10000)))
		Expect(run.Status.Environment.LoaderNode).To(ContainSubstring(p.Node))
		last = max(last, p.Micros)
	}
	Expect(four.Totals.Micros).To(Equal(last))
	Expect(contradictions(one)).To(BeEmpty())
	Expect(contradictions(four)).To(BeEmpty())
}, SpecTimeout(2*runTime))
