//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("an external server", func() {
	It("is measured, and left as it was", func(ctx SpecContext) {
		serve(ctx, "mariadb:11.8")
		before := ask(ctx, "SHOW DATABASES")
		apply(ctx, against("plain", reachable, ""))
		apply(ctx, against("encrypted", reachable, ", tls: {mode: Required}"))
		apply(ctx, against("given", reachable+", schema: empty", ", settings: {flushLogAtTrxCommit: 1, binaryLog: false}"))
		for _, name := range []string{"plain", "encrypted", "given"} {
			run := complete(ctx, name)
			Expect(run.Status.Environment.Filesystem).To(Equal("unknown"))
			Expect(check(document(ctx, name+"-t1-a1"), "rows").Detail).To(Equal("200 committed, 200 in the table"))
		}
		Expect(document(ctx, "plain-t1-a1").Server.Encryption).To(BeEmpty())
		Expect(document(ctx, "encrypted-t1-a1").Server.Encryption).To(HavePrefix("TLSv1."))
		Expect(ask(ctx, "SHOW DATABASES")).To(Equal(before))
		Expect(ask(ctx, "SHOW TABLES IN empty")).To(BeEmpty())
	}, SpecTimeout(runTime))

	It("that cannot be measured says why, in its own words and without a password", func(ctx SpecContext) {
		serve(ctx, "mariadb:11.8")
		rows := []struct{ name, external, more, reason, words string }{
			{"password", "host: server, credentialsSecretName: wrong", "", "DatabaseUnreachable", "Access denied for user 'bench'@"},
			{"host", "host: no-such-host, credentialsSecretName: credentials", "", "DatabaseUnreachable", "the server did not answer for 20s"},
			{"port", "host: server, port: 3307, credentialsSecretName: credentials", "", "DatabaseUnreachable", "the server did not answer for 20s"},
			{"identity", reachable, ", tls: {mode: VerifyIdentity}", "DatabaseUnreachable", "failed to verify certificate"},
			{"privilege", reachable + ", schema: forbidden", "", "LoaderFailed", "Access denied for user 'bench'@'%' to database 'forbidden'"},
			{"taken", reachable + ", schema: theirs", "", "NameTaken", "the schema theirs holds objects that Benchrun did not create (table "},
			{"setting", reachable, ", settings: {bufferPoolSize: 777Mi}", "SettingNotEffective", "innodb_buffer_pool_size"},
			{"secret", "host: server, credentialsSecretName: none", "", "LoaderNotStarted", `secret "none" not found`},
		}
		for _, row := range rows {
			apply(ctx, against(row.name, row.external, row.more))
		}
		for _, row := range rows {
			By(row.name)
			why := failure(finished(ctx, row.name))
			Expect(why).To(And(HavePrefix(row.reason+": "), ContainSubstring(row.words)))
			Expect(why).NotTo(Or(ContainSubstring(password), ContainSubstring("wr0ng"), ContainSubstring("s3cret")))
		}
		Expect(ask(ctx, "SELECT a FROM theirs.precious")).To(Equal("42\n"))
		Expect(ask(ctx, "SHOW DATABASES LIKE 'benchrun%'")).To(BeEmpty())
	}, SpecTimeout(runTime))
})

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
