// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// RecordVersion is the version of Record.
const RecordVersion = 1

// Outcome is how an attempt ended.
type Outcome string

const (
	// OutcomeAccepted: its result counts.
	OutcomeAccepted Outcome = "Accepted"
	// OutcomeInvalidated: it was disturbed. It stays visible, and the trial is measured again as a new attempt.
	OutcomeInvalidated Outcome = "Invalidated"
	// OutcomeFailed: a new attempt would fail in the same way, so that the run ends.
	OutcomeFailed Outcome = "Failed"
)

// Record is what became of one attempt. Status and results are computed from the records and from nothing else.
type Record struct {
	Version int `json:"version"`
	Trial   int `json:"trial"`
	Attempt int `json:"attempt"`
	// JobUID is that of the attempt's Job.
	JobUID     string            `json:"jobUID,omitempty"`
	Instance   int               `json:"instance"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Outcome    Outcome           `json:"outcome"`
	// Cause and Message say why the outcome is not Accepted.
	Cause   Cause  `json:"cause,omitempty"`
	Message string `json:"message,omitempty"`
	Place   Place  `json:"place"`
	// Fingerprint of the database's node and volume, or nil.
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"`
	// Neighbors are what else was on the database's node, or nil if that is not known.
	Neighbors *Neighbors `json:"neighbors,omitempty"`
	// Sides are where each variant was measured; none of a run without variants. What they have stands nowhere else.
	Sides []SideRecord `json:"sides,omitempty"`
	// Summary is what the loader reported, or nil. That of an accepted attempt is complete: see Complete.
	Summary *Summary `json:"summary,omitempty"`
	// Recorded is when the attempt ended or, if that is not known, when the operator wrote the record.
	Recorded time.Time `json:"recorded"`
	// Previous is the record before this one, or nil. Only records that are reachable from the newest one count.
	Previous *Reference `json:"previous,omitempty"`
}

// Reference names a record: its ConfigMap, and the digest of its text as Encode wrote it.
type Reference struct {
	ConfigMap string `json:"configMap"`
	Digest    string `json:"digest"`
}

// Place says on which nodes an attempt ran, and in which Pods and images.
type Place struct {
	DatabaseNode   string `json:"databaseNode,omitempty"`
	DatabaseImage  string `json:"databaseImage,omitempty"`
	DatabasePodUID string `json:"databasePodUID,omitempty"`
	// LoaderNode is that of the leader if there are several loaders; LoaderNodes are then those of all, each once.
	LoaderNode   string   `json:"loaderNode,omitempty"`
	LoaderNodes  []string `json:"loaderNodes,omitempty"`
	LoaderImage  string   `json:"loaderImage,omitempty"`
	LoaderPodUID string   `json:"loaderPodUID,omitempty"`
	// DatabaseQoS and LoaderQoS are the Pods' classes of service: Guaranteed, Burstable or BestEffort. Empty: not known.
	DatabaseQoS string `json:"databaseQoS,omitempty"`
	LoaderQoS   string `json:"loaderQoS,omitempty"`
	// Foreign are the containers that others have added to the Pods, for example "loader: istio-proxy".
	Foreign []string `json:"foreignContainers,omitempty"`
	// RetainedClass is the storage class of the database's volumes if they stay when their claims are deleted. Empty: they do not,
	// or that is not known.
	RetainedClass string `json:"retainedClass,omitempty"`
}

// AddForeign notes containers that others have added to a Pod, as long as they are few.
func (p *Place) AddForeign(pod string, containers []string) {
	const most = 8
	for _, name := range containers {
		if entry := pod + ": " + name; len(p.Foreign) < most && !slices.Contains(p.Foreign, entry) {
			p.Foreign = append(p.Foreign, entry)
		}
	}
}

// Findings are about Pods that others may take resources from, on their nodes or within them, and about volumes that stay.
func (p *Place) Findings() []finding.Finding {
	var list []finding.Finding
	if len(p.Foreign) > 0 {
		list = append(list, finding.BesideOthers(p.Foreign))
	}
	if p.RetainedClass != "" {
		list = append(list, finding.Retained(p.RetainedClass))
	}
	// A Guaranteed Pod has what its limits say, whatever else runs on its node.
	var pods []string
	for _, pod := range []struct{ name, class string }{{"database", p.DatabaseQoS}, {"loader", p.LoaderQoS}} {
		if pod.class != "" && pod.class != "Guaranteed" {
			pods = append(pods, pod.name+" "+pod.class)
		}
	}
	if len(pods) > 0 {
		list = append(list, finding.Unguaranteed(pods))
	}
	return list
}

// Loaders are the nodes that loaders ran on.
func (p *Place) Loaders() []string {
	if len(p.LoaderNodes) == 0 && p.LoaderNode != "" {
		return []string{p.LoaderNode}
	}
	return p.LoaderNodes
}

// maxRecordSummary bounds the summary in a record: the operator keeps the records of a run in memory, and a record must fit into
// one ConfigMap.
const maxRecordSummary = 128 << 10

// Complete gives the record of an accepted attempt the summary of its document, with the histograms if there is room for them. Up
// to then it has that of the termination message, from which EncodeSummary left out what did not fit. If the document's is too
// large even for a record, the short one stays, with a finding that says so.
func (r *Record) Complete(d *Document, doc EncodedDocument) error {
	whole := d.summary(doc)
	data, err := json.Marshal(whole)
	if err == nil && len(data) > maxRecordSummary {
		whole = whole.WithoutHistograms()
		data, err = json.Marshal(whole)
	}
	if err != nil {
		return fmt.Errorf("encoding the summary of the result document: %w", err)
	}
	if len(data) > maxRecordSummary {
		short := *r.Summary
		short.Findings = append(slices.Clone(short.Findings), finding.Shortened(DocumentKey, len(data), maxRecordSummary))
		whole = &short
	}
	r.Summary = whole
	return nil
}

// SameAttempt says whether another record says of the same attempt the same, in what follows from the attempt alone: its Job and
// Pod, what the loader reported, the outcome. It leaves out what is looked up when the record is made, and differs from one look
// to the next: neighbours, the cause of a disturbance, the time, and whatever of the database is gone by now.
func (r *Record) SameAttempt(other *Record) bool {
	mine, theirs := *r, *other
	for _, record := range []*Record{&mine, &theirs} {
		record.Cause, record.Message, record.Neighbors, record.Recorded = "", "", nil, time.Time{}
		record.Place.Foreign, record.Place.RetainedClass = nil, ""
	}
	if slices.ContainsFunc(mine.Sides, func(s SideRecord) bool { return s.Place.DatabasePodUID == "" }) {
		mine.Sides = theirs.Sides
	}
	if mine.Place.DatabasePodUID == "" {
		mine.Fingerprint = theirs.Fingerprint
		mine.Place.DatabaseNode, mine.Place.DatabaseImage = theirs.Place.DatabaseNode, theirs.Place.DatabaseImage
		mine.Place.DatabasePodUID, mine.Place.DatabaseQoS = theirs.Place.DatabasePodUID, theirs.Place.DatabaseQoS
	}
	a, errA := mine.Encode()
	b, errB := theirs.Encode()
	return errA == nil && errB == nil && a == b
}

// Condensed is a record without what only the published results need: histograms, inputs, and the findings that
// no status has room for. The operator keeps a condensed record of every attempt in memory.
func (r *Record) Condensed() *Record {
	short := *r
	if r.Summary == nil {
		return &short
	}
	s := r.Summary.WithoutHistograms()
	s.Inputs, s.Findings = nil, condensed(s.Findings)
	for i := range s.Stages {
		s.Stages[i].Findings = condensed(s.Stages[i].Findings)
	}
	for i := range s.Sides {
		side := &s.Sides[i]
		side.Inputs, side.Findings = nil, condensed(side.Findings)
	}
	short.Summary = s
	return &short
}

// condensed findings: their bounds are more than a status can show.
func condensed(all []finding.Finding) []finding.Finding {
	const most, mostBytes, mostMeasures = 64, 2 << 10, 16
	short := slices.Clone(all[:min(len(all), most)])
	for i, f := range short {
		short[i] = f.Condensed(mostBytes, mostMeasures)
	}
	return short
}

// Keys of an attempt's ConfigMap.
const (
	// RecordKey holds the Record.
	RecordKey = "attempt.json"
	// DocumentKey holds the document, compressed.
	DocumentKey = "document.json.gz"
)

// Encode writes a record as it stands in its ConfigMap.
func (r *Record) Encode() (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encoding the record of an attempt: %w", err)
	}
	return string(data), nil
}

// DecodeRecord reads a record from its ConfigMap.
func DecodeRecord(data string) (*Record, error) {
	r, err := Versioned([]byte(data), "the record of an attempt", func(r *Record) int { return r.Version }, RecordVersion)
	if err == nil && r.Outcome == OutcomeAccepted && r.Summary == nil {
		return nil, errors.New("the record of an attempt is accepted but has no summary")
	}
	return r, err
}

// Versioned reads JSON that has the version that this program reads. Errors call it what.
func Versioned[T any](data []byte, what string, version func(*T) int, reads int) (*T, error) {
	read := new(T)
	if err := json.Unmarshal(data, read); err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	if has := version(read); has != reads {
		return nil, fmt.Errorf("%s has version %d, this program reads %d", what, has, reads)
	}
	return read, nil
}
