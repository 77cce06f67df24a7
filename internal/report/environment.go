// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// facts about where something was measured: a value for each name, or several, if they changed on the way.
type facts struct {
	names  []string
	values map[string][]*factValue
	// inputs are the names of those about files that were loaded.
	inputs []string
}

// factValue is a value of a fact, and who has it: trials of a run, or its variants.
type factValue struct {
	text string
	who  []string
	has  map[string]bool
}

// set a fact of a trial or a variant. What is empty is not known.
func (f *facts) set(who, name, text string) {
	if text == "" {
		return
	}
	if f.values[name] == nil {
		f.names = append(f.names, name)
	}
	i := slices.IndexFunc(f.values[name], func(v *factValue) bool { return v.text == text })
	if i < 0 {
		i = len(f.values[name])
		f.values[name] = append(f.values[name], &factValue{text: text, has: map[string]bool{}})
	}
	if v := f.values[name][i]; !v.has[who] {
		v.who, v.has[who] = append(v.who, who), true
	}
}

// add what a record knows of where it was measured. This is the only list of such facts: texts, pages and comparisons have it.
func (f *facts) add(who string, r *result.Record) {
	f.set(who, "server", r.Summary.ServerVersion)
	f.set(who, "server image", r.Place.DatabaseImage)
	f.set(who, "loader image", r.Place.LoaderImage)
	f.set(who, "loader", r.Summary.Identity.Loader)
	f.set(who, "database node", r.Place.DatabaseNode)
	f.set(who, "loader nodes", strings.Join(r.Place.Loaders(), ", "))
	if r.Place.DatabaseQoS != "" || r.Place.LoaderQoS != "" {
		f.set(who, "QoS classes", "database "+r.Place.DatabaseQoS+", loader "+r.Place.LoaderQoS)
	}
	if p := r.Fingerprint; p != nil {
		f.set(who, "CPUs", fmt.Sprintf("%d × %s", p.CPUs, p.CPUModel))
		memory := result.Unknown
		if p.MemoryBytes >= 0 {
			memory = fmt.Sprintf("%.1f GiB", float64(p.MemoryBytes)/(1<<30))
		}
		f.set(who, "node memory", memory)
		f.set(who, "kernel", p.Kernel)
		f.set(who, "data file system", fmt.Sprintf("%s (%s)", p.Filesystem, p.MountOptions))
		f.set(who, "device, I/O scheduler", p.Device+", "+p.IOScheduler)
		f.set(who, "block I/O limit on the data", p.BlockIO)
		f.set(who, "CPU governor", p.CPUGovernor)
		f.set(who, "transparent huge pages", p.TransparentHugePages)
		f.set(who, "swappiness", p.Swappiness)
	}
	f.set(who, "digest of all server variables", r.Summary.SettingsDigest)
	for _, in := range r.Summary.Inputs {
		rows := ""
		if in.Rows > 0 {
			rows = fmt.Sprintf("%d rows, ", in.Rows)
		}
		f.inputs = append(f.inputs, "input "+in.Name)
		f.set(who, "input "+in.Name, fmt.Sprintf("%s%d bytes, sha256 %s", rows, in.Bytes, in.SHA256))
	}
}

// facts of the attempts that count or, with variants, of this one, of all if the name is empty.
func (r *Report) facts(variant string) *facts {
	f := &facts{values: map[string][]*factValue{}}
	for _, record := range r.Accepted() {
		if !r.HasVariants() {
			f.add(strconv.Itoa(record.Trial), record)
		}
		for _, side := range record.Sides {
			if variant == "" || variant == side.Variant {
				f.add(side.Variant, record.Side(side.Variant))
			}
		}
	}
	return f
}

// differing are the facts that both know, and that are not the same: about inputs, or about everything else.
func (f *facts) differing(other *facts, inputs bool) []plan.Difference {
	var list []plan.Difference
	for _, name := range f.names {
		if slices.Contains(f.inputs, name) != inputs || other.values[name] == nil {
			continue
		}
		if before, after := f.joined(name), other.joined(name); before != after {
			list = append(list, plan.Difference{Name: name, From: before, To: after})
		}
	}
	return list
}

func (f *facts) joined(name string) string {
	var list []string
	for _, v := range f.values[name] {
		list = append(list, v.text)
	}
	return strings.Join(list, ", ")
}

// maxWho is how many are named that have a value.
const maxWho = 12

// Environment is the table of where the run was measured; nil if nothing is known. What is not the same for all is marked.
func (r *Report) Environment() *Table {
	f, who := r.facts(""), "trials"
	if len(f.names) == 0 {
		return nil
	}
	if r.HasVariants() {
		who = "variants"
	}
	t := &Table{Name: "Environment of the " + who, Head: Texts("what", "value")}
	add := func(class, name, text string) {
		if text != "" {
			t.Rows = append(t.Rows, Row{Class: class, Cells: []Cell{Words(name), Words(text)}})
		}
	}
	for _, fact := range f.names {
		values := f.values[fact]
		if len(values) == 1 {
			add("", fact, values[0].text)
			continue
		}
		for i, v := range values {
			name, whose := fact, fmt.Sprintf("%d %s", len(v.who), who)
			if i > 0 {
				name += " (also)"
			}
			if len(v.who) <= maxWho {
				whose = who + " " + strings.Join(v.who, ", ")
			}
			add("differs", name, v.text+" ("+whose+")")
		}
	}
	if !r.HasVariants() {
		accepted := r.Accepted()
		if p := accepted[len(accepted)-1].Fingerprint; p != nil {
			add("", "fdatasync on the data volume", fdatasync(p.FdatasyncMicros))
		}
		if p := stats.ProbeOfAll(accepted); p.FdatasyncMicros > 0 {
			add("", "probes before the trials, medians", fmt.Sprintf("fdatasync %s (p95 %s), CPU %s", micros(p.FdatasyncMicros),
				micros(p.FdatasyncP95Micros), micros(float64(p.WorkNanos)/1000)))
		}
	}
	for _, line := range r.tuned() {
		add("", "host tuning", line)
	}
	add("", "digest of the specification", r.SpecDigest)
	for _, v := range r.Variants {
		add("", "data volume of "+v.Name, v.Volume)
	}
	for _, v := range r.Variants {
		add("", "specification of "+v.Name, v.SpecDigest)
	}
	return t
}

// Place is the server and the machine of a run without variants, in a line; empty if nothing is known.
func (r *Report) Place() string {
	f, accepted := r.facts(""), r.Accepted()
	var list []string
	for _, name := range []string{"server", "CPUs", "data file system"} {
		if values := f.values[name]; len(values) > 0 {
			list = append(list, values[0].text)
		}
	}
	if n := len(accepted); n > 0 && accepted[n-1].Fingerprint != nil {
		if l := accepted[n-1].Fingerprint.FdatasyncMicros; l.Calls > 0 {
			list = append(list, "fdatasync "+medianAndMean(l))
		}
	}
	return strings.Join(list, ", ")
}

// fdatasync says what the probe has measured; empty if it has not.
func fdatasync(l result.FsyncLatency) string {
	if l.Calls == 0 {
		return ""
	}
	return fmt.Sprintf("%s (median of %d; p95 %s, longest %s)", medianAndMean(l), l.Calls, micros(l.P95), micros(l.Max))
}

// medianAndMean is the median latency, with the mean where that is far above: a limit makes one call of several wait.
func medianAndMean(l result.FsyncLatency) string {
	if l.Mean > 2*l.Median {
		return fmt.Sprintf("%s on average, %s", micros(l.Mean), micros(l.Median))
	}
	return micros(l.Median)
}

// micros is a time, given in microseconds, with its unit.
func micros[N int64 | float64](v N) string { return finding.Micros(float64(v), float64(v)) }

// tuned says what was changed on nodes, a line for each.
func (r *Report) tuned() []string {
	var list []string
	for _, n := range r.HostTuning {
		var changes []string
		for _, s := range []struct{ name, before, after string }{
			{"swappiness", n.Before.Swappiness, n.After.Swappiness},
			{"I/O scheduler of " + n.Disk, n.Before.IOScheduler, n.After.IOScheduler},
			{"transparent huge pages", n.Before.TransparentHugePages, n.After.TransparentHugePages},
		} {
			if s.before != "" {
				changes = append(changes, s.name+" "+s.after+" instead of "+s.before)
			}
		}
		end := "; restored afterwards"
		if !ptr.Deref(n.Restored, false) {
			end = "; NOT RESTORED: " + n.Message
		}
		list = append(list, "node "+n.Node+": "+strings.Join(changes, ", ")+end)
	}
	return list
}
