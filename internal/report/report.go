// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

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
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Run says which run a report is of.
type Run struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Title says in a few words what the run is; empty if no title was given.
	Title    string `json:"title,omitempty"`
	UID      string `json:"uid"`
	Workload string `json:"workload"`
	Seed     int64  `json:"seed"`
	// Planned is how many trials were to be measured; a precision target may have made some needless.
	Planned int `json:"planned"`
	// SpecDigest is the same for runs that ask for the same.
	SpecDigest string `json:"specDigest"`
	// Outcome is Complete or Failed; Message says why it failed.
	Outcome string    `json:"outcome"`
	Message string    `json:"message,omitempty"`
	Started time.Time `json:"started"`
	// Findings are about the run as a whole: how the database's node differed between trials.
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

// Report is everything that the printers show.
type Report struct {
	Run    Run
	Trials []Trial
	// Points in the order of the sweep.
	Points []stats.Point
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement
	// Records of all attempts, in the order in which they were recorded.
	Records []*result.Record
	// Requested is what it shows besides what every report does.
	Requested Requested
}

// Warnings are the texts of what must be read with all numbers.
func (r *Report) Warnings() []string {
	return finding.Texts(slices.Concat(r.Run.Findings, r.ChangedInputs()))
}

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
	for _, p := range r.Points {
		for name := range p.Parameters {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Measured are the points at which anything was measured, in the order of the sweep.
func (r *Report) Measured() []stats.Point {
	return slices.DeleteFunc(slices.Clone(r.Points), func(p stats.Point) bool { return p.Summary.N == 0 })
}

// OfRun is the report of a run with that plan, from the records of all of its attempts so far. The outcome is how the run
// ended: Complete or Failed.
func OfRun(run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record, outcome string) (*Report, error) {
	digest, err := plan.Digest(&run.Spec)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(run.Spec)
	if err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	rep := &Report{
		Run: Run{
			Namespace: run.Namespace, Name: run.Name, Title: run.Spec.Title, UID: string(run.UID),
			Workload: string(run.Spec.Workload.Type),
			Seed:     plan.Seed(&run.Spec), SpecDigest: digest, Outcome: outcome, Spec: spec,
		},
		Records: records,
	}
	if run.Status.StartTime != nil {
		rep.Run.Started = run.Status.StartTime.UTC()
	}
	if outcome == v1alpha1.ConditionFailed {
		rep.Run.Message = analysis.FailureOf(run.Status.Conditions)
	}
	for _, t := range p.Trials {
		rep.Trials = append(rep.Trials, Trial{Number: t.Number, Round: t.Round, Parameters: p.Points[t.Point].Swept()})
	}
	a := analysis.OfRun(run, p, records)
	rep.Run.Planned, rep.Points, rep.Claims = analysis.ProgressOf(run, p, records).Planned, a.Points, a.Claims
	return rep, nil
}

// FromResults is the report that the results.json of a run was printed from. Latencies have no histograms: those are in the
// documents of the attempts.
func FromResults(text []byte) (*Report, error) {
	rep, err := Decode(text)
	if err != nil {
		return nil, err
	}
	run := new(v1alpha1.BenchmarkRun)
	if err := json.Unmarshal(rep.Run.Spec, &run.Spec); err != nil {
		return nil, fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		return nil, fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	rep.Points = analysis.Points(run, p, rep.Records)
	return rep, nil
}

// measuredTrial is a trial that counts: in a comparison, what a run measured at a point.
type measuredTrial struct {
	claims.Series
	round int
	// settings of the server in which variants differ, as they are asked for.
	settings map[string]string
	// of a metric, by its name, what was measured; an empty name is that of the headline metric.
	of func(metric string) (result.Metric, bool)
}

// measuredTrials in the order of the sweep, and of measuring at each point.
func (r *Report) measuredTrials() []measuredTrial {
	var list []measuredTrial
	rounds := r.roundOf()
	for _, p := range r.Points {
		for _, record := range p.Records {
			series := claims.Series{Parameters: p.Parameters}
			list = append(list, measuredTrial{Series: series, round: rounds[record.Trial], of: record.Summary.Metric})
		}
	}
	return list
}

// measuredTrials in the order of the variants, of the rounds and of the sweep.
func (s *Comparison) measuredTrials() []measuredTrial {
	var list []measuredTrial
	for i := range s.Variants {
		settings := s.settings(&s.Variants[i])
		for j := range s.Runs {
			run := &s.Runs[j]
			if run.Variant != s.Variants[i].Name || run.Round > s.Rounds {
				continue
			}
			for _, v := range run.Values {
				of := func(metric string) (result.Metric, bool) { return run.at(metric, &v) }
				series := claims.Series{Variant: run.Variant, Parameters: v.Parameters}
				list = append(list, measuredTrial{series, run.Round, settings, of})
			}
		}
	}
	return list
}

// settings of a variant's server, as far as variants differ from the baseline in them: what is asked for. A variant that does not
// differ has the baseline's value, which any of those that do has beside its own.
func (s *Comparison) settings(of *ComparisonVariant) map[string]string {
	values := map[string]string{}
	for i := range s.Variants {
		for _, d := range s.Variants[i].Differences {
			values[d.Name] = d.From
		}
	}
	for _, d := range of.Differences {
		values[d.Name] = d.To
	}
	return values
}

// at the point of a value of the headline metric the value of a metric; false if there is none.
func (r *ComparisonRun) at(metric string, v *ComparisonValue) (result.Metric, bool) {
	if metric == "" || metric == r.Metric {
		return result.Metric{Name: r.Metric, Unit: r.Unit, Value: v.Value}, true
	}
	unit, values := r.Of(metric)
	label := stats.Label(v.Parameters)
	i := slices.IndexFunc(values, func(v ComparisonValue) bool { return stats.Label(v.Parameters) == label })
	if i < 0 {
		return result.Metric{}, false
	}
	return result.Metric{Name: metric, Unit: unit, Value: values[i].Value}, true
}
