// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report shows what a run measured. A Report is built once from the analysis of a run's records: it has the points of
// a run or, of one with variants, their pairs. Each printer is a function of it: a table for people, CSV for spreadsheets,
// JSON with everything, and the Go benchmark format, which benchstat reads. Compared and Reproduction are what two reports
// say together.
package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// Head names a run, and says how it was seeded.
type Head struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Title says in a few words what the run is; empty if no title was given.
	Title    string `json:"title,omitempty"`
	UID      string `json:"uid"`
	Workload string `json:"workload"`
	Seed     int64  `json:"seed"`
}

// Ending says how a run ended.
type Ending struct {
	// Outcome is Complete, Failed or Unfinished. Message says why it failed or, with variants, why there were no more rounds.
	Outcome string    `json:"outcome"`
	Message string    `json:"message,omitempty"`
	Started time.Time `json:"started"`
}

// Run says which run a report is of.
type Run struct {
	Head
	// Planned is how many trials were to be measured; a precision target may have made some needless. With variants, it is the
	// largest number of rounds.
	Planned int `json:"planned"`
	// SpecDigest is the same for runs that ask for the same.
	SpecDigest string `json:"specDigest"`
	Ending
	// Findings are about the run as a whole: how the database's node differed between trials; with variants, all that must be read
	// with the answer.
	Findings []finding.Finding `json:"findings,omitempty"`
	// HostTuning is what was changed on nodes.
	HostTuning []v1alpha1.HostTuningStatus `json:"hostTuning,omitempty"`
	// Spec is what was asked, as it is stored.
	Spec json.RawMessage `json:"spec"`
}

// Trial is a planned trial.
type Trial struct {
	Number     int               `json:"number"`
	Round      int               `json:"round"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Report is everything that the printers show of a run: its points or, of a run with variants, its pairs.
type Report struct {
	Run
	Variation
	// Trials and Points of a run without variants, in the order of measuring and of the sweep.
	Trials []Trial
	Points []stats.Point
	// Rounds in which every variant was measured. Pairs are judged by them. Overall has, of each variant with several points, what
	// all of them say together.
	Rounds         int
	Pairs, Overall []stats.Paired
	// Rows that pilots have decided for the trials of all variants, by the label of the point; empty if there were none.
	Rows map[string]int64
	// Records of all attempts, in the order in which they were recorded.
	Records []*result.Record
	// Requested is what it shows besides what every report does.
	Requested Requested
}

// HasVariants says whether the run has variants.
func (r *Report) HasVariants() bool { return len(r.Variants) > 0 }

// Warnings are the texts of what must be read with all numbers.
func (r *Report) Warnings() []string { return finding.Texts(r.runFindings()) }

// Accepted are the attempts that count, in the order of measuring.
func (r *Report) Accepted() []*result.Record { return analysis.AcceptedIn(r.Records) }

// Measurements are what the attempts that count measured, in the order of measuring: a record for each attempt or, of one in
// stages, for each of them.
func (r *Report) Measurements() []*result.Record {
	var list []*result.Record
	for _, record := range r.Accepted() {
		list = append(list, record.Measurements()...)
	}
	return list
}

// Disturbed are the attempts that should have counted and do not.
func (r *Report) Disturbed() []*result.Record {
	var list []*result.Record
	for _, record := range r.Records {
		if record.Outcome != result.OutcomeAccepted && record.Outcome != result.OutcomePilot {
			list = append(list, record)
		}
	}
	return list
}

// Parameters are the names of the swept parameters.
func (r *Report) Parameters() []string {
	names := map[string]bool{}
	add := func(parameters map[string]string) {
		for name := range parameters {
			names[name] = true
		}
	}
	for _, p := range r.Points {
		add(p.Parameters)
	}
	for _, side := range r.Runs {
		for _, v := range side.Values {
			add(v.Parameters)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Measured are the points at which anything was measured, in the order of the sweep.
func (r *Report) Measured() []stats.Point {
	return slices.DeleteFunc(slices.Clone(r.Points), func(p stats.Point) bool { return p.Summary.N == 0 })
}

// runOf is what a report says of a run whatever it measures.
func runOf(run *v1alpha1.BenchmarkRun, outcome, message string) (Run, error) {
	r := Run{
		Head: Head{
			Namespace: run.Namespace, Name: run.Name, UID: string(run.UID), Workload: string(run.Spec.Workload.Type),
			Seed: plan.Seed(&run.Spec),
		},
		Ending: Ending{Outcome: outcome, Message: message},
	}
	if run.Status.StartTime != nil {
		r.Started = run.Status.StartTime.UTC()
	}
	var err error
	if r.SpecDigest, err = plan.Digest(&run.Spec); err != nil {
		return r, err
	}
	if r.Spec, err = json.Marshal(run.Spec); err != nil {
		return r, fmt.Errorf("encoding the specification: %w", err)
	}
	return r, nil
}

// OfRun is the report of a run with that plan, from the records of all of its attempts so far. The outcome is how the run
// ended: Complete or Failed.
func OfRun(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record, outcome string) (*Report, error) {
	message := ""
	if outcome == v1alpha1.ConditionFailed {
		message = analysis.FailureOf(run.Status.Conditions)
	}
	of, err := runOf(run, outcome, message)
	if err != nil {
		return nil, err
	}
	a := analysis.OfRun(run, p, records)
	rep := &Report{Run: of, Variation: Variation{Claims: a.Claims}, Points: a.Points, Records: records}
	rep.Findings, rep.Title, rep.Planned = a.Findings, run.Spec.Title, analysis.ProgressOf(run, p, records).Planned
	for _, t := range p.Trials {
		rep.Trials = append(rep.Trials, Trial{Number: t.Number, Round: t.Round, Parameters: p.Points[t.Point].Swept()})
	}
	return rep, nil
}

// FromResults is the report that a results.json was printed from. Latencies have no histograms: those are in the documents of the
// attempts.
func FromResults(text []byte) (*Report, error) {
	rep, err := Decode(text)
	if err != nil || rep.HasVariants() {
		return rep, err
	}
	run := new(v1alpha1.BenchmarkRun)
	if err := json.Unmarshal(rep.Spec, &run.Spec); err != nil {
		return nil, fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		return nil, fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	rep.Points = analysis.Points(run, p, rep.Records)
	return rep, nil
}

// Digest of the specification that was measured.
func (r *Report) Digest() (string, error) {
	if r.SpecDigest != "" {
		return r.SpecDigest, nil
	}
	var spec v1alpha1.BenchmarkRunSpec
	if err := json.Unmarshal(r.Spec, &spec); err != nil {
		return "", fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	return plan.Digest(&spec)
}

// measuredTrial is a trial that counts: with variants, what one of them measured at a point in a round.
type measuredTrial struct {
	stats.Point // without what was measured
	round       int
	// settings of the server in which variants differ, as they are asked for.
	settings map[string]string
	// of a metric, by its name, what was measured; an empty name is that of the headline metric.
	of func(metric string) (result.Metric, bool)
}

// measuredTrials in the order of the sweep, and of measuring at each point; with variants, in the order of these, of the rounds
// and of the sweep.
func (r *Report) measuredTrials() []measuredTrial {
	var list []measuredTrial
	rounds := r.roundOf()
	for _, p := range r.Points {
		for _, record := range p.Records {
			at := stats.Point{Parameters: p.Parameters}
			list = append(list, measuredTrial{Point: at, round: rounds[record.Trial], of: record.Summary.Metric})
		}
	}
	for i := range r.Variants {
		settings := r.settings(&r.Variants[i])
		for j := range r.Runs {
			side := &r.Runs[j]
			if side.Variant != r.Variants[i].Name || side.Round > r.Rounds {
				continue
			}
			for _, v := range side.Values {
				of := func(metric string) (result.Metric, bool) { return side.at(metric, &v) }
				at := stats.Point{Variant: side.Variant, Parameters: v.Parameters}
				list = append(list, measuredTrial{at, side.Round, settings, of})
			}
		}
	}
	return list
}

// settings of a variant's server, as far as variants differ from the baseline in them: what is asked for. A variant that does not
// differ has the baseline's value, which any of those that do has beside its own.
func (r *Report) settings(of *Variant) map[string]string {
	values := map[string]string{}
	for i := range r.Variants {
		for _, d := range r.Variants[i].Differences {
			values[d.Name] = d.From
		}
	}
	for _, d := range of.Differences {
		values[d.Name] = d.To
	}
	return values
}

// at the point of a value of the headline metric the value of a metric; false if there is none.
func (r *SideRun) at(metric string, v *PointValue) (result.Metric, bool) {
	if metric == "" || metric == r.Metric {
		return result.Metric{Name: r.Metric, Unit: r.Unit, Value: v.Value}, true
	}
	unit, values := r.Of(metric)
	label := stats.Label(v.Parameters)
	i := slices.IndexFunc(values, func(v PointValue) bool { return stats.Label(v.Parameters) == label })
	if i < 0 {
		return result.Metric{}, false
	}
	return result.Metric{Name: metric, Unit: unit, Value: values[i].Value}, true
}
