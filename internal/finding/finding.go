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
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unique"
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
	// Trials that it is about, of the Of trials of the points; both are 0 if it is not about trials.
	Trials int `json:"trials,omitempty"`
	Of     int `json:"ofTrials,omitempty"`
	// Runs are the measurements of variants that it is about, of OfRuns; both are 0 if it is not about these.
	Runs   int `json:"runs,omitempty"`
	OfRuns int `json:"ofRuns,omitempty"`
}

// names are what a finding is about.
type names = map[string]string

// Measure is a number with its unit or, of several findings that are one, the range of it.
type Measure struct {
	Name string  `json:"name"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Unit is empty for a number of things.
	Unit string `json:"unit,omitempty"`
}

func measure[N ~int | ~int64 | ~float64](name string, value N, unit string) Measure {
	return Measure{name, float64(value), float64(value), unit}
}

// InTrials is the finding about so many trials of all.
func (f Finding) InTrials(trials, of int) Finding {
	f.Trials, f.Of = trials, of
	return f
}

// made is a finding, with the severity that its code has. A measure that JSON cannot have is left out: a document must not be
// lost for it, and any number in its place would be wrong.
func made(code Code, where names, measures ...Measure) Finding {
	measures = slices.DeleteFunc(measures, func(m Measure) bool { return math.IsNaN(m.Low) || math.IsInf(m.Low, 0) })
	return Finding{Code: code, Severity: Table[code].Severity, Measures: measures, Where: where}
}

// Merged is what several findings say, of the trials of all of them.
type Merged struct {
	Finding
	// From are their indexes.
	From []int
}

// examples are names that differ from one attempt to the next, and do not make another finding.
var examples = map[Code]string{PodsArrived: "pods", PodsDeparted: "pods"}

// others is a name of a merged finding, and its value: there were other examples than the one that it has.
const others = "others"

// Merge says each finding once, in the order in which they first come. Those that differ only in what they measured are one,
// with the range of each measure, and with the higher severity if they differ in that. So are those that differ only in their
// example: the first one stays, and the finding says that there were others. What was merged can be merged again, with others.
func Merge(list []Finding) []Merged {
	var all []Merged
	known := map[string]int{}
	for i, f := range list {
		key := f.identity()
		at, seen := known[key]
		if !seen {
			at = len(all)
			known[key] = at
			m := Merged{Finding: f}
			m.Measures, m.Where, m.Trials, m.Of = slices.Clone(f.Measures), maps.Clone(f.Where), 0, 0
			all = append(all, m)
		}
		m := &all[at]
		m.Trials, m.Of = m.Trials+f.Trials, m.Of+f.Of
		m.From = append(m.From, i)
		if f.Severity == Warning {
			m.Severity = Warning
		}
		example := examples[f.Code]
		if _, has := m.Where[example]; has && (m.Where[example] != f.Where[example] || f.Where[others] != "") {
			m.Where[others] = others
		}
		for n := range m.Measures { // as many, by their identity
			m.Measures[n].Low = min(m.Measures[n].Low, f.Measures[n].Low)
			m.Measures[n].High = max(m.Measures[n].High, f.Measures[n].High)
		}
	}
	return all
}

// identity is the same for findings that are one: same code, same names, same kinds of measures.
func (f *Finding) identity() string {
	parts := []string{strconv.Quote(string(f.Code))} // or a code of a stranger could look like names
	example := examples[f.Code]
	for _, name := range slices.Sorted(maps.Keys(f.Where)) {
		switch {
		case example != "" && name == example:
			parts = append(parts, fmt.Sprintf("%q", name))
		case example == "" || name != others:
			parts = append(parts, fmt.Sprintf("%q=%q", name, f.Where[name]))
		}
	}
	for _, m := range f.Measures {
		parts = append(parts, fmt.Sprintf("%q in %q", m.Name, m.Unit))
	}
	return strings.Join(parts, " ")
}

// Condensed is a finding of bounded size: names and texts of at most so many bytes together, in the order of the names, and at
// most so many measures. Its texts are kept once for all findings that have the same.
func (f Finding) Condensed(bytes, measures int) Finding {
	left := bytes
	kept := func(text string) string {
		text = Truncate(text, left)
		left -= len(text)
		return unique.Make(strings.Clone(text)).Value()
	}
	short := f
	short.Code, short.Severity = Code(kept(string(f.Code))), Severity(kept(string(f.Severity)))
	short.Measures, short.Where = nil, nil
	for _, m := range f.Measures[:min(len(f.Measures), measures)] {
		m.Name, m.Unit = kept(m.Name), kept(m.Unit)
		short.Measures = append(short.Measures, m)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Where)) {
		if len(name) >= left {
			break
		}
		if short.Where == nil {
			short.Where = map[string]string{}
		}
		short.Where[kept(name)] = kept(f.Where[name]) // in this order
	}
	return short
}

// Truncate cuts a text to at most n bytes, between two characters.
func Truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Code says which finding it is. The set is closed: the table has every one.
type Code string

// Findings of the loader, about one attempt.
const (
	ShortMeasurement        Code = "ShortMeasurement"
	ShortProgram            Code = "ShortProgram"
	TransactionsRetried     Code = "TransactionsRetried"
	EventsGivenUp           Code = "EventsGivenUp"
	ClientBusy              Code = "ClientBusy"
	ClientBusyOneConnection Code = "ClientBusyOneConnection"
	ClientThrottled         Code = "ClientThrottled"
	LateAnswers             Code = "LateAnswers"
	CommitsNotDurable       Code = "CommitsNotDurable"
	BinaryLogNotDurable     Code = "BinaryLogNotDurable"
	SettingRounded          Code = "SettingRounded"
	SettingNotVerifiable    Code = "SettingNotVerifiable"
	ServerNotAtRest         Code = "ServerNotAtRest"
	SettingNotExercised     Code = "SettingNotExercised"
	ObserverSilent          Code = "ObserverSilent"
	SchemaLeft              Code = "SchemaLeft"
	SchemaDropped           Code = "SchemaDropped"
	DataNotCopied           Code = "DataNotCopied"
	StoppedByLimit          Code = "StoppedByLimit"
	RateNotReached          Code = "RateNotReached"
	Reconnected             Code = "Reconnected"
	InputNotUsedWhole       Code = "InputNotUsedWhole"
	ContestRows             Code = "ContestRows"
	ContestServer           Code = "ContestServer"
	WrittenInPauses         Code = "WrittenInPauses"
	BusyInPauses            Code = "BusyInPauses"
	LongTransactions        Code = "LongTransactions"
	ContestHardware         Code = "ContestHardware"
	ProgramWarning          Code = "ProgramWarning"
)

// Findings of the operator, about an attempt, its place, and the trials of a point or of a run.
const (
	PodsArrived          Code = "PodsArrived"
	PodsDeparted         Code = "PodsDeparted"
	PodsUnread           Code = "PodsUnread"
	NodeConditions       Code = "NodeConditions"
	PodsNotGuaranteed    Code = "PodsNotGuaranteed"
	ForeignContainers    Code = "ForeignContainers"
	VolumesRetained      Code = "VolumesRetained"
	ServerThrottled      Code = "ServerThrottled"
	SummaryTooLarge      Code = "SummaryTooLarge"
	WideSpread           Code = "WideSpread"
	DiskVaried           Code = "DiskVaried"
	CPUVaried            Code = "CPUVaried"
	InputChanged         Code = "InputChanged"
	TooFewRounds         Code = "TooFewRounds"
	CapacityOutsideRates Code = "CapacityOutsideRates"
	EnvironmentsDiffer   Code = "EnvironmentsDiffer"
	Unrequested          Code = "UnrequestedDifference"
	BinaryLogDiffers     Code = "BinaryLogDiffers"
)
