//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("storage", func() {
	It("is named by a run that compares XFS with ext4", takesMinutes, func(ctx SpecContext) {
		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: filesystems}
spec:
  database: {image: "mariadb:11.8", storage: {size: 512Mi, storageClassName: fast-xfs}}
  workload: {type: CommitSize, commitSize: {rows: 500, rowsPerCommit: 1}}
  variants:
  - {name: xfs}
  - {name: ext4, database: {storage: {storageClassName: fast-ext4}}}
  rounds: {atMost: 2, until: All}
`)
		run := completed(ctx, "filesystems")
		Expect(run.Status.Volumes).To(HaveLen(2))
		for i, filesystem := range []string{"xfs", "ext4"} {
			v := run.Status.Volumes[i]
			Expect(v.Variant).To(Equal(filesystem))
			Expect(v.Filesystem).To(Equal(filesystem))
			Expect(v.MountOptions).To(ContainSubstring("discard"))
			Expect(v.IOScheduler).NotTo(BeElementOf("", "unknown"))
			Expect(v.FdatasyncMicros).To(BeNumerically(">", 0))
		}
		Expect(run.Status.Differences).To(HaveExactElements(ContainSubstring("storageClassName (fast-xfs → fast-ext4)")))
		summary := configMap(ctx, run.Status.Results.ConfigMap).Data["summary.md"]
		Expect(summary).To(And(ContainSubstring("- data volume of xfs: xfs ("), ContainSubstring("- data volume of ext4: ext4 (")))
	}, SpecTimeout(2*runTime))

	It("ends a run that asks for a block I/O class that the node has not", func(ctx SpecContext) {
		apply(ctx, onDisk("unheard-of", "blockIOClass: unheard-of", "{rows: 10, rowsPerCommit: 1}"))
		run := finished(ctx, "unheard-of")
		Expect(failure(run)).To(MatchRegexp("^BlockIOClassNotEffective: the container runtime of node .* has no block I/O class unheard-of"))
		Expect(run.Status.CompletionTime.Sub(run.Status.StartTime.Time)).To(BeNumerically("<", time.Minute))
	}, SpecTimeout(runTime))
})
