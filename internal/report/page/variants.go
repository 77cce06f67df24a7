// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

// variantsView is what only the page of a run with variants shows.
type variantsView struct {
	// Answer is the verdict in a sentence, Stopped why there were no more rounds.
	Answer, Stopped string
	// Differences of the variants, those that were not requested marked.
	Differences []difference
	// Variables of the servers that differ without being asked for.
	Variables *table
	// Shared is what the variants have in common.
	Shared []string
	// Verdicts are the ratios, Rounds what was measured round by round.
	Verdicts, Rounds []figure
	// Causes is what a unit of work takes.
	Causes *table
	// Matrix has the ratios of several variants at several points.
	Matrix *table
	Pairs  *table
	// Reading says how the table of the pairs is to be read.
	Reading   string
	Undecided []string
}

// difference of a variant from the baseline.
type difference struct {
	Name, Title string
	Baseline    bool
	Requested   []string
	// Besides is what else differs; Unrequested says that it is more than nothing.
	Besides     string
	Unrequested bool
}

// addVariants adds what the page shows of a run with variants.
func (v *view) addVariants(r *report.Report, d *Details) {
	v.Warnings, v.Discarded, v.Environment = r.AllWarnings(), discardedRuns(r), variantsEnvironment(r, d)
	v.Answer, v.Undecided = r.Sentence(), r.Undecided()
	v.Stopped = fmt.Sprintf("%d of at most %d rounds, %s: %s.", r.Rounds, r.Planned, r.Paired(), strings.TrimSuffix(r.Message, "."))
	if r.Outcome == "Failed" {
		v.Failed = r.Message
		v.Stopped = fmt.Sprintf("%d of at most %d rounds were measured.", r.Rounds, r.Planned)
	}
	v.About = fmt.Sprintf("%s, %d variants, seed %d%s.", r.Workload, len(r.Variants), r.Seed, startedText(r))
	v.addDifferences(r)
	v.Causes = causes(r)
	if len(r.Pairs) > 0 {
		v.Matrix, v.Pairs, v.Reading = matrix(r), pairsTable(r), r.Reading()
	}
	if baseline := d.variant(r.Baseline()); baseline != nil {
		v.Settings = settings(baseline.settings)
		if v.Settings != nil {
			v.Settings.Name += " of " + r.Baseline()
		}
	}
}

func (v *view) addDifferences(r *report.Report) {
	for _, variant := range r.Variants {
		v.Differences = append(v.Differences, difference{
			Name: variant.Name, Title: variant.Title, Baseline: variant.Baseline, Requested: variant.Requested(), Besides: variant.Besides,
			Unrequested: variant.Unrequested > 0,
		})
	}
	v.Variables, v.Shared = variables(r), r.Shared()
}

// causes is a table of what a unit of work takes, of the largest differences; nil if nothing is known.
func causes(r *report.Report) *table {
	pairs := r.Explained()
	if len(pairs) == 0 {
		return nil
	}
	t := &table{
		Name: "Cost of a unit of work",
		Head: slices.Concat(texts("pair", "cost", "unit"), numbers("baseline", "variant", "ratio")),
	}
	for i := range pairs {
		p := &pairs[i]
		for _, c := range p.Costs {
			times := none()
			if c.Baseline > 0 {
				ratio := c.Variant / c.Baseline
				times = cell{Text: plot.Grouped(fmt.Sprintf("%.2g", ratio)), Value: written(ratio), Number: true}
			}
			t.Rows = append(t.Rows, row{Cells: []cell{
				words(pairName(p)), words(c.Name), words(c.Unit), amount(c.Baseline), amount(c.Variant), times,
			}})
		}
	}
	return t
}

// pairName is the variant and the point of a pair.
func pairName(p *stats.Paired) string {
	if place := placeName(p); place != "" {
		return p.Variant + ", " + place
	}
	return p.Variant
}

// placeName is the point of a pair, or that it is all of them; empty if there is only one.
func placeName(p *stats.Paired) string {
	if p.Points > 1 {
		return report.AllPoints
	}
	return stats.Label(p.Parameters)
}

// changedFirst sorts pairs: differences, the largest first, then what is equal, then what has no answer.
func changedFirst(pairs []stats.Paired) []stats.Paired {
	rank := map[stats.Verdict]int{stats.Equal: 1, stats.NoDifferenceShown: 2, stats.CannotSay: 3}
	return slices.SortedStableFunc(slices.Values(pairs), func(a, b stats.Paired) int {
		if c := cmp.Compare(rank[a.Verdict], rank[b.Verdict]); c != 0 || rank[a.Verdict] > 0 {
			return c
		}
		return cmp.Compare(math.Abs(math.Log(b.Ratio)), math.Abs(math.Log(a.Ratio)))
	})
}

// parameterHeads are the columns of the swept parameters in a table of these pairs.
func parameterHeads(parameters []string, pairs []stats.Paired) []head {
	var list []head
	for _, name := range parameters {
		var all []map[string]string
		for _, p := range pairs {
			all = append(all, p.Parameters)
		}
		list = append(list, head{Text: name, Number: setting(strings.Join(valuesOf(name, all)[:1], "")).Number})
	}
	return list
}

func pairsTable(r *report.Report) *table {
	pairs := changedFirst(r.Pairs)
	parameters := r.Parameters()
	t := &table{Name: "Every pair", Sorted: len(pairs) > 2, Head: []head{{Text: "variant"}}}
	m := pairs[0].Metric
	t.Head = slices.Concat(t.Head, parameterHeads(parameters, pairs), inUnit(m.Unit, pairs[0].Baseline, "variant"),
		inUnit(report.RatioOfRounds, "ratio"), numbers("interval", "rounds"),
		texts("verdict"))
	for i := range r.Overall {
		o := &r.Overall[i]
		cells := []cell{words(pairName(o))}
		for range parameters {
			cells = append(cells, none())
		}
		t.Rows = append(t.Rows, row{Cells: append(append(cells, none(), none()), judgement(o)...)})
	}
	for i := range pairs {
		p := &pairs[i]
		cells := []cell{words(p.Variant)}
		for _, name := range parameters {
			cells = append(cells, setting(p.Parameters[name]))
		}
		cells = append(cells, medianCell(p.BaselineValues), medianCell(p.Values))
		t.Rows = append(t.Rows, row{Cells: append(cells, judgement(p)...)})
	}
	return t
}

// judgement is the ratio of a pair, its interval, the rounds that it is made of, and the verdict.
func judgement(p *stats.Paired) []cell {
	ratio, span := none(), none()
	if text, interval := report.PairTexts(p); text != "" {
		ratio = cell{Text: text, Value: written(p.Ratio), Number: true}
		span = cell{Text: interval, Value: written(p.Low), Number: true}
	}
	verdict := cell{Text: report.VerdictWords(p), Class: strings.ToLower(string(p.Verdict))}
	return []cell{ratio, span, count(p.Rounds), verdict}
}

// discardedRuns are attempts and runs that do not count; nil if there are none.
func discardedRuns(r *report.Report) *table {
	lines := r.Discarded()
	if len(lines) == 0 {
		return nil
	}
	t := &table{Name: "Discarded", Head: []head{{Text: "what was discarded"}}}
	for _, line := range lines {
		t.Rows = append(t.Rows, row{Cells: []cell{words(line)}})
	}
	return t
}

// variantsEnvironment is where the runs were measured.
func variantsEnvironment(r *report.Report, d *Details) *table {
	var f facts
	if d != nil && len(d.facts.names) > 0 {
		f = d.facts
	} else {
		for i := range r.Runs {
			r := &r.Runs[i]
			f.set(r.Variant, "server", r.ServerVersion)
			f.set(r.Variant, "server image", r.DatabaseImage)
			f.set(r.Variant, "database node", r.DatabaseNode)
			f.set(r.Variant, "loader node", r.LoaderNode)
			f.set(r.Variant, "digest of all server variables", r.SettingsDigest)
		}
	}
	t := f.table("Environment of the variants", "variants")
	if t == nil {
		return nil
	}
	for _, v := range r.Variants {
		if v.Volume != "" {
			t.Rows = append(t.Rows, row{Cells: []cell{words("data volume of " + v.Name), words(v.Volume)}})
		}
	}
	for _, v := range r.Variants {
		t.Rows = append(t.Rows, row{Cells: []cell{words("specification of " + v.Name), words(v.SpecDigest)}})
	}
	return t
}

// measured are the points of a variant with their values of the headline metric, over the rounds that are whole.
func measured(r *report.Report, variant string) []stats.Point {
	return pointsOf(r.Plotted(&presentation.Curve{Among: claims.Selector{Variant: variant}}))
}
