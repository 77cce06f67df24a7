// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report shows what a run measured. A Report is built once from the analysis of a run's records: it has the points of
// a run and, of one with variants, their pairs. Each printer is a function of it: a table for people, CSV for spreadsheets,
// JSON with everything, and the Go benchmark format, which benchstat reads. Compared is what two reports say together.
package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Run says which run a report is of, what was asked, and how it ended.
type Run struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Title says in a few words what the run is; empty if no title was given.
	Title    string `json:"title,omitempty"`
	UID      string `json:"uid"`
	Workload string `json:"workload"`
	Seed     int64  `json:"seed"`
	// Planned is how many trials were to be measured, of which a precision target may spare some; with variants, the most rounds.
	Planned int `json:"planned"`
	// SpecDigest is the same for runs that ask for the same.
	SpecDigest string `json:"specDigest"`
	// Outcome is Complete, Failed or Unfinished. Message says why it failed or, with variants, why there were no more rounds.
	Outcome string    `json:"outcome"`
	Message string    `json:"message,omitempty"`
	Started time.Time `json:"started"`
	// Findings are about the run as a whole: how its node differed between trials; with variants, all to be read with the answer.
	Findings []finding.Finding `json:"findings,omitempty"`
	// HostTuning is what was changed on nodes.
	HostTuning []v1alpha1.HostTuningStatus `json:"hostTuning,omitempty"`
	// Spec is what was asked, as it is stored.
	Spec json.RawMessage `json:"spec"`
}

// Report is everything that the printers show of a run.
type Report struct {
	Run `json:"run"`
	Variation
	// Claims are judged in the order of the specification.
	Claims []claims.Judgement `json:"claims,omitempty"`
	// Settings that were asked for, beside what the servers made of them; without variants, there is one server.
	Settings []ServerSettings `json:"settings,omitempty"`
	// Records of all attempts, in the order in which they were recorded.
	Records []*result.Record `json:"attempts"`
	// Points in the order of the sweep, those of each variant in turn, with all that was measured at them.
	Points []stats.Point `json:"-"`
	// Capacities are those of the variants, or of the only server; none unless the run asks for them.
	Capacities []stats.Point `json:"-"`
	// Pairs are judged by the whole rounds. Overall has, of each variant with several points, what all of them say together.
	Pairs   []stats.Paired `json:"-"`
	Overall []stats.Paired `json:"-"`
	// Requested is what it shows besides what every report does.
	Requested Requested `json:"-"`
}

// HasVariants says whether the run has variants.
func (r *Report) HasVariants() bool { return len(r.Variants) > 0 }

// Warnings are the texts of what must be read with all numbers.
func (r *Report) Warnings() []string { return finding.Texts(r.runFindings()) }

// Accepted are the attempts that count, in the order of measuring.
func (r *Report) Accepted() []*result.Record { return judge.AcceptedIn(r.Records) }

// Measurement is what an attempt that counts measured at a point: of a variant, if there are any.
type Measurement struct {
	Variant string
	*result.Record
}

// Measurements are those of all attempts that count, in the order of measuring.
func (r *Report) Measurements() []Measurement {
	var list []Measurement
	add := func(variant string, of *result.Record) {
		for _, record := range of.Measurements() {
			list = append(list, Measurement{variant, record})
		}
	}
	for _, record := range r.Accepted() {
		if !r.HasVariants() {
			add("", record)
		}
		for _, side := range record.Sides {
			add(side.Variant, record.Side(side.Variant))
		}
	}
	return list
}

// Answering are the points whose best one is the answer of a run without variants.
func (r *Report) Answering() []stats.Point { return judge.Answering(r.Points, r.Capacities) }

// Parameters are the names of the swept parameters.
func (r *Report) Parameters() []string { return stats.NamesOf(stats.ParametersOf(r.Points)) }

// Measured are the points at which anything was measured, in the order of the sweep.
func (r *Report) Measured() []stats.Point { return stats.Measured(r.Points) }

// Of a run with that plan is its report, from the records of all attempts so far; with variants, they are compared. Outcome and
// message are those of the Run.
func Of(
	run *v1alpha1.BenchmarkRun, p *plan.Plan, records []*result.Record, compared *judge.Compared, outcome, message string,
) (*Report, error) {
	r := &Report{
		Run: Run{
			Namespace: run.Namespace, Name: run.Name, Title: run.Spec.Title, UID: string(run.UID),
			Workload: string(run.Spec.Workload.Type), Seed: plan.Seed(&run.Spec), Outcome: outcome, Message: message,
		},
		Records: records,
	}
	if run.Status.StartTime != nil {
		r.Started = run.Status.StartTime.UTC()
	}
	var err error
	if r.SpecDigest, err = plan.Digest(&run.Spec); err != nil {
		return nil, err
	}
	if r.Spec, err = json.Marshal(run.Spec); err != nil {
		return nil, fmt.Errorf("encoding the specification: %w", err)
	}
	a := judge.OfRun(run, p, records)
	r.Points, r.Capacities = a.Points, a.Capacities
	if compared != nil {
		return r, r.compare(compared)
	}
	r.Claims, r.Findings, r.Planned = a.Claims, a.Findings, judge.ProgressOf(run, p, records).Planned
	return r, nil
}

// FromResults is the report that a results.json was printed from. Its latencies have no histograms: the documents have them.
func FromResults(text []byte) (*Report, error) {
	rep, err := Decode(text)
	if err != nil {
		return nil, err
	}
	run := new(v1alpha1.BenchmarkRun)
	if err := json.Unmarshal(rep.Spec, &run.Spec); err != nil {
		return nil, fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	if said, asked := len(rep.Variants), len(run.Spec.Variants); said != asked {
		return nil, fmt.Errorf("%s has %d variants, and its specification %d", JSONFile, said, asked)
	}
	p, err := plan.New(run, rep.Alternation)
	if err != nil {
		return nil, fmt.Errorf("reading the specification in %s: %w", JSONFile, err)
	}
	rep.Points, rep.Capacities = judge.Points(run, p, rep.Records), judge.Capacities(run, p, rep.Records)
	return rep, nil
}

// roundOf each trial that counts, by its number.
func (r *Report) roundOf() map[int]int {
	rounds := map[int]int{}
	for i := range r.Points {
		for n, record := range r.Points[i].Records {
			rounds[record.Trial] = r.Points[i].Round(n)
		}
	}
	return rounds
}

// counted are the points with what counts of them: with variants, the rounds in which each of these was measured.
func (r *Report) counted() []stats.Point {
	points := slices.Clone(r.Points)
	for i := range points {
		p := &points[i]
		if n := slices.IndexFunc(p.Rounds, func(round int) bool { return round > r.Rounds }); n >= 0 && r.HasVariants() {
			p.Records, p.Rounds = p.Records[:n], p.Rounds[:n]
		}
	}
	return points
}

// settings of a variant's server, as far as variants differ from the baseline in them: what is asked for. A variant that does not
// differ has the baseline's value, which any of those that do has beside its own.
func (r *Report) settings(variant string) map[string]string {
	values, own := map[string]string{}, map[string]string{}
	for _, v := range r.Variants {
		for _, d := range v.Differences {
			values[d.Name] = d.From
			if v.Name == variant {
				own[d.Name] = d.To
			}
		}
	}
	maps.Copy(values, own)
	return values
}
