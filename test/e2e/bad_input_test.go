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
	It("that the server or a program refuses ends the run at once, in their words", func(ctx SpecContext) {
		serve(ctx, "mariadb:11.8")
		ask(ctx, "SET GLOBAL local_infile = OFF")
		rows := []struct {
			name, workload string
			words          []string
		}{
			{"packet", "type: BulkInsert, bulkInsert: {table: FileList, rows: 1000000, rowsPerStatement: 1000000}", []string{
				"a statement of 1000000 rows takes up to ", "the server's max_allowed_packet is 16777216", "set rowsPerStatement to at most ",
			}},
			{"infile", `type: TPROCHLoad, tprochLoad: {scaleFactor: "0.01"}`, []string{"needs local_infile=ON, but the server has OFF"}},
			{"engine", "type: BulkInsert, bulkInsert: {rows: 1000, storageEngine: Nonsense}", []string{"Unknown storage engine 'Nonsense'"}},
			{"option", `type: Sysbench, sysbench: {script: oltp_read_write, seconds: 1, options: {nonsense: "1"}}`, []string{
				"invalid option: --nonsense=1",
			}},
			{"silent", program("true", ""), []string{"ended with exit code 0 but", "it printed nothing"}},
			{"talks", program("seq 1 30; echo no room >&2", ""), []string{
				"ended with exit code 0 but", "its last 20 lines: 12 | 13 | ", " | 30 | no room",
			}},
			{"unmatched", program("seq 1 30", ", result: {pattern: 'TPS: (?P<tps>[0-9]+)', metrics: [{name: tps, unit: t/s}]}"), []string{
				"ended with exit code 0 but", "no line that matches", "its last 20 lines: 11 | 12 | ",
			}},
		}
		for _, row := range rows {
			apply(ctx, borrows(row.name, row.workload))
		}
		for _, row := range rows {
			By(row.name)
			why := failure(finished(ctx, row.name))
			Expect(why).To(HavePrefix("LoaderFailed: "))
			for _, word := range row.words {
				Expect(why).To(ContainSubstring(word))
			}
			Expect(*getRun(ctx, row.name).Status.Trials.Invalidated).To(BeZero(), "it would end the same again")
		}
		Expect(ask(ctx, "SHOW DATABASES LIKE 'benchrun%'")).To(BeEmpty())
	}, SpecTimeout(runTime))

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
