// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// documentVersion is the version of results.json.
const documentVersion = 1

var (
	errNoRun        = errors.New(JSONFile + " is not that of a run")
	errNoComparison = errors.New(JSONFile + " is not that of a comparison")
)

// document is the layout of a run's results.json.
type document struct {
	Version  int                `json:"version"`
	Run      Run                `json:"run"`
	Claims   []claims.Judgement `json:"claims,omitempty"`
	Plan     []Trial            `json:"plan"`
	Attempts []*result.Record   `json:"attempts"`
}

// JSON writes everything: what was asked, the plan, and the record of every attempt with its environment. Histograms are left
// out: the documents of the attempts have them.
func JSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(document{
		Version: documentVersion, Run: r.Run, Claims: r.Claims, Plan: r.Trials, Attempts: withoutHistograms(r.Records),
	})
}

func withoutHistograms(records []*result.Record) []*result.Record {
	var list []*result.Record
	for _, record := range records {
		if record.Summary != nil {
			short := *record
			short.Summary = record.Summary.WithoutHistograms()
			record = &short
		}
		list = append(list, record)
	}
	return list
}

// Decode is the report whose results.json this is, without its points: these follow from the records.
func Decode(text []byte) (*Report, error) {
	var d document
	if err := decodeDocument(text, &d, &d.Version); err != nil {
		return nil, err
	}
	if d.Run.Name == "" {
		return nil, errNoRun
	}
	for i, record := range d.Attempts {
		if record == nil || record.Outcome == result.OutcomeAccepted && record.Summary == nil {
			return nil, fmt.Errorf("%s: attempt %d of %d has no result", JSONFile, i+1, len(d.Attempts))
		}
	}
	return &Report{Run: d.Run, Trials: d.Plan, Claims: d.Claims, Records: d.Attempts}, nil
}

// Attempts are the records in the results of a run, as JSON wrote them.
func Attempts(text []byte) ([]*result.Record, error) {
	var d document
	err := decodeDocument(text, &d, &d.Version)
	return d.Attempts, err
}

// decodeDocument reads a document; version is a field of it.
func decodeDocument(text []byte, d any, version *int) error {
	if err := json.Unmarshal(text, d); err != nil {
		return fmt.Errorf("reading %s: %w", JSONFile, err)
	}
	if *version != documentVersion {
		return fmt.Errorf("%s has version %d, this program reads %d", JSONFile, *version, documentVersion)
	}
	return nil
}
