// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// RecordVersion is the version of Record.
const RecordVersion = 1

// Outcome is how an attempt ended.
type Outcome string

const (
	// OutcomeAccepted: its result counts.
	OutcomeAccepted Outcome = "Accepted"
	// OutcomeInvalidated: it was disturbed; it stays visible, and the trial is tried again.
	OutcomeInvalidated Outcome = "Invalidated"
	// OutcomeFailed: a new attempt would meet the same; the run ends.
	OutcomeFailed Outcome = "Failed"
)

// Record is what became of one attempt: the one thing that everything later is computed from.
type Record struct {
	Version    int               `json:"version"`
	Trial      int               `json:"trial"`
	Attempt    int               `json:"attempt"`
	Instance   int               `json:"instance"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Outcome    Outcome           `json:"outcome"`
	// Cause and Message say why, if the outcome is not Accepted.
	Cause   Cause  `json:"cause,omitempty"`
	Message string `json:"message,omitempty"`
	Place   Place  `json:"place"`
	// Fingerprint of the database's node and volume; nil if the probe's answer is not known.
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"`
	// Summary is the loader's; nil if it left none.
	Summary *Summary `json:"summary,omitempty"`
	// Recorded is when the operator wrote this down.
	Recorded time.Time `json:"recorded"`
}

// Place is where an attempt ran, and what.
type Place struct {
	DatabaseNode   string `json:"databaseNode,omitempty"`
	DatabaseImage  string `json:"databaseImage,omitempty"`
	DatabasePodUID string `json:"databasePodUID,omitempty"`
	// LoaderNode is that of the loader that leads, if there are several; LoaderNodes are then those of all, each once.
	LoaderNode   string   `json:"loaderNode,omitempty"`
	LoaderNodes  []string `json:"loaderNodes,omitempty"`
	LoaderImage  string   `json:"loaderImage,omitempty"`
	LoaderPodUID string   `json:"loaderPodUID,omitempty"`
}

// Loaders are the nodes that loaders ran on.
func (p *Place) Loaders() []string {
	if len(p.LoaderNodes) == 0 && p.LoaderNode != "" {
		return []string{p.LoaderNode}
	}
	return p.LoaderNodes
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
	var r Record
	if err := json.Unmarshal([]byte(data), &r); err != nil {
		return nil, fmt.Errorf("reading the record of an attempt: %w", err)
	}
	if r.Version != RecordVersion {
		return nil, fmt.Errorf("the record of an attempt has version %d, this program knows %d", r.Version, RecordVersion)
	}
	if r.Outcome == OutcomeAccepted && r.Summary == nil {
		return nil, errors.New("the record of an attempt is accepted and has no summary")
	}
	return &r, nil
}
