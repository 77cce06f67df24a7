// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// facts about where something was measured: a value for each name, or several, if they changed on the way.
type facts struct {
	names  []string
	values map[string][]*value
}

// value of a fact, and who has it: trials of a run, or its variants.
type value struct {
	text string
	who  []string
	has  map[string]bool
}

// set a fact of a trial or a variant. What is empty is not known.
func (f *facts) set(who, name, text string) {
	if text == "" {
		return
	}
	if f.values == nil {
		f.values = map[string][]*value{}
	}
	if !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
	i := slices.IndexFunc(f.values[name], func(v *value) bool { return v.text == text })
	if i < 0 {
		i = len(f.values[name])
		f.values[name] = append(f.values[name], &value{text: text, has: map[string]bool{}})
	}
	if v := f.values[name][i]; !v.has[who] {
		v.who, v.has[who] = append(v.who, who), true
	}
}

// add what a record knows of where it was measured.
func (f *facts) add(who string, r *result.Record) {
	f.set(who, "server", r.Summary.ServerVersion)
	f.set(who, "server image", r.Place.DatabaseImage)
	f.set(who, "loader image", r.Place.LoaderImage)
	f.set(who, "loader", r.Summary.Identity.Loader)
	f.set(who, "database node", r.Place.DatabaseNode)
	f.set(who, "loader nodes", list(r.Place.Loaders()))
	f.set(who, "QoS classes", qos(&r.Place))
	if p := r.Fingerprint; p != nil {
		f.set(who, "CPUs", fmt.Sprintf("%d × %s", p.CPUs, p.CPUModel))
		f.set(who, "node memory", memory(p.MemoryBytes))
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
		f.set(who, "input "+in.Name, fmt.Sprintf("%d bytes, sha256 %s", in.Bytes, in.SHA256))
	}
}

func qos(p *result.Place) string {
	if p.DatabaseQoS == "" && p.LoaderQoS == "" {
		return ""
	}
	return "database " + p.DatabaseQoS + ", loader " + p.LoaderQoS
}

// memory of a machine, which may be unknown.
func memory(bytes int64) string {
	if bytes < 0 {
		return result.Unknown
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// one value of a fact: the first, or empty.
func (f *facts) one(name string) string {
	if len(f.values[name]) == 0 {
		return ""
	}
	return f.values[name][0].text
}

// maxWho is how many are named that have a value.
const maxWho = 12

// table of the facts. Those that are not the same for all are marked.
func (f *facts) table(name, who string) *table {
	if len(f.names) == 0 {
		return nil
	}
	t := &table{Name: name, Head: texts("what", "value")}
	for _, fact := range f.names {
		values := f.values[fact]
		if len(values) == 1 {
			t.Rows = append(t.Rows, row{Cells: []cell{words(fact), words(values[0].text)}})
			continue
		}
		for i, v := range values {
			label := fact
			if i > 0 {
				label = fact + " (also)"
			}
			whose := fmt.Sprintf("%d %s", len(v.who), who)
			if len(v.who) <= maxWho {
				whose = who + " " + strings.Join(v.who, ", ")
			}
			t.Rows = append(t.Rows, row{Class: "differs", Cells: []cell{words(label), words(v.text + " (" + whose + ")")}})
		}
	}
	return t
}

// disks are what the latency of a durable write was: once, and before the trials.
func disks(accepted []*result.Record) []row {
	var rows []row
	if len(accepted) == 0 {
		return nil
	}
	e := analysis.EnvironmentOf(accepted)
	if f := e.Fingerprint; f != nil && f.FdatasyncMicros.Calls > 0 {
		l := f.FdatasyncMicros
		rows = append(rows, row{Cells: []cell{
			words("fdatasync on the data volume"),
			words(fmt.Sprintf("%s (median of %d; p95 %s, longest %s)",
				report.FdatasyncMicros(l), l.Calls, report.Micros(l.P95), report.Micros(l.Max))),
		}})
	}
	if f := e.Fingerprint; f != nil && len(f.VolumeBenchmark) > 0 {
		rows = append(rows, row{Cells: []cell{
			words("the empty volume, one operation at a time"), words(report.VolumeBenchmark(f.VolumeBenchmark)),
		}})
	}
	if text := report.ProbeText(e.Probe); text != "" {
		rows = append(rows, row{Cells: []cell{words("probes before the trials, medians"), words(text)}})
	}
	return rows
}

// environment of a run's trials.
func environment(r *report.Report, d *Details) (*table, string) {
	var f facts
	accepted := r.Accepted()
	for _, record := range accepted {
		f.add(strconv.Itoa(record.Trial), record)
	}
	t := f.table("Environment of the trials", "trials")
	if t == nil {
		return nil, ""
	}
	t.Rows = append(t.Rows, disks(accepted)...)
	if d != nil {
		for _, text := range d.changed {
			t.Rows = append(t.Rows, row{Class: "differs", Cells: []cell{words("server variables that changed"), words(text)}})
		}
	}
	t.Rows = append(t.Rows, row{Cells: []cell{words("digest of the specification"), words(r.SpecDigest)}})
	place := []string{f.one("server"), f.one("CPUs"), f.one("data file system")}
	if fp := accepted[len(accepted)-1].Fingerprint; fp != nil && fp.FdatasyncMicros.Calls > 0 {
		place = append(place, "fdatasync "+report.FdatasyncMicros(fp.FdatasyncMicros))
	}
	return t, list(slices.DeleteFunc(place, func(s string) bool { return s == "" }))
}

// settings that were asked for, and what the server made of them.
func settings(list []result.AppliedSetting) *table {
	if len(list) == 0 {
		return nil
	}
	t := &table{
		Name: "Requested settings",
		Head: texts("variable", "requested", "effective", "outcome"),
	}
	for _, s := range list {
		r := row{Cells: []cell{words(s.Name), words(s.Requested), words(s.Effective), words(string(s.Outcome))}}
		if s.Outcome != result.SettingEffective {
			r.Class = "differs"
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// list is texts with commas between them.
func list(texts []string) string { return strings.Join(texts, ", ") }

// variables that differ without being asked for, a column for each variant; nil if none are known.
func variables(r *report.Report) *table {
	if len(r.Variables) == 0 {
		return nil
	}
	t := &table{Name: "Server variables that differ without being asked for", Sorted: true, Head: texts("variable")}
	for i := range r.Variants {
		t.Head = slices.Concat(t.Head, texts(r.Variants[i].Name))
	}
	for i := range r.Variables {
		v := &r.Variables[i]
		cells := []cell{words(v.Name)}
		for n, text := range v.Short() {
			c := words(text)
			if whole := v.Values[n]; whole != nil && *whole != text {
				c.Title = *whole
			}
			cells = append(cells, c)
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	return t
}
