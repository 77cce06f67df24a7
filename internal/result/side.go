// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import "slices"

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

func (s *SideDocument) summarize() SideSummary {
	return SideSummary{s.Variant, s.Summarize(EncodedDocument{})}
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
