// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// warningsOfComparison are what must be read with the answer: runs that should have had the same environment and had not, and the
// warnings of the runs themselves.
func warningsOfComparison(
	comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan, runs *ComparisonRuns,
) []stats.ComparisonFinding {
	var list []stats.ComparisonFinding
	for _, f := range comparisonFindings(comparison, p, runs) {
		list = append(list, stats.ComparisonFinding{PointFinding: stats.PointFinding{Finding: f}})
	}
	return append(list, warningsOfRuns(runs)...)
}

// comparisonFindings are about the comparison, and about what its runs were to have in common.
func comparisonFindings(comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan, runs *ComparisonRuns) []finding.Finding {
	list := tooFewRounds(comparison, p)
	differ := func(whose string, s property, variant int) {
		if values := s.several(environments(p, runs, variant)); values != nil {
			list = append(list, finding.Differ(finding.EnvironmentsDiffer, whose, s.name, values))
		}
	}
	for _, s := range shared {
		differ("the measurements", s, -1)
	}
	for i := range comparison.Spec.Variants {
		for _, s := range ofVariant {
			differ("the measurements of "+comparison.Spec.Variants[i].Name, s, i)
		}
	}
	if p.Baseline < len(p.Variants) {
		for i, v := range p.Variants {
			list = append(list, unrequested(comparison, p, runs, i, v.Differences)...)
			list = append(list, otherLog(comparison, p, runs, i)...)
		}
	}
	return list
}

// tooFewRounds says that no comparison can have a verdict.
func tooFewRounds(comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan) []finding.Finding {
	first := DesignOf(&comparison.Spec, len(p.Pairs)).FirstLook()
	if first <= int(plan.Rounds(&comparison.Spec).AtMost) {
		return nil
	}
	return []finding.Finding{finding.FewRounds(int(plan.Rounds(&comparison.Spec).AtMost), first, len(p.Pairs))}
}

// property of an environment.
type property struct {
	name string
	of   func(*v1alpha1.Environment) string
}

var (
	serverImage  = property{"server images", func(e *v1alpha1.Environment) string { return e.DatabaseImage }}
	settingsRead = property{"server variables", func(e *v1alpha1.Environment) string { return e.SettingsDigest }}
	// shared is what all runs of a comparison are to have in common, and ofVariant those of one variant.
	shared = []property{
		{"database nodes", func(e *v1alpha1.Environment) string { return e.DatabaseNode }},
		{"loader nodes", func(e *v1alpha1.Environment) string { return e.LoaderNode }},
		{"loader images", func(e *v1alpha1.Environment) string { return e.LoaderImage }},
		{"kernels", func(e *v1alpha1.Environment) string { return e.Kernel }},
		{"CPU models", func(e *v1alpha1.Environment) string { return e.CPUModel }},
	}
	ofVariant = []property{
		serverImage,
		settingsRead,
		{"file systems", func(e *v1alpha1.Environment) string { return e.Filesystem }},
		{"limits of block I/O", func(e *v1alpha1.Environment) string { return e.BlockIO }},
	}
)

// environments of the finished runs of a variant, or of all with -1.
func environments(p *ComparisonPlan, runs *ComparisonRuns, variant int) []*v1alpha1.Environment {
	var list []*v1alpha1.Environment
	for i, m := range runs.Members {
		if m.Measured != nil && (variant < 0 || p.Members[i].Variant == variant) {
			list = append(list, &m.Run.Status.Environment)
		}
	}
	return list
}

// several are the values of a property; nil if it has only one.
func (p property) several(list []*v1alpha1.Environment) []string {
	var values []string
	for _, e := range list {
		if value := p.of(e); value != "" && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	if len(values) < 2 {
		return nil
	}
	return values
}

// imageField is the path of the server's image in the specification of a run.
const imageField = "database.image"

// unrequested is a difference between a variant and the baseline that was not requested: the same image reference was another
// image, or the server had other variables although none was to differ.
func unrequested(
	comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan, runs *ComparisonRuns, variant int, requested []plan.Difference,
) []finding.Finding {
	ours, theirs := environments(p, runs, variant), environments(p, runs, p.Baseline)
	if len(ours) == 0 || len(theirs) == 0 {
		return nil
	}
	whose := fmt.Sprintf("%s and %s", comparison.Spec.Variants[variant].Name, comparison.Spec.Variants[p.Baseline].Name)
	both := []*v1alpha1.Environment{ours[0], theirs[0]}
	if slices.ContainsFunc(requested, func(d plan.Difference) bool { return d.Name == imageField }) {
		return nil
	}
	candidates := []property{serverImage}
	if len(requested) == 0 {
		candidates = append(candidates, settingsRead)
	}
	for _, s := range candidates {
		if values := s.several(both); values != nil {
			return []finding.Finding{finding.Differ(finding.Unrequested, whose, s.name, values)}
		}
	}
	return nil
}

// otherLog says that a variant and the baseline differ in the binary log and in something else, so that the log's cost is part of
// the difference.
func otherLog(comparison *v1alpha1.BenchmarkRun, p *ComparisonPlan, runs *ComparisonRuns, variant int) []finding.Finding {
	ours, known := hasBinaryLog(p, runs, variant)
	theirs, alsoKnown := hasBinaryLog(p, runs, p.Baseline)
	asked := p.Variants[variant].Differences
	alone := len(asked) == 1 && asked[0].Name == plan.BinaryLog(&p.Variants[variant].Run.Spec.Database).Name
	if variant == p.Baseline || alone || !known || !alsoKnown || ours == theirs {
		return nil
	}
	with, without := comparison.Spec.Variants[variant].Name, comparison.Spec.Variants[p.Baseline].Name
	if theirs {
		with, without = without, with
	}
	return []finding.Finding{finding.OtherLog(with, without)}
}

// hasBinaryLog says whether a variant's server writes a binary log, as far as that is known.
func hasBinaryLog(p *ComparisonPlan, runs *ComparisonRuns, variant int) (on, known bool) {
	log := plan.BinaryLog(&p.Variants[variant].Run.Spec.Database)
	value := valueOf(p, runs, variant, log.Name)
	return value == log.Value, value != ""
}

// valueOf a variable of a variant's server: what it said, or what is asked for; empty if neither is known.
func valueOf(p *ComparisonPlan, runs *ComparisonRuns, variant int, name string) string {
	if variant < len(runs.Variables) && runs.Variables[variant] != nil {
		return runs.Variables[variant][name]
	}
	return plan.SettingOf(&p.Variants[variant].Run.Spec.Database, name)
}

// warningsOfRuns are those of all points of all runs that were measured, with the number of their runs. Each is there
// once: those that differ only in what they measured are one.
func warningsOfRuns(runs *ComparisonRuns) []stats.ComparisonFinding {
	var all []stats.PointFinding
	var from []int
	measured := 0
	for i, m := range runs.Members {
		if m.Measured == nil {
			continue
		}
		measured++
		for _, w := range m.Measured.Warnings {
			all, from = append(all, w), append(from, i)
		}
	}
	var list []stats.ComparisonFinding
	for _, m := range stats.MergePointFindings(all) {
		of := map[int]bool{}
		for _, i := range m.From {
			of[from[i]] = true
		}
		list = append(list, stats.ComparisonFinding{PointFinding: m.PointFinding, Runs: len(of), OfRuns: measured})
	}
	return list
}
