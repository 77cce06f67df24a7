//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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

	It("without TLS is refused if TLS is asked for, and a deleted run leaves nothing on it", func(ctx SpecContext) {
		serve(ctx, "mariadb:10.11")
		apply(ctx, against("tls", reachable, ", tls: {mode: Required}"))
		Expect(failure(finished(ctx, "tls"))).To(And(
			HavePrefix("DatabaseUnreachable: "), ContainSubstring("TLS requested but server does not support TLS")))

		apply(ctx, `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: long}
spec:
  database: {provisioner: External, external: {`+reachable+`}}
  workload: {type: CommitSize, commitSize: {rows: 1000000000}}
`)
		kubectl(ctx, "wait", "--for=create", "--timeout=1m", "job/long-t1-a1")
		Eventually(func() string { return ask(ctx, "SHOW DATABASES LIKE 'benchrun%'") }).WithContext(ctx).WithTimeout(runTime / 4).
			Should(Equal("benchrun_long\n"))
		kubectl(ctx, "delete", "benchmarkrun/long", "--wait=false")
		Eventually(func() string { return ask(ctx, "SHOW DATABASES LIKE 'benchrun%'") }).WithContext(ctx).WithTimeout(runTime / 4).
			Should(BeEmpty())
	}, SpecTimeout(runTime))
})

// borrows is a run of one trial on an external server.
func borrows(name, workload string) string {
	return fmt.Sprintf(`
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: %s}
spec:
  database: {provisioner: External, external: {%s}}
  workload: {%s}
  trials: {repetitions: 1}
  loader: {resources: {requests: {cpu: 50m}, limits: {cpu: "1", memory: 128Mi}}}
  seed: 7
`, name, reachable, workload)
}

// program is a Custom workload of a line for a shell; how its result is found follows.
func program(line, result string) string {
	return fmt.Sprintf("type: Custom, custom: {image: 'mariadb:11.8', command: [sh, -c, %q]%s}", line, result)
}

var _ = Describe("a workload", func() {
	It("takes any password, and shows it nowhere", func(ctx SpecContext) {
		serve(ctx, "mariadb:11.8")
		client := `MYSQL_PWD="$(cat "$BENCHRUN_DB_PASSWORD_FILE")" mariadb --host="$BENCHRUN_DB_HOST" ` +
			`--user="$(cat "$BENCHRUN_DB_USER_FILE")" -N -e "SELECT 'answer', 42" "$BENCHRUN_DB_SCHEMA"`
		rows := []struct{ name, workload string }{
			{"loader", "type: CommitSize, commitSize: {rows: 200}"},
			{"infile", `type: TPROCHLoad, tprochLoad: {scaleFactor: "0.01"}`},
			{"custom", program(client, `, result: {pattern: 'answer\s(?P<answer>\d+)', metrics: [{name: answer, unit: "1"}]}`)},
			{"sysbench", "type: Sysbench, sysbench: {script: oltp_point_select, tableSize: 100, seconds: 1}"},
		}
		for _, row := range rows {
			apply(ctx, borrows(row.name, row.workload))
		}
		for _, row := range rows {
			By(row.name)
			complete(ctx, row.name)
			Expect(contradictions(document(ctx, row.name+"-t1-a1"))).To(BeEmpty())
		}
		By("looking for it")
		for _, seen := range []string{
			kubectl(ctx, "get", "benchmarkruns,events", "-o", "yaml"),
			kubectl(ctx, "get", "configmaps", "-l", v1alpha1.LabelRun, "-o", "yaml"),
			kubectl(ctx, "logs", "-n", "benchrun-system", "deployment/benchrun-manager", "--tail=-1"),
		} {
			Expect(seen).NotTo(ContainSubstring("it$(x)"))
		}
		for _, row := range rows {
			d := document(ctx, row.name+"-t1-a1")
			Expect(fmt.Sprintf("%+v %+v", d, d.Tool)).NotTo(ContainSubstring("it$(x)"))
		}
	}, SpecTimeout(runTime))
})
