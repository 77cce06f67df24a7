// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// wideSpread is the range of a point's values relative to their median from which on it is warned of.
const wideSpread = 0.25

// Warning is something that must be read with a number.
type Warning struct {
	Text string
	// Trials that it is about, of the point's Of trials.
	Trials, Of int
}

// String says how many trials it is about, if it is not about all of them.
func (w Warning) String() string {
	if w.Trials == w.Of {
		return w.Text
	}
	return fmt.Sprintf("%s (%d of %d trials)", w.Text, w.Trials, w.Of)
}

// Warnings that belong to a point: those of its trials, each once, and a wide spread.
func Warnings(records []*result.Record, values []float64) []Warning {
	var texts []string
	var trials []int
	for i, r := range records {
		for _, text := range finding.Texts(findingsOf(r)) {
			if strings.TrimSpace(text) != "" { // or it says nothing
				texts, trials = append(texts, text), append(trials, i)
			}
		}
	}
	var list []Warning
	for _, said := range Condense(texts) {
		about := map[int]bool{}
		for _, i := range said.From {
			about[trials[i]] = true
		}
		list = append(list, Warning{Text: said.Text, Trials: len(about), Of: len(records)})
	}
	if s := Summarize(values); s.N > 1 && slices.Max(values)-slices.Min(values) > wideSpread*math.Abs(s.Median) {
		list = append(list, Warning{Text: spread(records, values).String(), Trials: len(records), Of: len(records)})
	}
	return list
}

// findingsOf a trial are those of its loader, those about where it ran, and one about a server that its limit held back.
func findingsOf(r *result.Record) []finding.Finding {
	return slices.Concat(r.Summary.Findings, r.Neighbors.Findings(), r.Place.Findings(), heldBack(r.Summary))
}
