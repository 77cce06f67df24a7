// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

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

// comparisonFacts about the runs of a variant.
func comparisonFacts(s *Comparison, variant string) []fact {
	list := []fact{
		{name: "database node"},
		{name: "loader node"},
		{name: "database image"},
		{name: "server version"},
		{name: "settings digest"},
	}
	for _, run := range s.Runs {
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
	for _, path := range differing(a.spec, b.spec) {
		if !aboutWork(path.name) {
			list = append(list, path.String())
		}
	}
	for _, fact := range differingFacts(a, b, false) {
		list = append(list, fact.String())
	}
	return append(list, stats.ProbeDifferences(a.probe, b.probe)...)
}

// differingFacts are those that both sides know, and that are not the same: about inputs, or about everything else.
func differingFacts(a, b *Side, inputs bool) []change {
	var list []change
	for _, f := range a.facts {
		if f.input != inputs {
			continue
		}
		i := slices.IndexFunc(b.facts, func(other fact) bool { return other.name == f.name })
		if i < 0 || len(f.values) == 0 || len(b.facts[i].values) == 0 {
			continue
		}
		if before, after := strings.Join(f.values, ", "), strings.Join(b.facts[i].values, ", "); before != after {
			list = append(list, change{f.name, before, after})
		}
	}
	return list
}

// otherwise says in what the two did not measure the same: another workload, other parameters of it, other data, or more
// rows.
func otherwise(a, b *Side) []string {
	var list []string
	if a.workload != b.workload {
		list = append(list, change{"workload", a.workload, b.workload}.String())
	}
	for _, path := range differing(a.spec, b.spec) {
		if aboutWork(path.name) {
			list = append(list, path.String())
		}
	}
	for _, fact := range differingFacts(a, b, true) {
		list = append(list, fact.String())
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
		"A BenchmarkComparison avoids this: it measures both in every round."}
}

// betweenRunsText says what a comparison of two runs assumes about those that do not differ.
func betweenRunsText(fraction float64) string {
	if fraction == 0 {
		return "The intervals cover nothing that differs from run to run, such as a restart of the server (--between-runs 0)."
	}
	return fmt.Sprintf("The intervals assume that results of equal runs differ with a standard deviation of %s%% from run to run "+
		"(--between-runs); more trials do not reduce this part.", stats.Format(100*fraction))
}

// change of a field between two specifications.
type change struct{ name, before, after string }

func (c change) String() string { return fmt.Sprintf("%s: %s → %s", c.name, c.before, c.after) }

// aboutWork says whether a field of the specification is about what is measured, and not about the server and its place.
func aboutWork(path string) bool {
	return strings.HasPrefix(path, "spec.workload.") || path == "spec.seed" || path == "spec.trials.data" ||
		path == "spec.loader.pods"
}

// irrelevant fields say how long something may take, what is judged, and what is kept: not what a trial measures. The
// values of a sweep and its points say which points there are: those of only one side are named.
func irrelevant(path string) bool {
	for _, prefix := range []string{
		"spec.claims", "spec.results", "spec.suspend", "spec.cleanup", "spec.lane", "spec.ttlSecondsAfterFinished",
		"spec.deadlineSeconds", "spec.queueDeadlineSeconds", "spec.trials.repetitions", "spec.trials.precision",
		"spec.trials.startDeadlineSeconds", "spec.trials.deadlineSeconds", "spec.trials.maxInvalid", "spec.sweep",
		"spec.workload.type",
	} {
		if path == prefix || strings.HasPrefix(path, prefix+".") {
			return true
		}
	}
	parts := strings.Split(path, ".")
	return len(parts) > 3 && parts[1] == "workload" && (parts[3] == "sweep" || parts[3] == "points")
}

// differing are the fields in which two specifications differ, in alphabetical order; none if either is not known.
func differing(a, b json.RawMessage) []change {
	before, after := flattened(a), flattened(b)
	if before == nil || after == nil {
		return nil
	}
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	var list []change
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, hadIt := before[name]
		y, hasIt := after[name]
		if irrelevant(name) || hadIt && hasIt && x == y {
			continue
		}
		if !hadIt {
			x = "not set"
		}
		if !hasIt {
			y = "not set"
		}
		list = append(list, change{name, x, y})
	}
	return list
}

// flattened are the fields of a specification by their paths, with lists as one value each; nil if it cannot be read.
func flattened(spec json.RawMessage) map[string]string {
	var tree map[string]any
	dec := json.NewDecoder(bytes.NewReader(spec))
	dec.UseNumber() // as they are written: 1000000 and not 1e+06
	if dec.Decode(&tree) != nil {
		return nil
	}
	fields := map[string]string{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		if members, is := value.(map[string]any); is {
			for name, member := range members {
				walk(path+"."+name, member)
			}
			return
		}
		text, err := json.Marshal(value)
		if err != nil {
			return
		}
		fields[path] = strings.Trim(string(text), `"`)
	}
	walk("spec", tree)
	return fields
}
