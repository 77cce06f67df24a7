// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Variation is what a report says of variants, and of claims.
type Variation struct {
	// TrialsPerRound of each point, if the trials of the variants alternated; 0 if their runs were measured one after the other.
	TrialsPerRound int `json:"trialsPerRound,omitempty"`
	// SliceMilliseconds is the mean length of the slices in which the variants were measured; 0 if they were not.
	SliceMilliseconds int       `json:"sliceMilliseconds,omitempty"`
	Variants          []Variant `json:"variants"`
	// Variables of the servers that differ without being asked for, with the values of all variants.
	Variables []analysis.ServerVariable `json:"variables,omitempty"`
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement `json:"claims,omitempty"`
	// Runs are the variants in each round, in the order of measuring.
	Runs []SideRun `json:"runs"`
}

// Paired says how the values of a round were measured next to each other.
func (r *Report) Paired() string {
	switch {
	case r.SliceMilliseconds > 0:
		return fmt.Sprintf("paired, in slices of %g s (trials per round: %d)", float64(r.SliceMilliseconds)/1000, r.TrialsPerRound)
	case r.TrialsPerRound == 0:
		return "paired"
	}
	return fmt.Sprintf("paired, alternating trials (%d per round)", r.TrialsPerRound)
}

// Variant is a variant of a run.
type Variant struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	// Baseline: the others are compared with it.
	Baseline bool `json:"baseline,omitempty"`
	// Differences from the baseline in what is asked for.
	Differences []plan.Difference `json:"differences,omitempty"`
	// Besides says which server variables differ from the baseline's without being asked for; empty if that is not known.
	Besides string `json:"besides,omitempty"`
	// Volume says on what the data was; empty if that is not known.
	Volume string `json:"volume,omitempty"`
	// Unrequested is how many there are.
	Unrequested int `json:"unasked,omitempty"`
	// OtherVariables are the same in values; nil if that is not known.
	OtherVariables *analysis.OtherVariables `json:"otherVariables,omitempty"`
	// SpecDigest is the same for runs that ask for the same.
	SpecDigest string `json:"specDigest"`
}

// Requested are the differences from the baseline for people.
func (v *Variant) Requested() []string {
	var list []string
	for _, d := range v.Differences {
		list = append(list, d.String())
	}
	return list
}

// SideRun is a variant in a round that was measured.
type SideRun struct {
	Name    string `json:"name"`
	Round   int    `json:"round"`
	Variant string `json:"variant"`
	Seed    int64  `json:"seed"`
	// Trials of a run with variants that measured this variant in this round.
	Trials []int `json:"trials,omitempty"`
	// Outcome is Complete or Failed.
	Outcome     string `json:"outcome"`
	Invalidated int    `json:"invalidated,omitempty"`
	// Results is the digest of the run's own results.
	Results        string `json:"results,omitempty"`
	ServerVersion  string `json:"serverVersion,omitempty"`
	SettingsDigest string `json:"settingsDigest,omitempty"`
	DatabaseImage  string `json:"databaseImage,omitempty"`
	DatabaseNode   string `json:"databaseNode,omitempty"`
	LoaderNode     string `json:"loaderNode,omitempty"`
	Metric         string `json:"metric,omitempty"`
	Unit           string `json:"unit,omitempty"`
	// Values of the points, in the order of the sweep.
	Values []PointValue `json:"values,omitempty"`
	// Others are the metrics besides it that were read for plots and tables.
	Others []MetricValues `json:"others,omitempty"`
}

// MetricValues is what a run measured of a metric that is not its headline.
type MetricValues struct {
	Metric string       `json:"metric"`
	Unit   string       `json:"unit"`
	Values []PointValue `json:"values"`
}

// Of a metric, by its name, the unit and the values by point; an empty name is that of the headline metric. Without such a
// metric there are no values.
func (r *SideRun) Of(metric string) (unit string, values []PointValue) {
	if metric == "" || metric == r.Metric {
		return r.Unit, r.Values
	}
	i := slices.IndexFunc(r.Others, func(m MetricValues) bool { return m.Metric == metric })
	if i < 0 {
		return "", nil
	}
	return r.Others[i].Unit, r.Others[i].Values
}

// PointValue is what a run measured at a point.
type PointValue struct {
	Parameters map[string]string `json:"parameters,omitempty"`
	Value      float64           `json:"value"`
}

// OfVariants is the report of a run with variants, from the records of its attempts so far. The outcome is how the run ended:
// Complete, Failed or Unfinished; the message says why there are no more rounds.
func OfVariants(c *analysis.Compared, records []*result.Record, outcome, message string) (*Report, error) {
	of, err := runOf(c.Run, outcome, message)
	if err != nil {
		return nil, err
	}
	spec := &c.Run.Spec
	of.Planned, of.Findings = int(plan.Rounds(spec).AtMost), c.Warnings
	rep := &Report{
		Run: of, Variation: Variation{Claims: c.Claims, Variables: c.ServerVariables()},
		Rounds: c.Rounds, Pairs: c.Pairs, Overall: c.Overall, Rows: c.Rows, Records: withoutHistograms(records),
	}
	if c.Alternation.Together() {
		rep.TrialsPerRound = int(plan.TrialsPerRound(spec))
	}
	if c.Alternation == v1alpha1.AlternateSlices {
		rep.SliceMilliseconds = plan.SliceMilliseconds
	}
	for i := range c.Variants {
		v := &c.Variants[i]
		digest, err := plan.Digest(&v.Run.Spec)
		if err != nil {
			return nil, err
		}
		one := Variant{
			Name: v.Name, Title: spec.Variants[i].Title, Baseline: i == c.Baseline, Differences: v.Differences,
			Besides: v.Others.String(), OtherVariables: v.Others, SpecDigest: digest, Volume: analysis.VolumeText(v.Volume),
		}
		if v.Others != nil {
			one.Unrequested = v.Others.Differing
		}
		rep.Variants = append(rep.Variants, one)
	}
	for i := range c.Sides {
		if side := &c.Sides[i]; side.Measured() {
			rep.Runs = append(rep.Runs, ofSide(c, side))
		}
	}
	return rep, nil
}

// ofSide is what the report says of a variant in a round that was measured.
func ofSide(c *analysis.Compared, side *analysis.Side) SideRun {
	e := &side.Environment
	m, _ := side.Metric("")
	run := SideRun{
		Name: plan.MemberName(c.Run, side.Member), Round: side.Round, Variant: c.Variants[side.Variant].Name, Seed: side.Seed,
		Trials: side.Trials, Outcome: v1alpha1.ConditionComplete, Invalidated: side.Invalidated,
		ServerVersion: e.ServerVersion, SettingsDigest: e.SettingsDigest, DatabaseImage: e.DatabaseImage,
		DatabaseNode: e.DatabaseNode, LoaderNode: e.LoaderNode, Metric: m.Name, Unit: m.Unit,
	}
	for i := range side.Points {
		if v := side.Value("", i); !math.IsNaN(v) {
			run.Values = append(run.Values, PointValue{Parameters: side.Points[i].Parameters, Value: v})
		}
	}
	return run
}
