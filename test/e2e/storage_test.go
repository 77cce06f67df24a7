//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

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

	// Serial: specs that run beside others have less than the default resources.
	It("is slow if a block I/O class limits it: no more commits a second than the class has writes", Serial, func(ctx SpecContext) {
		apply(ctx, onDisk("slow", "blockIOClass: disk-100", "{sweep: {rowsPerCommit: [1, 16]}}"))
		run := complete(ctx, "slow")
		Expect(run.Status.Environment.BlockIO).To(MatchRegexp(`^write 100/s on \d+:\d+$`))
		Expect(run.Status.Environment.FdatasyncMeanMicros).To(BeNumerically(">", 5000))
		Expect(run.Status.Points).To(HaveLen(2))
		for _, p := range run.Status.Points {
			median := need(strconv.ParseFloat(p.Median, 64))
			perCommit := need(strconv.ParseFloat(string(p.Parameters["rowsPerCommit"]), 64))
			// A busy machine only makes it slower: each commit waits for a write of the 100 in a second.
			Expect(median/perCommit).To(BeNumerically("<", 100), "%s rows per commit", p.Parameters["rowsPerCommit"])
		}

		By("having had the default resources")
		used, known := document(ctx, "slow-t1-a1").Observed.Used()
		Expect(known).To(BeTrue())
		Expect(used.CPULimitMillis).To(BeEquivalentTo(1000))
	}, SpecTimeout(runTime))

	It("ends a run that asks for a block I/O class that the node has not", func(ctx SpecContext) {
		apply(ctx, onDisk("unheard-of", "blockIOClass: unheard-of", "{rows: 10, rowsPerCommit: 1}"))
		run := finished(ctx, "unheard-of")
		Expect(failure(run)).To(MatchRegexp("^BlockIOClassNotEffective: the container runtime of node .* has no block I/O class unheard-of"))
		Expect(run.Status.CompletionTime.Sub(run.Status.StartTime.Time)).To(BeNumerically("<", time.Minute))
	}, SpecTimeout(runTime))
})
