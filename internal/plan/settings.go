// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
)

// Settings are everything that a specification asks of the configuration of such a server, sorted by name. The same list makes
// the option file and is read back before anything is measured. Of an external server only the settings in its specification
// are asked for.
func Settings(e *engine.Engine, db *v1alpha1.DatabaseSpec) []engine.Setting {
	var list []engine.Setting
	s := &db.Settings
	if s.BufferPoolSize != nil && e.Options.BufferPoolSize != nil {
		list = append(list, e.Options.BufferPoolSize(s.BufferPoolSize.Value()))
	}
	if s.RedoLogSize != nil && e.Options.RedoLogSize != nil {
		said := cmp.Or(db.Variables["innodb_log_files_in_group"], db.Variables["loose_innodb_log_files_in_group"])
		files, _ := strconv.ParseInt(string(said), 10, 64) // the server refuses what is no number
		list = append(list, e.Options.RedoLogSize(s.RedoLogSize.Value(), files))
	}
	if s.FlushLogAtTrxCommit != nil && e.Options.FlushLogAtTrxCommit != nil {
		list = append(list, e.Options.FlushLogAtTrxCommit(*s.FlushLogAtTrxCommit))
	}
	if e.Options.BinaryLog != nil && (s.BinaryLog != nil || db.Provisioner != v1alpha1.ProvisionerExternal) {
		list = append(list, e.Options.BinaryLog(ptr.Deref(s.BinaryLog, false)))
	}
	if s.SynchronousCommit != "" && e.Options.SynchronousCommit != nil {
		list = append(list, e.Options.SynchronousCommit(string(s.SynchronousCommit)))
	}
	for _, key := range slices.Sorted(maps.Keys(db.Variables)) {
		list = append(list, e.Options.Variable(key, string(db.Variables[key])))
	}
	slices.SortStableFunc(list, func(a, b engine.Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// EngineOf a server: that which is named, or that of its image. The error is about a name that is not known.
func EngineOf(db *v1alpha1.DatabaseSpec) (*engine.Engine, error) {
	return engine.Named(string(db.Engine), db.Image)
}

// nameEngine names the engine of a server that follows from its image: which of the two a specification says makes no difference.
func nameEngine(db *v1alpha1.DatabaseSpec) {
	if e, err := EngineOf(db); err == nil {
		db.Engine = v1alpha1.Engine(e.Name)
	}
}

// SettingOf is what a specification asks a variable of the server to be; empty if it asks for nothing.
func SettingOf(db *v1alpha1.DatabaseSpec, name string) string {
	e, err := EngineOf(db)
	if err != nil { // an engine that is not known has no settings
		return ""
	}
	for _, s := range Settings(e, db) {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// BinaryLog is the setting that switches the binary log on; its zero value for an engine that has none, or that is not known.
func BinaryLog(db *v1alpha1.DatabaseSpec) engine.Setting {
	e, err := EngineOf(db)
	if err != nil || e.Options.BinaryLog == nil {
		return engine.Setting{}
	}
	return e.Options.BinaryLog(true)
}

// CacheSizes are the variables for the sizes of a server's buffer pool and redo log, without names if its engine is not known.
func CacheSizes(db *v1alpha1.DatabaseSpec) (pool, redo string) {
	e, err := EngineOf(db)
	if err != nil {
		return "", ""
	}
	named := e.Options.Named()
	return named["bufferPoolSize"], named["redoLogSize"]
}

// Unset is how a difference shows that one side says nothing.
const Unset = "unset"

// OrName stands between the two names of a variable that has another one in each of two engines.
const OrName = " or "

// Difference is a setting, a server variable or another field that has two values.
type Difference struct {
	// Name of the variable, or the field's path in the specification.
	Name string `json:"name"`
	// From and To are the values; unset is one, too.
	From string `json:"from"`
	To   string `json:"to"`
}

func (d Difference) String() string { return fmt.Sprintf("%s (%s → %s)", d.Name, d.From, d.To) }

// lacks is 1 if one side says nothing.
func (d Difference) lacks() int {
	if d.From == Unset || d.To == Unset {
		return 1
	}
	return 0
}

// List are differences for people.
func List(differences []Difference) string {
	texts := make([]string, 0, len(differences))
	for _, d := range differences {
		texts = append(texts, d.String())
	}
	return strings.Join(texts, ", ")
}

// Differences are what one run asks for and another does not: first server settings by their own names, then everything else
// by its path in the specification. Of two engines, a setting that has another name in each has both.
func Differences(from, to *v1alpha1.BenchmarkRunSpec) ([]Difference, error) {
	list, err := SettingDifferences(from, to)
	if err != nil {
		return nil, err
	}
	theirs, err := leaves(from)
	if err != nil {
		return nil, err
	}
	ours, err := leaves(to)
	if err != nil {
		return nil, err
	}
	return append(list, changes(theirs, ours)...), nil
}

// SettingDifferences are those of Differences in the settings of the servers.
func SettingDifferences(from, to *v1alpha1.BenchmarkRunSpec) ([]Difference, error) {
	p, err := enginesOf(from, to)
	if err != nil {
		return nil, err
	}
	return changes(p.common(p.from, settingValues(p.from, from)), p.common(p.to, settingValues(p.to, to))), nil
}

// Changes are the fields of what each trial of two specifications measures that differ, by their paths from "spec"; none if
// either cannot be read. Which points there are, and how often they are measured, is not among them.
func Changes(from, to json.RawMessage) []Difference {
	var of [2]map[string]string
	for i, text := range []json.RawMessage{from, to} {
		var spec v1alpha1.BenchmarkRunSpec
		if json.Unmarshal(text, &spec) != nil {
			return nil
		}
		rest := measured(&spec)
		rest.Sweep = nil
		t := &rest.Trials
		t.Repetitions, t.Precision, t.MaxInvalid = nil, nil, nil
		t.StartDeadlineSeconds, t.DeadlineSeconds = 0, 0
		encoded, err := json.Marshal(rest)
		if err != nil {
			return nil
		}
		of[i] = map[string]string{}
		if flatten(of[i], "spec", encoded) != nil {
			return nil
		}
		maps.DeleteFunc(of[i], func(path, _ string) bool {
			parts := strings.Split(path, ".")
			return path == "spec.workload.type" ||
				len(parts) > 3 && parts[1] == "workload" && (parts[3] == "sweep" || parts[3] == "points")
		})
	}
	return changes(of[0], of[1])
}

func changes(from, to map[string]string) []Difference {
	all := maps.Clone(from)
	maps.Copy(all, to)
	var list []Difference
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, before := from[name]
		b, after := to[name]
		if before == after && a == b {
			continue
		}
		if !before {
			a = Unset
		}
		if !after {
			b = Unset
		}
		list = append(list, Difference{name, a, b})
	}
	return list
}

// Unrequested is how the variables of two servers differ although no setting asks for it. State and identity of a server are left
// out.
type Unrequested struct {
	// Differ are those with different values, by their names; Differing and Same are how many differ and are identical. Servers of
	// one engine differ in what one of them lacks, too: that comes after what both have, because a new variable is rarely why an old
	// load has become slower.
	Differ    []Difference `json:"differ,omitempty"`
	Differing int          `json:"differing"`
	Same      int          `json:"same"`
	// OnlyBaseline and OnlyVariant are how many exist in one engine only; the engines are empty if there are none.
	OnlyBaseline   int    `json:"onlyBaseline,omitempty"`
	OnlyVariant    int    `json:"onlyVariant,omitempty"`
	BaselineEngine string `json:"baselineEngine,omitempty"`
	VariantEngine  string `json:"variantEngine,omitempty"`
}

// UnrequestedDifferences of the variables of two servers.
func UnrequestedDifferences(from, to *v1alpha1.BenchmarkRunSpec, theirs, ours map[string]string) (Unrequested, error) {
	p, err := enginesOf(from, to)
	if err != nil {
		return Unrequested{}, err
	}
	requested := map[string]bool{}
	request := func(e *engine.Engine, spec *v1alpha1.BenchmarkRunSpec) {
		for _, s := range Settings(e, &spec.Database) {
			requested[s.Name], requested[e.Variables.Synonyms[s.Name]] = true, true
		}
	}
	request(p.from, from)
	request(p.to, to)
	// Of two images that are asked for, it says nothing that they name themselves otherwise. Of one, it says a lot.
	otherImage := from.Database.Image != to.Database.Image
	state := func(name string) bool {
		_, before := theirs[name]
		_, after := ours[name]
		return before && p.from.Variables.IsState(name) || after && p.to.Variables.IsState(name) ||
			otherImage && base.NamesBuild(name)
	}
	known := func(of *engine.Engine, variables map[string]string) map[string]string {
		rest := maps.Clone(variables)
		maps.DeleteFunc(rest, func(name, _ string) bool { return requested[name] || state(name) })
		return p.common(of, rest)
	}
	theirs, ours = known(p.from, theirs), known(p.to, ours)
	u := Unrequested{}
	for name, value := range ours {
		if other, found := theirs[name]; found && other == value {
			u.Same++
		}
	}
	if p.from != p.to {
		before, after := len(theirs), len(ours)
		maps.DeleteFunc(theirs, func(name, _ string) bool { _, both := ours[name]; return !both })
		maps.DeleteFunc(ours, func(name, _ string) bool { _, both := theirs[name]; return !both })
		if u.OnlyBaseline, u.OnlyVariant = before-len(theirs), after-len(ours); u.OnlyBaseline+u.OnlyVariant > 0 {
			u.BaselineEngine, u.VariantEngine = p.from.Name, p.to.Name
		}
	}
	u.Differ = changes(theirs, ours)
	u.Differing = len(u.Differ)
	slices.SortStableFunc(u.Differ, func(a, b Difference) int { return a.lacks() - b.lacks() })
	return u, nil
}

type pair struct{ from, to *engine.Engine }

func enginesOf(from, to *v1alpha1.BenchmarkRunSpec) (p pair, err error) {
	if p.from, err = EngineOf(&from.Database); err != nil {
		return pair{}, err
	}
	p.to, err = EngineOf(&to.Database)
	return p, err
}

// common gives the variables of one of the engines, under the names that both have: where these differ, the name is both.
func (p pair) common(of *engine.Engine, variables map[string]string) map[string]string {
	for theirs, ours := range p.from.NamesIn(p.to) {
		name := theirs
		if of == p.to {
			name = ours
		}
		if value, found := variables[name]; found {
			delete(variables, name)
			variables[theirs+OrName+ours] = value
		}
	}
	return variables
}

func settingValues(e *engine.Engine, spec *v1alpha1.BenchmarkRunSpec) map[string]string {
	values := map[string]string{}
	for _, s := range Settings(e, &spec.Database) {
		values[s.Name] = s.Value
	}
	return values
}

// leaves are all other values of a specification, by their paths. The seed is not among them: it belongs to the round.
func leaves(spec *v1alpha1.BenchmarkRunSpec) (map[string]string, error) {
	rest := spec.DeepCopy()
	rest.Database.Settings, rest.Database.Variables, rest.Seed = v1alpha1.ServerSettings{}, nil, nil
	nameEngine(&rest.Database)
	text, err := json.Marshal(rest)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	values := map[string]string{}
	return values, flatten(values, "", text)
}

func flatten(into map[string]string, path string, value json.RawMessage) error {
	if !isObject(value) {
		into[path] = strings.Trim(string(value), `"`)
		return nil
	}
	return eachField(value, func(name string, content json.RawMessage) error {
		return flatten(into, strings.TrimPrefix(path+"."+name, "."), content)
	})
}
