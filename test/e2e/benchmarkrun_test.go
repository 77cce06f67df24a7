//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

var _ = Describe("a run", func() {
	It("measures commit sizes of the sample, by time", takesMinutes, func(ctx SpecContext) {
		sample := need(os.ReadFile(filepath.Join(repository, "config", "samples", "commit-size.yaml")))
		apply(ctx, strings.Replace(string(sample), "[1, 4, 16, 64, 256, 1024]", "[1, 16, 1024]", 1)) // what its claims are about
		run := complete(ctx, "commit-size")

		Expect(run.Status.Progress).To(Equal("18/18"))
		Expect(run.Status.Points).To(HaveLen(3))
		Expect(run.Status.FindingTexts()).To(ContainElement(ContainSubstring("not Guaranteed (database Burstable, loader Burstable)")))
		Expect(run.Status.Answer.Detail).To(ContainSubstring("rows/s"))
		Expect(run.Status.Environment.ServerVersion).To(ContainSubstring("MariaDB"))
		Expect(run.Status.Environment.FdatasyncMicros).To(BeNumerically(">", 0))
		Expect(run.Status.Environment.Filesystem).NotTo(BeEmpty())
		Expect(run.Status.Environment.DatabaseImage).NotTo(BeEmpty())

		By("showing what users look at")
		results := configMap(ctx, run.Status.Results.ConfigMap)
		Expect(kubectl(ctx, "get", "brun", "-o", "wide")).To(And(
			MatchRegexp(`STATUS\s+PROGRESS\s+RESULT\s+DURATION\s+AGE\s+DETAIL\s+ENGINE\s+WORKLOAD\s+CLAIMS\s+NODE\s+INVALID`),
			MatchRegexp(`commit-size\s+Complete\s+18/18\s+\d+(\.\d+)? rows/s at rowsPerCommit=\d+\s+.*\d+(\.\d+)? rows/s \(\d+(\.\d+)?–\d+(\.\d+)?\) at rowsPerCommit=\d+(; .* may be as good)?\s+.*MariaDB.*\s+CommitSize\s+(holds|does not hold|cannot say): \d.*\s+\S+\s+0`)))
		Expect(kubectl(ctx, "describe", "brun", "commit-size")).To(And(
			ContainSubstring("Fdatasync Micros"), ContainSubstring("Rows Per Commit"), ContainSubstring("measured: 18 trials at 3 points")))
		Expect(results.Data["summary.md"]).To(And(
			ContainSubstring("rowsPerCommit"), Not(ContainSubstring("less than a second")), Not(ContainSubstring("stopped at the limit"))))
		for _, point := range run.Status.Points {
			Expect(point.Interval).To(Equal(v1alpha1.IntervalConfidence95))
		}

		By("leaving nothing that runs")
		nothingRuns(ctx)
	}, SpecTimeout(20*time.Minute))

	It("runs with the settings that were asked for, and records what the server rounded and used", func(ctx SpecContext) {
		apply(ctx, small("settings", `
    settings: {bufferPoolSize: 256Mi, redoLogSize: 96Mi}
    variables: {max_allowed_packet: "1000001", loose_no_such_thing: "1", sql_mode: "NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES"}`))
		run := complete(ctx, "settings")
		d := document(ctx, "settings-t1-a1")
		Expect(d.Server.Variables).To(HaveKeyWithValue("innodb_buffer_pool_size", "268435456"))
		Expect(d.Server.Variables).To(HaveKeyWithValue("innodb_log_file_size", "100663296"))
		Expect(d.Server.Variables).To(HaveKeyWithValue("log_bin", "OFF"))
		outcomes := map[string]result.SettingOutcome{}
		for _, s := range d.Server.Settings {
			outcomes[s.Name] = s.Outcome
		}
		Expect(outcomes).To(And(
			HaveKeyWithValue("innodb_buffer_pool_size", result.SettingEffective),
			HaveKeyWithValue("sql_mode", result.SettingEffective),
			HaveKeyWithValue("max_allowed_packet", result.SettingAdjusted),
			HaveKeyWithValue("no_such_thing", result.SettingIgnored)))

		By("saying what the server used, and what the node was like before each trial")
		Expect(run.Status.Environment.TrialProbe.FdatasyncMicros).To(BeNumerically(">", 0))
		Expect(run.Status.Environment.TrialProbe.WorkNanos).To(BeNumerically(">", 0))
		for _, name := range []string{"settings-t1-a1", "settings-t2-a1"} {
			used, known := document(ctx, name).Observed.Used()
			Expect(known).To(BeTrue())
			Expect(used.WriteBytes).To(BeNumerically(">", 0))
			Expect(used.WriteCalls).To(BeNumerically(">", 0))
			Expect(used.MaxRSSBytes).To(BeNumerically(">", 64<<20))
			Expect(used.CPULimitMillis).To(BeEquivalentTo(1000))
			Expect(used.ThrottledMicros).To(BeNumerically(">=", 0))
		}
		Expect(configMap(ctx, "settings-results").Data["results.csv"]).To(ContainSubstring("serverMicrosPerRow"))
	}, SpecTimeout(runTime))

	It("leaves nothing when it is deleted in the middle", func(ctx SpecContext) {
		apply(ctx, strings.ReplaceAll(small("gone", ""), "rows: 200", "rows: 1000000000"))
		kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/gone-t1-a1")
		kubectl(ctx, "wait", "--for=jsonpath={.status.ready}=1", "--timeout=2m", "job/gone-t1-a1")
		kubectl(ctx, "delete", "benchmarkrun/gone", "--wait=false")
		Eventually(func(g Gomega) {
			g.Expect(kubectl(ctx, "get", "pods,jobs,pvc,secrets,statefulsets,services,configmaps", "-l", v1alpha1.LabelRun+"=gone", "-o", "name")).
				To(BeEmpty())
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	}, SpecTimeout(runTime))
})
