// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// factsOf what was measured and where, over all attempts that count.
func factsOf(records []*result.Record) []fact {
	var list []fact
	note := func(of fact, value string) {
		i := slices.IndexFunc(list, func(f fact) bool { return f.name == of.name })
		if i < 0 {
			i, list = len(list), append(list, of)
		}
		list[i].values = appendNew(list[i].values, value)
	}
	add := func(name, value string) { note(fact{name: name}, value) }
	for _, r := range records {
		add("database node", r.Place.DatabaseNode)
		add("loader node", strings.Join(r.Place.Loaders(), " and "))
		add("database image", r.Place.DatabaseImage)
		add("loader image", r.Place.LoaderImage)
		add("server version", r.Summary.ServerVersion)
		add("settings digest", r.Summary.SettingsDigest)
		for _, in := range r.Summary.Inputs {
			note(fact{name: "input " + in.Name, input: true}, "sha256 "+in.SHA256)
		}
		add("database's class of service", r.Place.DatabaseQoS)
		add("loader's class of service", r.Place.LoaderQoS)
		if f := r.Fingerprint; f != nil {
			add("kernel", f.Kernel)
			add("CPU", fmt.Sprintf("%d × %s", f.CPUs, f.CPUModel))
			add("memory", strconv.FormatInt(f.MemoryBytes, 10)+" bytes")
			add("file system", fmt.Sprintf("%s (%s)", f.Filesystem, f.MountOptions))
			add("I/O scheduler", f.IOScheduler)
			if f.BlockIO != "" {
				add("limit of block I/O", f.BlockIO)
			}
			add("CPU governor", f.CPUGovernor)
			add("transparent huge pages", f.TransparentHugePages)
		}
	}
	return list
}

// variantFacts about a variant in all rounds.
func variantFacts(r *Report, variant string) []fact {
	list := []fact{
		{name: "database node"},
		{name: "loader node"},
		{name: "database image"},
		{name: "server version"},
		{name: "settings digest"},
	}
	for _, run := range r.Runs {
		if run.Variant != variant {
			continue
		}
		for i, value := range []string{
			run.DatabaseNode, run.LoaderNode, run.DatabaseImage, run.ServerVersion, run.SettingsDigest,
		} {
			list[i].values = appendNew(list[i].values, value)
		}
	}
	return list
}

// differences of what was asked for beside the workload, of the environment, and of the node's speed, a line for each.
func differences(a, b *Side) []string {
	var list []string
	for _, d := range plan.Changes(a.spec, b.spec) {
		if !aboutWork(d.Name) {
			list = append(list, line(d))
		}
	}
	for _, fact := range differingFacts(a, b, false) {
		list = append(list, line(fact))
	}
	return append(list, stats.ProbeDifferences(a.probe, b.probe)...)
}

// differingFacts are those that both sides know, and that are not the same: about inputs, or about everything else.
func differingFacts(a, b *Side, inputs bool) []plan.Difference {
	var list []plan.Difference
	for _, f := range a.facts {
		if f.input != inputs {
			continue
		}
		i := slices.IndexFunc(b.facts, func(other fact) bool { return other.name == f.name })
		if i < 0 || len(f.values) == 0 || len(b.facts[i].values) == 0 {
			continue
		}
		if before, after := strings.Join(f.values, ", "), strings.Join(b.facts[i].values, ", "); before != after {
			list = append(list, plan.Difference{Name: f.name, From: before, To: after})
		}
	}
	return list
}

// otherwise says in what the two did not measure the same: another workload, other parameters of it, other data, or more
// rows.
func otherwise(a, b *Side) []string {
	var list []string
	if a.workload != b.workload {
		list = append(list, line(plan.Difference{Name: "workload", From: a.workload, To: b.workload}))
	}
	for _, d := range plan.Changes(a.spec, b.spec) {
		if aboutWork(d.Name) {
			list = append(list, line(d))
		}
	}
	for _, fact := range differingFacts(a, b, true) {
		list = append(list, line(fact))
	}
	return append(list, otherRows(a, b)...)
}

// otherRows says at which points the trials had other numbers of rows: with the points, unless these are the only rows of
// all.
func otherRows(a, b *Side) []string {
	var texts []string
	points, common := map[string][]string{}, 0
	for _, p := range a.points {
		if b.at(p.label) != nil {
			common++
		}
		before, after := a.rows[p.label], b.rows[p.label]
		if len(before) == 0 || len(after) == 0 || slices.Equal(before, after) {
			continue
		}
		text := fmt.Sprintf("rows per trial: %s → %s", strings.Join(before, ", "), strings.Join(after, ", "))
		texts, points[text] = appendNew(texts, text), append(points[text], p.label)
	}
	for i, text := range texts {
		if n := len(points[text]); n < common {
			texts[i] += ", at " + strings.Join(points[text][:min(n, maxLabels)], "; ")
			if n > maxLabels {
				texts[i] += fmt.Sprintf(" and %d more points", n-maxLabels)
			}
		}
	}
	return texts
}

// separateMethod says how two sides were compared.
func separateMethod(a, b *Side, names [2]string, points int) []string {
	over := ""
	if points > 1 {
		over = fmt.Sprintf(" across all %d points", points)
	}
	method := fmt.Sprintf("The ratio is the median of the ratios of every value of %s to every value of %s; its interval is "+
		"that of the Mann-Whitney test at 95%% confidence%s.", names[1], names[0], over)
	when := "The two were not interleaved"
	if !a.started.IsZero() && !b.started.IsZero() {
		first, second, between := names[0], names[1], b.started.Sub(a.started)
		if between < 0 {
			first, second, between = names[1], names[0], -between
		}
		when += fmt.Sprintf(": %s began %s after %s", second, between.Round(time.Second), first)
	}
	return []string{method, when + ". If the machine changed in between, that is part of the difference. " +
		"A run with variants avoids this: it measures both in every round."}
}

// betweenRunsText says what a comparison of two runs assumes about those that do not differ.
func betweenRunsText(fraction float64) string {
	if fraction == 0 {
		return "The intervals cover nothing that differs from run to run, such as a restart of the server (--between-runs 0)."
	}
	return fmt.Sprintf("The intervals assume that results of equal runs differ with a standard deviation of %s%% from run to run "+
		"(--between-runs); more trials do not reduce this part.", stats.Format(100*fraction))
}

// line is a difference in a list of them.
func line(d plan.Difference) string { return fmt.Sprintf("%s: %s → %s", d.Name, d.From, d.To) }

// aboutWork says whether a field of the specification is about what is measured, and not about the server and its place.
func aboutWork(path string) bool {
	return strings.HasPrefix(path, "spec.workload.") || path == "spec.seed" || path == "spec.trials.data" ||
		path == "spec.loader.pods"
}
