//go:build faults

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

var _ = Describe("storage", func() {
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
})

var _ = Describe("an external server", func() {
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
