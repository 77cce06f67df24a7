// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"maps"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// StageParameter is the name of the parameter, among those of a point, that says in which stage of its trial it is measured.
const StageParameter = "stage"

// Stage is what was measured in one stage of an attempt that has several: what a Document has of its only measured phase.
type Stage struct {
	Name      string     `json:"name"`
	Totals    Totals     `json:"totals"`
	Metrics   []Metric   `json:"metrics"`
	Latencies []Latency  `json:"latencies,omitempty"`
	Series    []Interval `json:"series,omitempty"`
	// StatusBefore and StatusAfter are SHOW GLOBAL STATUS around the stage.
	StatusBefore map[string]string `json:"statusBefore"`
	StatusAfter  map[string]string `json:"statusAfter"`
	Client       ClientFacts       `json:"client"`
	// Observed is what the observer saw of the stage, without a probe; nil if nothing is known.
	Observed *Observed `json:"observed,omitempty"`
	// Checks of what the stage has left. Those of the Document are of the end.
	Checks   []Check           `json:"checks,omitempty"`
	Findings []finding.Finding `json:"findings,omitempty"`
}

// StageSummary is what a Summary has of a Stage.
type StageSummary struct {
	Name      string            `json:"name"`
	Totals    Totals            `json:"totals"`
	Metrics   []Metric          `json:"metrics"`
	Latencies []Latency         `json:"latencies,omitempty"`
	Observed  *ObservedSummary  `json:"observed,omitempty"`
	Findings  []finding.Finding `json:"findings,omitempty"`
}

// StageOf is the stage whose measured phase the document has.
func StageOf(name string, d *Document) Stage {
	return Stage{
		Name: name, Totals: d.Totals, Metrics: d.Metrics, Latencies: d.Latencies, Series: d.Series,
		StatusBefore: d.Server.StatusBefore, StatusAfter: d.Server.StatusAfter, Client: d.Client, Observed: d.Observed,
		Checks: d.Checks, Findings: d.Findings,
	}
}

func withoutHistograms(list []Latency) []Latency {
	list = slices.Clone(list)
	for i := range list {
		list[i].Histogram = ""
	}
	return list
}

// WithoutHistograms is a copy that leaves out what merges latencies.
func (s *Summary) WithoutHistograms() *Summary {
	short := *s
	short.Latencies, short.Stages, short.Sides = withoutHistograms(s.Latencies), slices.Clone(s.Stages), slices.Clone(s.Sides)
	for i := range short.Stages {
		short.Stages[i].Latencies = withoutHistograms(short.Stages[i].Latencies)
	}
	for i := range short.Sides {
		short.Sides[i].Summary = *short.Sides[i].WithoutHistograms()
	}
	return &short
}

// Measurements are what an attempt measured, each as the record of an attempt that measured nothing else: the record itself or,
// of an attempt in stages, one for each of them. Where an attempt may have measured several points, no other code needs to know.
func (r *Record) Measurements() []*Record {
	if r.Summary == nil || len(r.Summary.Stages) == 0 {
		return []*Record{r}
	}
	var list []*Record
	for i := range r.Summary.Stages {
		stage := &r.Summary.Stages[i]
		one, summary := *r, *r.Summary
		one.Parameters, one.Summary = atStage(r.Parameters, stage.Name), &summary
		summary.Stage = stage.Name
		summary.Stages, summary.Totals, summary.Metrics, summary.Latencies = nil, stage.Totals, stage.Metrics, stage.Latencies
		summary.Findings = slices.Concat(r.Summary.Findings, stage.Findings)
		summary.Observed = stage.Observed.with(r.Summary.Observed)
		list = append(list, &one)
	}
	return list
}

// with the probe of the attempt, of which there is one for all stages.
func (o *ObservedSummary) with(attempt *ObservedSummary) *ObservedSummary {
	switch {
	case attempt == nil || attempt.Probe == nil:
		return o
	case o == nil:
		return &ObservedSummary{Probe: attempt.Probe, ThrottledMicros: -1, CPULimitMillis: -1}
	}
	one := *o
	one.Probe = attempt.Probe
	return &one
}

// Measurements are those of the document, as Record.Measurements are those of its record, in the same order.
func (d *Document) Measurements() []*Document {
	if len(d.Stages) == 0 {
		return []*Document{d}
	}
	var list []*Document
	for i := range d.Stages {
		stage := &d.Stages[i]
		one := *d
		one.Config.Parameters = atStage(d.Config.Parameters, stage.Name)
		one.Stage = stage.Name
		one.Stages, one.Totals, one.Metrics, one.Latencies = nil, stage.Totals, stage.Metrics, stage.Latencies
		one.Series, one.Milestones = stage.Series, nil
		one.Server.StatusBefore, one.Server.StatusAfter, one.Client = stage.StatusBefore, stage.StatusAfter, stage.Client
		one.Checks, one.Findings = slices.Concat(stage.Checks, d.Checks), slices.Concat(d.Findings, stage.Findings)
		one.Observed = stage.Observed
		if d.Observed != nil && stage.Observed != nil {
			one.Observed = &Observed{Probe: d.Observed.Probe, Before: stage.Observed.Before, After: stage.Observed.After}
		}
		list = append(list, &one)
	}
	return list
}

func atStage(parameters map[string]string, stage string) map[string]string {
	all := map[string]string{StageParameter: stage}
	maps.Copy(all, parameters)
	return all
}

// Sides are variants that one loader measures in turns.
type Sides struct {
	Each []Side `json:"each"`
	// Seed of the order of the turns, and of their lengths, whose mean is SliceMilliseconds, at least 1.
	Seed              int64 `json:"seed"`
	SliceMilliseconds int64 `json:"sliceMilliseconds"`
}

// Side is what a variant has of its own.
type Side struct {
	Variant  string    `json:"variant"`
	Server   Server    `json:"server"`
	Settings []Setting `json:"settings,omitempty"`
	Workload Workload  `json:"workload"`
	// LimitSeconds and Parameters as in Config.
	LimitSeconds int `json:"limitSeconds,omitempty"`
}

// Side is the configuration of one of the sides as if that were measured alone.
func (c *Config) Side(i int) Config {
	one, s := *c, &c.Sides.Each[i]
	one.Sides, one.Server, one.Settings, one.Workload, one.LimitSeconds = nil, s.Server, s.Settings, s.Workload, s.LimitSeconds
	return one
}

// SideDocument is what was measured of a variant. Whose it is says the Document.
type SideDocument struct {
	Variant string `json:"variant"`
	Document
}

// SideSummary is what a Summary has of it.
type SideSummary struct {
	Variant string `json:"variant"`
	Summary
}

// SideRecord is where a variant was measured: what a Record says of its only database.
type SideRecord struct {
	Variant     string       `json:"variant"`
	Instance    int          `json:"instance"`
	Place       Place        `json:"place"`
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"`
}

// Side is the document of one of the variants as if that had been measured alone, or d itself if it was.
func (d *Document) Side(variant string) *Document {
	i := slices.IndexFunc(d.Sides, func(s SideDocument) bool { return s.Variant == variant })
	if i < 0 {
		return d
	}
	one := d.Sides[i].Document
	one.Identity = d.Identity
	return &one
}

// Side is the record of one of the variants as if that had been measured alone. A record without sides is that of each of them:
// what was disturbed is disturbed for all.
func (r *Record) Side(variant string) *Record {
	one := *r
	one.Sides = nil
	if i := slices.IndexFunc(r.Sides, func(s SideRecord) bool { return s.Variant == variant }); i >= 0 {
		side := &r.Sides[i]
		one.Instance, one.Fingerprint = side.Instance, side.Fingerprint
		loader := r.Place
		one.Place = side.Place
		one.Place.LoaderNode, one.Place.LoaderImage, one.Place.LoaderPodUID = loader.LoaderNode, loader.LoaderImage, loader.LoaderPodUID
		one.Place.LoaderQoS, one.Place.Foreign = loader.LoaderQoS, append(slices.Clone(side.Place.Foreign), loader.Foreign...)
	}
	if r.Summary == nil {
		return &one
	}
	if i := slices.IndexFunc(r.Summary.Sides, func(s SideSummary) bool { return s.Variant == variant }); i >= 0 {
		summary := r.Summary.Sides[i].Summary
		summary.Version, summary.Identity = r.Summary.Version, r.Summary.Identity
		summary.DocumentSHA256, summary.DocumentBytes = r.Summary.DocumentSHA256, r.Summary.DocumentBytes
		one.Summary = &summary
	}
	return &one
}

// Served says whether the attempt measured an instance.
func (r *Record) Served(instance int) bool {
	return r.Instance == instance || slices.ContainsFunc(r.Sides, func(s SideRecord) bool { return s.Instance == instance })
}

// LastInstance is the highest number of an instance that the attempt measured.
func (r *Record) LastInstance() int {
	last := r.Instance
	for i := range r.Sides {
		last = max(last, r.Sides[i].Instance)
	}
	return last
}

// Measures says whether the attempt measured a variant; each measured that without a name, which a run without variants has.
func (r *Record) Measures(variant string) bool {
	return variant == "" || slices.ContainsFunc(r.Sides, func(s SideRecord) bool { return s.Variant == variant })
}
