// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package finding has what travels with a number and must be read with it: a code of a closed set, what was measured, and the
// names of what it is about. The words for people are made here and nowhere else, and nothing reads them.
//
// A finding has no version of its own: documents and records have one. A code or a measure that a program does not know is
// kept and printed with its numbers, so that records of a later release remain readable.
package finding

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Severity says what a finding means for the number.
type Severity string

const (
	// Notice: the number is what was asked for, and the reader must know what that was.
	Notice Severity = "Notice"
	// Warning: something else than what was asked for may be in the number.
	Warning Severity = "Warning"
)

// Finding is a remark that travels with a number.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	// Measures in the order of the text.
	Measures []Measure `json:"measures,omitempty"`
	// Where are the names of what it is about, for example pod, variable or node. Findings with other names are others.
	Where map[string]string `json:"where,omitempty"`
}

// Measure is a number with its unit or, of several findings that are one, the range of it.
type Measure struct {
	Name string  `json:"name"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Unit is empty for a number of things.
	Unit string `json:"unit,omitempty"`
}

// number of things, or of anything else that can be counted or timed.
type number interface{ ~int | ~int64 | ~float64 }

// measure is one number.
func measure[N number](name string, value N, unit string) Measure {
	return Measure{name, float64(value), float64(value), unit}
}

// made is a finding, with the severity that its code has.
func made(code Code, where map[string]string, measures ...Measure) Finding {
	return Finding{Code: code, Severity: table[code].Severity, Measures: measures, Where: where}
}

// Merged is what several findings say.
type Merged struct {
	Finding
	// From are their indexes.
	From []int
}

// Merge says each finding once, in the order in which they first come. Those that differ only in what they measured are one, with
// the range of each measure. What was merged can be merged again, with others.
func Merge(list []Finding) []Merged {
	var all []Merged
	known := map[string]int{}
	for i := range list {
		f := &list[i]
		key := f.identity()
		at, seen := known[key]
		if !seen {
			at = len(all)
			known[key] = at
			all = append(all, Merged{Finding: f.clone()})
		}
		m := &all[at]
		m.From = append(m.From, i)
		for n := range m.Measures {
			m.Measures[n].Low = min(m.Measures[n].Low, f.Measures[n].Low)
			m.Measures[n].High = max(m.Measures[n].High, f.Measures[n].High)
		}
	}
	return all
}

// identity is the same for findings that are one: same code, same names, same kinds of measures.
func (f *Finding) identity() string {
	parts := []string{string(f.Code)}
	for _, name := range slices.Sorted(maps.Keys(f.Where)) {
		parts = append(parts, fmt.Sprintf("%q=%q", name, f.Where[name]))
	}
	for _, m := range f.Measures {
		parts = append(parts, fmt.Sprintf("%q in %q", m.Name, m.Unit))
	}
	return strings.Join(parts, " ")
}

func (f *Finding) clone() Finding {
	copied := *f
	copied.Measures, copied.Where = slices.Clone(f.Measures), maps.Clone(f.Where)
	return copied
}
