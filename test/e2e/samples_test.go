//go:build samples

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/result"
	samplefiles "github.com/benchrun-dev/benchrun/test/samples"
)

// sampleTime is how long one file may take on a slow and busy machine.
const sampleTime = time.Hour

// samples has an entry for every file of config/samples, and of the publications for the small ones and the contest.
func samples() []TableEntry {
	const folder = "../../config/samples"
	var entries []TableEntry
	for _, pattern := range []string{"*.yaml", "publications/*-small.yaml", samplefiles.Contest} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(files) == 0 {
			panic(fmt.Sprintf("%d samples like %s, %v", len(files), pattern, err))
		}
		for _, file := range files {
			if name, err := filepath.Rel(folder, file); err == nil {
				entries = append(entries, Entry(nil, name, SpecTimeout(sampleTime)))
			}
		}
	}
	return entries
}

var _ = DescribeTable("a sample ends Complete, with numbers that add up",
	func(ctx SpecContext, file string) {
		text := need(os.ReadFile(filepath.Join(repository, "config", "samples", file)))
		manifest := samplefiles.Shortened(string(text))
		switch file {
		case "external.yaml":
			serve(ctx, "mariadb:11.8")
			kubectl(ctx, "create", "secret", "generic", "mariadb", "--from-literal=username=bench", "--from-literal=password="+password)
			manifest = strings.Replace(manifest, "host: mariadb.default.svc", "host: server."+namespace+".svc", 1)
		case "mariadb-operator.yaml":
			unrestricted(ctx)
		}
		applyInLane(ctx, manifest)
		for _, name := range runsOf(ctx, manifest) {
			// What is suspended waits for the one before it.
			kubectl(ctx, "patch", "benchmarkrun/"+name, "--type=merge", "-p", `{"spec":{"suspend":false}}`)
			kubectl(ctx, "wait", "--for=condition=Finished", "--timeout="+sampleTime.String(), "benchmarkrun/"+name)
			judge(ctx, getRun(ctx, name))
		}
	}, samples())

// runsOf are the names of the runs of a manifest, in its order. Jobs that make what they need are waited for.
func runsOf(ctx SpecContext, manifest string) []string {
	GinkgoHelper()
	var names []string
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		var run v1alpha1.BenchmarkRun
		Expect(yaml.Unmarshal([]byte(document), &run)).To(Succeed())
		switch run.Kind {
		case "BenchmarkRun":
			names = append(names, run.Name)
		case "Job":
			kubectl(ctx, "wait", "--for=condition=Complete", "--timeout="+runTime.String(), "job/"+run.Name)
		}
	}
	Expect(names).NotTo(BeEmpty(), "the sample has no run")
	return names
}

// judge compares what a finished run shows with what each of its attempts says, and prints what a person would look at.
func judge(ctx SpecContext, run *v1alpha1.BenchmarkRun) {
	GinkgoHelper()
	Expect(failure(run)).To(BeEmpty())
	results := configMap(ctx, run.Status.Results.ConfigMap).Data
	fmt.Fprintf(GinkgoWriter, "%s%s\n", kubectl(ctx, "get", "benchmarkrun", run.Name, "-o", "wide"), results["summary.md"])

	Expect(run.Status.Answer.Detail).NotTo(BeEmpty())
	Expect(run.Status.Claims).To(HaveLen(len(run.Spec.Claims)), "%+v", run.Status.Claims)
	planned := int(*run.Status.Trials.Planned)
	if len(run.Spec.Variants) > 0 { // and may have its answer before all are measured
		Expect(run.Status.Answer.Text).NotTo(BeEmpty())
		planned = int(*run.Status.Trials.Measured)
	}
	Expect(*run.Status.Trials.Measured).To(BeEquivalentTo(planned))
	var rows []string
	documents := accepted(ctx, run.Name)
	Expect(documents).To(HaveLen(planned))
	for name, document := range documents {
		for _, d := range measuredIn(document) {
			Expect(contradictions(d)).To(BeEmpty(), name)
			// A sample that bounds its seconds may end by them, as all of sysbench and stages that query do.
			stage := d.Config.Parameters[result.StageParameter]
			if d.Config.Workload.Type != string(v1alpha1.WorkloadSysbench) && run.Spec.Workload.Limits.Seconds == nil && stage == "" {
				Expect(d.Totals.StoppedBy).To(Equal(result.StoppedByRows), name)
			}
			t, of := d.Totals, document.Identity // which a variant in it does not have
			rows = append(rows, fmt.Sprintf("%d %d: %d rows, %d transactions, %d statements, %d µs",
				of.Trial, of.Attempt, t.Rows, t.Transactions, t.Statements, t.Micros))
		}
	}
	// A long one is packed.
	contents := need(clusterfiles.Read(ctx, cluster, namespace, run.Status.Results.ConfigMap))
	Expect(csvRows(string(need(result.UnpackFile("results.csv", contents))))).To(ConsistOf(rows))
}

// measuredIn a document is what counts: of each stage, and of each variant.
func measuredIn(document *result.Document) []*result.Document {
	if len(document.Sides) == 0 {
		return document.Measurements()
	}
	var list []*result.Document
	for i := range document.Sides {
		list = append(list, document.Sides[i].Measurements()...)
	}
	return list
}

// accepted are the documents of a run's accepted attempts, by the names of their ConfigMaps.
func accepted(ctx SpecContext, run string) map[string]*result.Document {
	GinkgoHelper()
	var configs corev1.ConfigMapList
	Expect(cluster.List(ctx, &configs, client.InNamespace(namespace), client.MatchingLabels{
		v1alpha1.LabelRun: run, v1alpha1.LabelComponent: v1alpha1.ComponentAttempt,
		v1alpha1.LabelOutcome: string(result.OutcomeAccepted),
	})).To(Succeed())
	documents := map[string]*result.Document{}
	for _, config := range configs.Items {
		d, err := result.DecodeDocument(config.BinaryData[result.DocumentKey])
		Expect(err).NotTo(HaveOccurred(), config.Name)
		documents[config.Name] = d
	}
	return documents
}

// csvRows are the totals of results.csv, a line for each trial.
func csvRows(text string) []string {
	GinkgoHelper()
	table := need(csv.NewReader(strings.NewReader(text)).ReadAll())
	var rows []string
	for _, cells := range table[1:] {
		cell := func(name string) string { return cells[slices.Index(table[0], name)] }
		rows = append(rows, fmt.Sprintf("%s %s: %s rows, %s transactions, %s statements, %s µs",
			cell("trial"), cell("attempt"), cell("rows"), cell("transactions"), cell("statements"), cell("micros")))
	}
	return rows
}
