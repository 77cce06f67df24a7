// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package frozen_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// TestFrozenReports: the files and the pages of reports: of what was published, of every kind of page, and of samples that are
// judged here.
func TestFrozenReports(t *testing.T) {
	cases := judged(t)
	published(t, cases)
	maps.Copy(cases, map[string]pagetest.Case{
		"page-commit-size": pagetest.CommitSize(), "page-grid": pagetest.Grid(), "page-words": pagetest.Words(),
		"page-iibench": pagetest.IIBench(), "page-failed": pagetest.Failed(), "page-single": pagetest.Single(),
		"page-comparison": pagetest.Comparison(), "page-versions": pagetest.Versions(3, 2),
	})
	for name, c := range cases {
		c.Report.Requested = requested(t, name)
		files, err := report.Files(c.Report)
		var b bytes.Buffer
		checkFiles(t, name, files, err, page.Write(&b, c.Report, c.Details), &b)
	}
}

// requested are the plots and tables of the file of a publication that has the name of the run.
func requested(t *testing.T, name string) report.Requested {
	t.Helper()
	_, name, _ = strings.Cut(name, "-")
	text, err := os.ReadFile("../../config/samples/publications/" + name + ".plots")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return pagetest.File(string(text)) // of nothing, if there is none
}

func checkFiles(t *testing.T, name string, files []result.File, filesErr, pageErr error, page *bytes.Buffer) {
	t.Helper()
	if filesErr != nil || pageErr != nil {
		t.Fatalf("%s: %v, %v", name, filesErr, pageErr)
	}
	for _, f := range files {
		frozen.Check(t, "reports/"+name+"/"+f.Name, f.Data)
	}
	frozen.Check(t, "reports/"+name+"/report.html.gz", page.Bytes())
}

// published are the reports of results.json of the small publications.
func published(t *testing.T, cases map[string]pagetest.Case) {
	t.Helper()
	files := must.Get(filepath.Glob("inputs/*.json"))(t)
	must.Same(t, "inputs", 6, len(files))
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		of, err := report.FromResults(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases["published-"+strings.TrimSuffix(filepath.Base(file), ".json")] = pagetest.Case{Report: of}
	}
}

// judged are reports of samples with measured values that were made with a seed.
func judged(t *testing.T) map[string]pagetest.Case {
	t.Helper()
	cases := map[string]pagetest.Case{}
	for _, s := range samples(t) {
		name := "judged-" + filepath.Base(s.name)
		switch s.name {
		case "commit-size/commit-size", "iibench/iibench", "sysbench/sysbench":
			cases[name] = pagetest.Case{Report: judgedRun(t, s.run)}
		case "durable-or-not/durable-or-not", "000-file-list-inserts-small/file-list-small":
			cases[name] = pagetest.Case{Report: judgedVariants(t, &s)}
		}
	}
	return cases
}

var started = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// values are rates that scatter by a few percent. Each point is quicker than the one before it, each variant than the one before.
type values struct{ *rand.Rand }

func newValues() values { return values{rand.New(rand.NewPCG(uint64(seed), 1))} }

func (v values) at(variant, point int) float64 {
	return 1000 * float64(1+point) * (1 + 0.1*float64(variant)) * (1 + 0.03*v.NormFloat64())
}

func judgedRun(t *testing.T, run *v1alpha1.BenchmarkRun) *report.Report {
	t.Helper()
	p := must.Get(validation.PlanRun(run))(t)
	run.Status.StartTime = &started
	made := newValues()
	var records []*result.Record
	for _, trial := range p.Trials {
		records = append(records, testutil.Record(trial.Number, 1, p.Points[trial.Point].Parameters, made.at(0, trial.Point)))
	}
	rep := must.Get(report.Of(run, p, records, nil, v1alpha1.ConditionComplete, ""))(t)
	return rep
}

// drawn are values by round, variant and point, drawn in the order in which whole runs of one variant after the other would have
// them.
func drawn(t *testing.T, run *v1alpha1.BenchmarkRun) map[string]float64 {
	t.Helper()
	p := must.Get(judge.PlanVariants(run, validation.PlanRun))(t)
	made, values := newValues(), map[string]float64{}
	for _, m := range p.Sides {
		for _, trial := range p.Variants[m.Variant].Plan.Trials {
			of := p.Variants[m.Variant].Plan
			values[fmt.Sprint(m.Round, m.Variant, stats.Label(of.Points[trial.Point].Parameters))] = made.at(m.Variant, trial.Point)
		}
	}
	return values
}

// judgedVariants has rounds in each of which every variant has a value of its own at each point.
func judgedVariants(t *testing.T, s *sample) *report.Report {
	t.Helper()
	made := drawn(t, s.run)
	s.run.Status.StartTime = &started
	var records []*result.Record
	for _, trial := range s.plan.Trials {
		var sides []result.SideSummary
		record := testutil.Record(trial.Number, 1, s.plan.Points[trial.Point].Parameters, 1)
		for _, side := range trial.Sides {
			one := testutil.Record(trial.Number, 1, record.Parameters, made[fmt.Sprint(trial.Round, side, stats.Label(record.Parameters))])
			sides = append(sides, result.SideSummary{Variant: s.plan.Variants[side], Summary: *one.Summary})
			record.Sides = append(record.Sides, result.SideRecord{Variant: s.plan.Variants[side], Instance: side + 1, Place: one.Place})
		}
		whole := sides[0].Summary
		if record.Summary = &whole; len(sides) > 1 {
			whole.Sides = sides
		}
		records = append(records, record)
	}
	c := judge.OfVariants(s.run, s.plan, records, nil, nil)
	rep := must.Get(report.Of(s.run, s.plan, records, c, v1alpha1.ConditionComplete, "all rounds are measured"))(t)
	return rep
}
