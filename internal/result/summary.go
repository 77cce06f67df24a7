// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// MaxSummaryBytes is the budget of a termination message: Kubernetes cuts at 4 KiB per container.
const MaxSummaryBytes = 3 << 10

// summaryPrefix marks a termination message as a summary: a container that crashes may leave any text there.
const (
	summaryPrefix = anySummaryPrefix + "1 "
	// anySummaryPrefix is how the message of a loader of any release begins.
	anySummaryPrefix = "benchrun-summary-v"
)

// ErrNoSummary is returned for a termination message that is not a summary.
var ErrNoSummary = errors.New("the termination message holds no summary")

// EncodeSummary writes a summary within MaxSummaryBytes. It leaves out stages, sides and histograms and, in this order, what does
// not fit: findings, inputs, latencies, and the end of a failure's message. All but the last are in the document too, and the
// record of an accepted attempt has them from there: see Record.Complete.
func EncodeSummary(s Summary) ([]byte, error) {
	s.Latencies, s.Stages, s.Sides = withoutHistograms(s.Latencies), nil, nil
	if s.Failure != nil {
		const most = 1 << 10
		s.Failure = &Failure{s.Failure.Reason, Truncate(s.Failure.Message, most)}
	}
	shorten := []func(){
		func() {},
		func() { s.Findings = nil },
		func() { s.Inputs = nil },
		func() { s.Latencies = nil },
	}
	for _, drop := range shorten {
		drop()
		data, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("encoding the summary: %w", err)
		}
		if len(summaryPrefix)+len(data) <= MaxSummaryBytes {
			return append([]byte(summaryPrefix), data...), nil
		}
	}
	if s.Failure != nil && len(s.Failure.Message) > 0 {
		// In JSON, some characters are six times as long.
		s.Failure.Message = Truncate(s.Failure.Message, len(s.Failure.Message)/2)
		return EncodeSummary(s)
	}
	return nil, fmt.Errorf("the summary does not fit into %d bytes", MaxSummaryBytes)
}

// ErrSummaryVersion is wrapped by the error of DecodeSummary about a loader of another release.
var ErrSummaryVersion = errors.New("the summary has another version")

// DecodeSummary reads a termination message, which must be one whole summary of a known version. The error is ErrNoSummary if it
// does not begin like a summary.
func DecodeSummary(message string) (*Summary, error) {
	data, found := bytes.CutPrefix([]byte(message), []byte(summaryPrefix))
	switch {
	case found:
	case strings.HasPrefix(message, anySummaryPrefix):
		version, _, _ := strings.Cut(message[len(anySummaryPrefix):], " ")
		return nil, fmt.Errorf("%w: format %s, this program reads format 1", ErrSummaryVersion, Truncate(version, 16))
	default:
		return nil, ErrNoSummary
	}
	if len(message) > MaxSummaryBytes {
		return nil, fmt.Errorf("the summary has %d bytes; at most %d are allowed", len(message), MaxSummaryBytes)
	}
	var s Summary
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("reading the summary: %w", err)
	}
	if s.Version != DocumentVersion {
		return nil, fmt.Errorf("%w: it has version %d, this program reads %d", ErrSummaryVersion, s.Version, DocumentVersion)
	}
	if s.Failure == nil && s.DocumentSHA256 == "" && !s.Delivered {
		return nil, errors.New("the summary has neither a document nor a failure, and nothing was delivered")
	}
	return &s, nil
}

// Summarize is the summary of a document, complete but for the histograms.
func (d *Document) Summarize(doc EncodedDocument) Summary { return *d.summary(doc).WithoutHistograms() }

func (d *Document) summary(doc EncodedDocument) *Summary {
	s := &Summary{
		Version: DocumentVersion, Identity: d.Identity,
		DocumentSHA256: doc.SHA256, DocumentBytes: int64(len(doc.Gzip)),
		Totals: d.Totals, Metrics: d.Metrics, Latencies: d.Latencies,
		ServerVersion: d.Server.Version, SettingsDigest: d.Server.SettingsDigest, WorkingSet: d.Server.WorkingSet,
		Findings: d.Findings, Observed: d.Observed.Summarize(), Inputs: condense(d.Inputs),
	}
	for _, stage := range d.Stages {
		s.Stages = append(s.Stages, StageSummary{
			stage.Name, stage.Totals, stage.Metrics, stage.Latencies, stage.Observed.Summarize(), stage.Findings,
		})
	}
	for i := range d.Sides {
		s.Sides = append(s.Sides, SideSummary{d.Sides[i].Variant, *d.Sides[i].summary(EncodedDocument{})})
	}
	return s
}

// Truncate cuts s to at most n bytes, between two characters.
func Truncate(s string, n int) string { return finding.Truncate(s, n) }

// TableLoad is how a table was loaded in the measured phase.
type TableLoad struct {
	Name string `json:"name"`
	// Rows that the server says it wrote, Bytes of text that were sent to it.
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
	// Statements that it took, and the sum of their warnings, which are 0 in a result.
	Statements int64 `json:"statements"`
	Warnings   int64 `json:"warnings"`
	// StartMicros is when its first statement was sent; Micros the time from then until its last one was answered.
	StartMicros int64 `json:"startMicros"`
	Micros      int64 `json:"micros"`
	// FileSHA256 is the hexadecimal digest of the file that it was loaded from, if there was one.
	FileSHA256 string `json:"fileSHA256,omitempty"`
}

// ToolFacts are what is known of a program other than the loader that made the load.
type ToolFacts struct {
	// Name of the program, and its Version if it says one.
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Commands in the order of their execution.
	Commands []ToolCommand `json:"commands"`
	// Data says where data come from that trials share; empty if they share none.
	Data ToolData `json:"data,omitempty"`
}

// ToolData is where the data of a trial come from.
type ToolData string

const (
	// DataPrepared were made for this trial.
	DataPrepared ToolData = "Prepared"
	// DataKept are those of an earlier trial, which no trial has written to.
	DataKept ToolData = "Kept"
)

// ToolCommand is one execution of a program.
type ToolCommand struct {
	Phase    string   `json:"phase"`
	Args     []string `json:"args"`
	ExitCode int      `json:"exitCode"`
	Micros   int64    `json:"micros"`
}

// Add adds what was done by another client or at another time. For how long, and why it ended, is for the caller to say.
func (t *Totals) Add(other *Totals) {
	t.Rows += other.Rows
	t.Transactions += other.Transactions
	t.Statements += other.Statements
	t.Bytes += other.Bytes
	t.RowsDeleted += other.RowsDeleted
	t.Queries += other.Queries
	t.Errors += other.Errors
}

// Totals are the sums of an interval alone.
func (i *Interval) Totals() Totals {
	return Totals{
		Rows: i.Rows, Transactions: i.Transactions, RowsDeleted: i.RowsDeleted, Queries: i.Queries, Bytes: i.Bytes, Errors: i.Errors,
	}
}

// Consumed adds what another Pod consumed, or the same one at another time; the resident memory is the larger one.
// CPUs and limits are of a Pod, and stay.
func (c *ClientFacts) Consumed(other *ClientFacts) {
	c.UserMicros += other.UserMicros
	c.SystemMicros += other.SystemMicros
	c.LateAnswers += other.LateAnswers
	c.MaxRSSBytes = max(c.MaxRSSBytes, other.MaxRSSBytes)
	if c.ThrottledMicros < 0 || other.ThrottledMicros < 0 {
		c.ThrottledMicros = -1 // unknown of one is unknown of all
	} else {
		c.ThrottledMicros += other.ThrottledMicros
	}
}
