//go:build e2e

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/csv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

var _ = Describe("a run", func() {
	It("measures the sample's six commit sizes, by time", takesMinutes, func(ctx SpecContext) {
		sample, err := os.ReadFile(filepath.Join(repository, "config", "samples", "commit-size.yaml"))
		Expect(err).NotTo(HaveOccurred())
		apply(ctx, string(sample))
		run := complete(ctx, "commit-size")

		Expect(run.Status.Progress).To(Equal("36/36"))
		Expect(run.Status.Points).To(HaveLen(6))
		Expect(run.Status.Points[0].Warnings).To(ContainElement(ContainSubstring("not Guaranteed (database Burstable, loader Burstable)")))
		Expect(run.Status.Headline).To(ContainSubstring("rows/s"))
		Expect(run.Status.Environment.ServerVersion).To(ContainSubstring("MariaDB"))
		Expect(run.Status.Environment.FdatasyncMicros).To(BeNumerically(">", 0))
		Expect(run.Status.Environment.Filesystem).NotTo(BeEmpty())
		Expect(run.Status.Environment.DatabaseImage).NotTo(BeEmpty())

		By("adding up the rows of results.csv")
		results := configMap(ctx, run.Status.Results.ConfigMap)
		rows, err := csv.NewReader(strings.NewReader(results.Data["results.csv"])).ReadAll()
		Expect(err).NotTo(HaveOccurred())
		Expect(rows).To(HaveLen(37))
		column := func(name string) int { return slices.Index(rows[0], name) }
		for _, row := range rows[1:] {
			size, err := strconv.Atoi(row[column("rowsPerCommit")])
			Expect(err).NotTo(HaveOccurred())
			inserted, err := strconv.Atoi(row[column("rows")])
			Expect(err).NotTo(HaveOccurred())
			Expect(inserted).To(BeNumerically(">", 0))
			Expect(row[column("transactions")]).To(Equal(strconv.Itoa((inserted + size - 1) / size)))
		}

		By("showing what users look at")
		Expect(kubectl(ctx, "get", "brun", "-o", "wide")).To(And(
			MatchRegexp(`STATUS\s+TRIALS\s+RESULT\s+DURATION\s+AGE\s+HEADLINE\s+ENGINE\s+WORKLOAD\s+CLAIMS\s+NODE\s+INVALID`),
			MatchRegexp(`commit-size\s+Complete\s+36/36\s+\d+(\.\d+)? rows/s at rowsPerCommit=\d+\s+.*\d+(\.\d+)? rows/s \(\d+(\.\d+)?–\d+(\.\d+)?\) at rowsPerCommit=\d+(; .* may be as good)?\s+.*MariaDB.*\s+CommitSize\s+\d (hold|does|do not|undecided).*\s+\S+\s+0`)))
		Expect(kubectl(ctx, "describe", "brun", "commit-size")).To(And(
			ContainSubstring("Fdatasync Micros"), ContainSubstring("Rows Per Commit"), ContainSubstring("measured: 36 trials at 6 points")))
		Expect(results.Data["summary.md"]).To(And(
			ContainSubstring("rowsPerCommit"), Not(ContainSubstring("less than a second")), Not(ContainSubstring("stopped at the limit"))))
		for _, point := range run.Status.Points {
			Expect(point.Interval).To(Equal(v1alpha1.IntervalConfidence95))
		}

		By("leaving nothing that runs")
		nothingRuns(ctx)
	}, SpecTimeout(20*time.Minute))

	It("runs with the settings that were asked for, and records what the server rounded", func(ctx SpecContext) {
		apply(ctx, small("settings", `
    settings: {bufferPoolSize: 256Mi, logFileSize: 96Mi}
    variables: {max_allowed_packet: "1000001", loose_no_such_thing: "1", sql_mode: "NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES"}`))
		complete(ctx, "settings")
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
	}, SpecTimeout(runTime))

	DescribeTable("ends with the server's own line if it refuses its configuration",
		func(ctx SpecContext, variable, line string) {
			apply(ctx, small("refused", "    variables: {"+variable+"}"))
			Expect(failure(finished(ctx, "refused"))).To(And(
				HavePrefix("ServerRefusedConfiguration: the server reported: "), ContainSubstring(line)))
		},
		Entry("a misspelt value", `innodb_flush_method: O_DIRCET`,
			"Error while setting value 'O_DIRCET' to 'innodb-flush-method'", SpecTimeout(runTime)),
		Entry("an unknown variable", `innodb_flash_method: O_DIRECT`,
			"unknown variable 'innodb_flash_method=O_DIRECT'", SpecTimeout(runTime)),
		Entry("a variable that can only be read", `lower_case_file_system: "ON"`,
			"unknown variable 'lower_case_file_system=ON'", SpecTimeout(runTime)),
	)

	It("makes the same Jobs, the same my.cnf and the same rows from the same seed", func(ctx SpecContext) {
		first := observeRun(ctx, "same")
		kubectl(ctx, "delete", "benchmarkrun/same", "--wait")
		second := observeRun(ctx, "same")
		Expect(second.config).To(Equal(first.config))
		Expect(slices.Sorted(maps.Keys(second.jobs))).To(Equal([]string{"same-t1-a1", "same-t2-a1"}))
		Expect(second.jobs).To(Equal(first.jobs))
		Expect(second.checksum).To(Equal(first.checksum))
	}, SpecTimeout(2*runTime))

	It("measures another version, on a fresh database in memory for each attempt", func(ctx SpecContext) {
		manifest := strings.NewReplacer("mariadb:11.8", "mariadb:10.11", "{size: 1Gi}", "{medium: Memory, size: 512Mi}",
			"{repetitions: 1}", "{repetitions: 1, server: Fresh}").Replace(small("fresh", ""))
		apply(ctx, manifest)
		run := complete(ctx, "fresh")
		Expect(run.Status.Environment.ServerVersion).To(HavePrefix("10.11."))
		Expect(run.Status.Environment.Filesystem).To(Equal("tmpfs"))
		for trial, instance := range map[string]int{"fresh-t1-a1": 1, "fresh-t2-a1": 2} {
			Expect(record(ctx, trial).Instance).To(Equal(instance))
		}
	}, SpecTimeout(runTime))

	It("leaves nothing when it is deleted in the middle", func(ctx SpecContext) {
		apply(ctx, strings.ReplaceAll(small("gone", ""), "rows: 200", "rows: 1000000000"))
		kubectl(ctx, "wait", "--for=create", "--timeout=4m", "job/gone-t1-a1")
		kubectl(ctx, "wait", "--for=jsonpath={.status.ready}=1", "--timeout=2m", "job/gone-t1-a1")
		kubectl(ctx, "delete", "benchmarkrun/gone", "--wait=false")
		Eventually(func(g Gomega) {
			g.Expect(kubectl(ctx, "get", "pods,jobs,pvc,secrets,statefulsets,services,configmaps", "-l", v1alpha1.LabelRun+"=gone", "-o", "name")).
				To(BeEmpty())
		}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(time.Second).Should(Succeed())
	}, SpecTimeout(runTime))
})

// observation is what a run was made of, with its UID taken out.
type observation struct {
	jobs             map[string]string
	config, checksum string
}

// observeRun measures a small run and catches its objects while they live.
func observeRun(ctx SpecContext, name string) observation {
	GinkgoHelper()
	watch, err := cluster.Watch(ctx, &batchv1.JobList{}, client.InNamespace(namespace))
	Expect(err).NotTo(HaveOccurred())
	defer watch.Stop()
	apply(ctx, small(name, `
    settings: {bufferPoolSize: 64Mi}
    variables: {innodb_flush_method: O_DIRECT}`)+"  placement: Any\n")
	kubectl(ctx, "wait", "--for=create", "--timeout=2m", "configmap/"+name+"-db1")
	seen := observation{jobs: map[string]string{}, config: configMap(ctx, name+"-db1").Data["benchrun.cnf"]}
	run := complete(ctx, name)
	for len(seen.jobs) < 2 {
		event := <-watch.ResultChan()
		job, ok := event.Object.(*batchv1.Job)
		Expect(ok).To(BeTrue(), "the watch ended: %v", event)
		uid := string(run.UID)
		text, err := yaml.Marshal(map[string]any{"labels": job.Labels, "spec": withoutControllerUID(job)})
		Expect(err).NotTo(HaveOccurred())
		seen.jobs[job.Name] = strings.NewReplacer(uid, "UID", uid[:8], "UID8").Replace(string(text))
	}
	seen.checksum = check(document(ctx, name+"-t1-a1"), "checksum").Detail
	Expect(seen.checksum).NotTo(BeEmpty())
	Expect(check(document(ctx, name+"-t2-a1"), "checksum").Detail).To(Equal(seen.checksum))
	return seen
}

// withoutControllerUID is a Job's specification without what the API server adds to tell its Pods apart, and without the address
// that the server's Pod was given. The loader has it for the server's name.
func withoutControllerUID(job *batchv1.Job) batchv1.JobSpec {
	s := *job.Spec.DeepCopy()
	s.Selector = nil
	Expect(s.Template.Spec.HostAliases).To(HaveLen(1))
	Expect(s.Template.Spec.HostAliases[0].IP).NotTo(BeEmpty())
	s.Template.Spec.HostAliases[0].IP = ""
	for _, label := range []string{batchv1.ControllerUidLabel, "controller-uid"} {
		delete(s.Template.Labels, label)
		delete(job.Labels, label)
	}
	return s
}

var _ = Describe("the observer", func() {
	It("says what the server used, and what the node was like before each trial", func(ctx SpecContext) {
		apply(ctx, small("seen", ""))
		run := complete(ctx, "seen")
		Expect(run.Status.Environment.TrialProbe.FdatasyncMicros).To(BeNumerically(">", 0))
		Expect(run.Status.Environment.TrialProbe.WorkNanos).To(BeNumerically(">", 0))
		for _, name := range []string{"seen-t1-a1", "seen-t2-a1"} {
			used, known := document(ctx, name).Observed.Used()
			Expect(known).To(BeTrue())
			Expect(used.WriteBytes).To(BeNumerically(">", 0))
			Expect(used.WriteCalls).To(BeNumerically(">", 0))
			Expect(used.MaxRSSBytes).To(BeNumerically(">", 64<<20))
			Expect(used.CPULimitMillis).To(BeEquivalentTo(1000))
			Expect(used.ThrottledMicros).To(BeNumerically(">=", 0))
		}
		Expect(configMap(ctx, "seen-results").Data["results.csv"]).To(ContainSubstring("serverMicrosPerRow"))
	}, SpecTimeout(runTime))

	It("is left out where it is not wanted", func(ctx SpecContext) {
		apply(ctx, small("unseen", "    observer: Disabled"))
		run := complete(ctx, "unseen")
		Expect(run.Status.Environment.TrialProbe).To(BeZero())
		Expect(document(ctx, "unseen-t1-a1").Observed).To(BeNil())
		Expect(configMap(ctx, "unseen-results").Data["summary.md"]).NotTo(ContainSubstring("the observer in the database's Pod"))
	}, SpecTimeout(runTime))
})
