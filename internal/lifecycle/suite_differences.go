// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// VariantDifferences says of each variant in what it asks for something else than the baseline, and which server variables differ
// besides: a sentence or two for each.
func VariantDifferences(suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved) []string {
	var list []string
	for i, v := range p.Variants {
		if i == p.Baseline {
			continue
		}
		name, baseline := suite.Spec.Variants[i].Name, suite.Spec.Variants[p.Baseline].Name
		text := fmt.Sprintf("%s asks for the same as %s", name, baseline)
		if len(v.Differences) > 0 {
			text = fmt.Sprintf("%s differs from %s in: %s", name, baseline, plan.List(v.Differences))
		}
		if besides := UnaskedOf(p, seen, i).Text; besides != "" {
			text += "; " + besides
		}
		list = append(list, text)
	}
	return list
}

// Unasked are the server variables of a variant that differ from the baseline's without being asked for.
type Unasked struct {
	// Count is how many there are.
	Count int
	// Text names them, or says that there is none; it is empty if they are not known yet.
	Text string
}

// UnaskedOf a variant.
func UnaskedOf(p *SuitePlan, seen *SuiteObserved, variant int) Unasked {
	if len(seen.Variables) == 0 || seen.Variables[variant] == nil || seen.Variables[p.Baseline] == nil {
		return Unasked{}
	}
	baseline, v := p.Variants[p.Baseline].Run, p.Variants[variant].Run
	u, err := plan.UnaskedDifferences(&baseline.Spec, &v.Spec, seen.Variables[p.Baseline], seen.Variables[variant])
	if err != nil { // an engine that is not known has no plan either
		return Unasked{}
	}
	onlyOne := "" // before the list, whose end may be cut off
	if u.OnlyTheirs+u.OnlyOurs > 0 {
		onlyOne = fmt.Sprintf(" (%d more exist in %s only, %d in %s only)", u.OnlyTheirs, baseline.Spec.Database.Engine, u.OnlyOurs,
			v.Spec.Database.Engine)
	}
	if len(u.Differ) == 0 {
		return Unasked{Text: fmt.Sprintf("none of %d other server variables differs%s", u.Same, onlyOne)}
	}
	return Unasked{len(u.Differ), fmt.Sprintf("%d of %d other server variables differ without being asked for%s: %s", len(u.Differ),
		len(u.Differ)+u.Same, onlyOne, someOf(u.Differ))}
}

// someOf a list of differences, as a text of bounded length.
func someOf(list []plan.Difference) string {
	var shown []string
	for _, d := range list[:min(len(list), maxBesides)] {
		text := d.String()
		if short := cut(text, maxDifference); short != text {
			text = short + "…"
		}
		shown = append(shown, text)
	}
	if more := len(list) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more: the documents of the attempts have all variables", more))
	}
	return strings.Join(shown, ", ")
}

// maxBesides is how many variables that differ without being asked for are named, and maxDifference the length of what is said of
// one: two versions of a server differ in dozens, some of which are lists.
const maxBesides, maxDifference = 12, 80

// Invalidated is how many attempts of all runs were disturbed and measured again.
func Invalidated(seen *SuiteObserved) int {
	n := 0
	for _, m := range seen.Members {
		if m.Run != nil {
			n += int(ptr.Deref(m.Run.Status.Trials.Invalidated, 0))
		}
	}
	return n
}

// SuiteWarnings are what must be read with the answer: runs that should have had the same environment and had not, and the
// warnings of the runs themselves.
func SuiteWarnings(suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved) []stats.SuiteWarning {
	var list []stats.SuiteWarning
	for _, f := range suiteFindings(suite, p, seen) {
		list = append(list, stats.SuiteWarning{Warning: stats.Warning{Finding: f}})
	}
	return append(list, warningsOfRuns(seen)...)
}

// suiteFindings are about the suite, and about what its runs were to have in common.
func suiteFindings(suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved) []finding.Finding {
	list := tooFewRounds(suite, p)
	differ := func(runs string, s property, variant int) {
		if values := s.several(environments(p, seen, variant)); values != nil {
			list = append(list, finding.Differ(finding.EnvironmentsDiffer, runs, s.name, values))
		}
	}
	for _, s := range shared {
		differ("the runs", s, -1)
	}
	for i := range suite.Spec.Variants {
		for _, s := range ofVariant {
			differ("the runs of "+suite.Spec.Variants[i].Name, s, i)
		}
	}
	if p.Baseline < len(p.Variants) {
		for i, v := range p.Variants {
			list = append(list, unrequested(suite, p, seen, i, v.Differences)...)
			list = append(list, otherLog(suite, p, seen, i)...)
		}
	}
	return list
}

// tooFewRounds says that no comparison can have a verdict.
func tooFewRounds(suite *v1alpha1.BenchmarkSuite, p *SuitePlan) []finding.Finding {
	first := design(suite, p).FirstLook()
	if first <= int(suite.Spec.MaxRounds) {
		return nil
	}
	return []finding.Finding{finding.FewRounds(int(suite.Spec.MaxRounds), first, len(p.Pairs))}
}

// property of an environment.
type property struct {
	name string
	of   func(*v1alpha1.Environment) string
}

var (
	serverImage  = property{"server images", func(e *v1alpha1.Environment) string { return e.DatabaseImage }}
	settingsRead = property{"server variables", func(e *v1alpha1.Environment) string { return e.SettingsDigest }}
	// shared is what all runs of a suite are to have in common, and ofVariant those of one variant.
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
func environments(p *SuitePlan, seen *SuiteObserved, variant int) []*v1alpha1.Environment {
	var list []*v1alpha1.Environment
	for i, m := range seen.Members {
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

// unrequested is a difference between a variant and the baseline that nobody asked for: the same image reference was another
// image, or the server had other variables although none was to differ.
func unrequested(
	suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved, variant int, asked []plan.Difference,
) []finding.Finding {
	ours, theirs := environments(p, seen, variant), environments(p, seen, p.Baseline)
	if len(ours) == 0 || len(theirs) == 0 {
		return nil
	}
	whose := fmt.Sprintf("%s and %s", suite.Spec.Variants[variant].Name, suite.Spec.Variants[p.Baseline].Name)
	both := []*v1alpha1.Environment{ours[0], theirs[0]}
	if slices.ContainsFunc(asked, func(d plan.Difference) bool { return d.Name == imageField }) {
		return nil
	}
	candidates := []property{serverImage}
	if len(asked) == 0 {
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
func otherLog(suite *v1alpha1.BenchmarkSuite, p *SuitePlan, seen *SuiteObserved, variant int) []finding.Finding {
	const name, on = "log_bin", "ON"
	ours, theirs := valueOf(p, seen, variant, name), valueOf(p, seen, p.Baseline, name)
	asked := p.Variants[variant].Differences
	alone := len(asked) == 1 && asked[0].Name == name
	if variant == p.Baseline || alone || ours == "" || theirs == "" || ours == theirs {
		return nil
	}
	with, without := suite.Spec.Variants[variant].Name, suite.Spec.Variants[p.Baseline].Name
	if theirs == on {
		with, without = without, with
	}
	return []finding.Finding{finding.OtherLog(with, without)}
}

// valueOf a variable of a variant's server: what it said, or what is asked for; empty if neither is known.
func valueOf(p *SuitePlan, seen *SuiteObserved, variant int, name string) string {
	if variant < len(seen.Variables) && seen.Variables[variant] != nil {
		return seen.Variables[variant][name]
	}
	return plan.SettingOf(&p.Variants[variant].Run.Spec.Database, name)
}

// warningsOfRuns are those of all points of all runs that were measured, with the number of their runs. Each is there
// once: those that differ only in what they measured are one.
func warningsOfRuns(seen *SuiteObserved) []stats.SuiteWarning {
	var all []stats.Warning
	var runs []int
	measured := 0
	for i, m := range seen.Members {
		if m.Measured == nil {
			continue
		}
		measured++
		for _, w := range m.Measured.Warnings {
			all, runs = append(all, w), append(runs, i)
		}
	}
	var list []stats.SuiteWarning
	for _, m := range stats.MergeWarnings(all) {
		of := map[int]bool{}
		for _, i := range m.From {
			of[runs[i]] = true
		}
		list = append(list, stats.SuiteWarning{Warning: m.Warning, Runs: len(of), OfRuns: measured})
	}
	return list
}
