// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Run says which run a report is of.
type Run struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Title says in a few words what the run is; empty if nobody has.
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
	HostTuning []result.HostTuning `json:"hostTuning,omitempty"`
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
