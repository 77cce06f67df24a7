//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// operated is a small run on a server of the MariaDB operator's; more goes into its database.
func operated(name, more string) string {
	return strings.Replace(small(name, ""), "    image: mariadb:11.8", "    provisioner: MariaDBOperator\n    image: mariadb:11.8"+more, 1)
}

// everything is the names of all that there is in the namespace, but for what every namespace has.
func everything(ctx SpecContext) []string {
	GinkgoHelper()
	kinds := "pods,jobs,statefulsets,deployments,services,configmaps,secrets,persistentvolumeclaims,poddisruptionbudgets," +
		"serviceaccounts,roles,rolebindings,endpointslices,mariadbs,benchmarkruns"
	var names []string
	for name := range strings.Lines(kubectl(ctx, "get", kinds, "-o", "name")) {
		name = strings.TrimSpace(name)
		if name != "" && name != "configmap/kube-root-ca.crt" && name != "serviceaccount/default" {
			names = append(names, name)
		}
	}
	return names
}

var _ = Describe("a server of the MariaDB operator's", func() {
	It("measures the same rows as one of a StatefulSet and an external one, and nothing of any is left", func(ctx SpecContext) {
		unrestricted(ctx)
		serve(ctx, "mariadb:11.8")
		before := everything(ctx)
		runs := map[string]string{
			"stateful": small("stateful", "") + modest, "operated": operated("operated", "") + modest,
			"external": against("external", reachable, ""),
		}
		for _, manifest := range runs {
			apply(ctx, manifest)
		}
		checksums := map[string]bool{}
		for name := range runs {
			run := complete(ctx, name)
			Expect(run.Status.Progress).To(Equal("2/2"))
			for trial := 1; trial <= 2; trial++ {
				d := document(ctx, fmt.Sprintf("%s-t%d-a1", name, trial))
				Expect(d.Totals.Rows).To(BeEquivalentTo(200))
				Expect(check(d, "rows").Detail).To(Equal("200 committed, 200 in the table"))
				checksums[check(d, "checksum").Detail] = true
			}
		}
		Expect(checksums).To(HaveLen(1), "the rows are the same")
		operatedRun := getRun(ctx, "operated")
		Expect(operatedRun.Status.Environment.FdatasyncMicros).To(BeNumerically(">", 0))
		Expect(operatedRun.Status.Environment.DatabaseImage).NotTo(BeEmpty())
		for name := range runs {
			kubectl(ctx, "delete", "benchmarkrun", name, "--wait=false")
		}
		Eventually(func() []string { return everything(ctx) }).WithContext(ctx).WithTimeout(patience).
			Should(ConsistOf(before))
		Expect(ask(ctx, "SHOW DATABASES LIKE 'benchrun%'")).To(BeEmpty())
	}, SpecTimeout(runTime))

	It("runs with the settings and the encryption that were asked for", func(ctx SpecContext) {
		unrestricted(ctx)
		apply(ctx, operated("tls", `
    tls: {mode: VerifyIdentity}
    settings: {bufferPoolSize: 64Mi, redoLogSize: 32Mi, flushLogAtTrxCommit: 2}
    variables: {sync_binlog: "7"}`))
		complete(ctx, "tls")
		d := document(ctx, "tls-t1-a1")
		Expect(d.Server.Encryption).To(HavePrefix("TLSv1."))
		Expect(d.Server.Variables).To(And(HaveKeyWithValue("innodb_buffer_pool_size", "67108864"),
			HaveKeyWithValue("innodb_log_file_size", "33554432"), HaveKeyWithValue("innodb_flush_log_at_trx_commit", "2"),
			HaveKeyWithValue("sync_binlog", "7"), HaveKeyWithValue("log_bin", "OFF")))
	}, SpecTimeout(runTime))
})
