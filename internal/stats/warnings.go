// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// wideSpread is the range of a point's values relative to their median from which on it is warned of.
const wideSpread = 0.25

// Warning is a finding that must be read with a number, or with the answer about variants.
type Warning struct {
	finding.Finding
	// Trials that it is about, of the Of trials of the points; both are 0 if it is not about trials.
	Trials int `json:"trials,omitempty"`
	Of     int `json:"ofTrials,omitempty"`
	// Runs are the measurements of variants that it is about, of OfRuns; both are 0 if it is not about these.
	Runs   int `json:"runs,omitempty"`
	OfRuns int `json:"ofRuns,omitempty"`
}

// String says how many trials and measurements it is about, if it is not about all of them.
func (w Warning) String() string {
	text := w.Finding.String()
	if of := w.OfTrials(); of != "" {
		text += " (" + of + ")"
	}
	if w.Runs != w.OfRuns {
		text += fmt.Sprintf(" (%d of %d measurements)", w.Runs, w.OfRuns)
	}
	return text
}

// OfTrials says how many trials it is about; empty if it is about all of them.
func (w Warning) OfTrials() string {
	if w.Trials == w.Of {
		return ""
	}
	return fmt.Sprintf("%d of %d trials", w.Trials, w.Of)
}

// WarningTexts are warnings for people, a line for each.
func WarningTexts(list []Warning) []string {
	var texts []string
	for _, w := range list {
		texts = append(texts, w.String())
	}
	return texts
}

// MergedWarning is what several warnings say.
type MergedWarning struct {
	// Warning has the trials of all of them.
	Warning
	// From are their indexes.
	From []int
}

// MergeWarnings says the warnings of several points or variants each once: see finding.Merge.
func MergeWarnings(list []Warning) []MergedWarning {
	var found []finding.Finding
	for _, w := range list {
		found = append(found, w.Finding)
	}
	var merged []MergedWarning
	for _, m := range finding.Merge(found) {
		w := MergedWarning{Warning{Finding: m.Finding}, m.From}
		for _, i := range m.From {
			w.Trials, w.Of = w.Trials+list[i].Trials, w.Of+list[i].Of
		}
		merged = append(merged, w)
	}
	return merged
}

// WarningsAt points, each once, from the points with these indexes: those that differ only in what they measured are one.
func WarningsAt(points []Point) []MergedWarning {
	var all []Warning
	var at []int
	for i := range points {
		for _, w := range points[i].Warnings {
			all, at = append(all, w), append(at, i)
		}
	}
	merged := MergeWarnings(all)
	for _, m := range merged {
		for k, i := range m.From {
			m.From[k] = at[i]
		}
	}
	return merged
}

// PointWarnings are those that belong to a point: those of its trials, each once, and a wide spread.
func PointWarnings(records []*result.Record, values []float64) []Warning {
	var found []finding.Finding
	var trials []int
	for i, r := range records {
		for _, f := range findingsOf(r) {
			found, trials = append(found, f), append(trials, i)
		}
	}
	var list []Warning
	for _, m := range finding.Merge(found) {
		about := map[int]bool{}
		for _, i := range m.From {
			about[trials[i]] = true
		}
		list = append(list, Warning{Finding: m.Finding, Trials: len(about), Of: len(records)})
	}
	if s := Summarize(values); s.N > 1 && slices.Max(values)-slices.Min(values) > wideSpread*math.Abs(s.Median) {
		list = append(list, Warning{Finding: finding.Spread(100 * wideSpread), Trials: len(records), Of: len(records)})
	}
	return list
}

// findingsOf a trial are those of its loader, those about where it ran, and one about a server that its limit held back.
func findingsOf(r *result.Record) []finding.Finding {
	return slices.Concat(r.Summary.Findings, r.Neighbors.Findings(), r.Place.Findings(), heldBack(r.Summary))
}

// throttledFrom is the part of the measured phase from which on being held back is said.
const throttledFrom = 0.01

// heldBack is about a trial whose server was throttled at its CPU limit; none if it was not, or if that is unknown.
func heldBack(s *result.Summary) []finding.Finding {
	share := s.Throttled()
	if share < throttledFrom {
		return nil
	}
	return []finding.Finding{finding.HeldBack(100 * share)}
}
