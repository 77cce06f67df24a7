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

// PointFinding is a finding that must be read with a number.
type PointFinding struct {
	finding.Finding
	// Trials that it is about, of the point's Of trials; both are 0 if it is not about trials.
	Trials int `json:"trials,omitempty"`
	Of     int `json:"ofTrials,omitempty"`
}

// String says how many trials it is about, if it is not about all of them.
func (w PointFinding) String() string {
	if of := w.OfTrials(); of != "" {
		return fmt.Sprintf("%s (%s)", w.Finding, of)
	}
	return w.Finding.String()
}

// OfTrials says how many trials it is about; empty if it is about all of them.
func (w PointFinding) OfTrials() string {
	if w.Trials == w.Of {
		return ""
	}
	return fmt.Sprintf("%d of %d trials", w.Trials, w.Of)
}

// ComparisonFinding is a finding that must be read with the answer of a comparison.
type ComparisonFinding struct {
	PointFinding
	// Runs that it is about, of the OfRuns that were measured; both are 0 if it is about the comparison itself.
	Runs   int `json:"runs,omitempty"`
	OfRuns int `json:"ofRuns,omitempty"`
}

// String says how many trials and runs it is about, if it is not about all of them.
func (w ComparisonFinding) String() string {
	if w.Runs == w.OfRuns {
		return w.PointFinding.String()
	}
	return fmt.Sprintf("%s (%d of %d measurements)", w.PointFinding, w.Runs, w.OfRuns)
}

// ComparisonTexts are warnings for people, a line for each.
func ComparisonTexts(list []ComparisonFinding) []string {
	var texts []string
	for _, w := range list {
		texts = append(texts, w.String())
	}
	return texts
}

// MergedFinding is what several warnings say.
type MergedFinding struct {
	// PointFinding has the trials of all of them.
	PointFinding
	// From are their indexes.
	From []int
}

// MergePointFindings says the warnings of several points or runs each once: see finding.Merge.
func MergePointFindings(list []PointFinding) []MergedFinding {
	var found []finding.Finding
	for _, w := range list {
		found = append(found, w.Finding)
	}
	var merged []MergedFinding
	for _, m := range finding.Merge(found) {
		w := MergedFinding{PointFinding{Finding: m.Finding}, m.From}
		for _, i := range m.From {
			w.Trials, w.Of = w.Trials+list[i].Trials, w.Of+list[i].Of
		}
		merged = append(merged, w)
	}
	return merged
}

// PointFindings are those that belong to a point: those of its trials, each once, and a wide spread.
func PointFindings(records []*result.Record, values []float64) []PointFinding {
	var found []finding.Finding
	var trials []int
	for i, r := range records {
		for _, f := range findingsOf(r) {
			found, trials = append(found, f), append(trials, i)
		}
	}
	var list []PointFinding
	for _, m := range finding.Merge(found) {
		about := map[int]bool{}
		for _, i := range m.From {
			about[trials[i]] = true
		}
		list = append(list, PointFinding{Finding: m.Finding, Trials: len(about), Of: len(records)})
	}
	if s := Summarize(values); s.N > 1 && slices.Max(values)-slices.Min(values) > wideSpread*math.Abs(s.Median) {
		list = append(list, PointFinding{Finding: finding.Spread(100 * wideSpread), Trials: len(records), Of: len(records)})
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
