// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// attemptLine is the layout of a line of a run's results.jsonl.
type attemptLine struct {
	Namespace  string            `json:"namespace"`
	Run        string            `json:"run"`
	UID        string            `json:"uid"`
	Workload   string            `json:"workload"`
	Trial      int               `json:"trial"`
	Round      int               `json:"round"`
	Attempt    int               `json:"attempt"`
	Outcome    result.Outcome    `json:"outcome"`
	Cause      result.Cause      `json:"cause,omitempty"`
	Message    string            `json:"message,omitempty"`
	Recorded   time.Time         `json:"recorded"`
	Parameters map[string]string `json:"parameters"`
	// Metrics by name, in their units; Units by the name of the metric.
	Metrics map[string]float64 `json:"metrics"`
	Units   map[string]string  `json:"units"`
	// Latencies by operation, in microseconds, without histograms.
	Latencies map[string]result.Latency `json:"latencies,omitempty"`
	Rows      int64                     `json:"rows"`
	Micros    int64                     `json:"micros"`
	Findings  []finding.Finding         `json:"findings,omitempty"`
	// ServerVersion, SettingsDigest, DatabaseImage and DatabaseNode say what was measured and where; empty if it is not
	// known.
	ServerVersion  string `json:"serverVersion,omitempty"`
	SettingsDigest string `json:"settingsDigest,omitempty"`
	DatabaseImage  string `json:"databaseImage,omitempty"`
	DatabaseNode   string `json:"databaseNode,omitempty"`
}

// JSONLines writes a JSON object per line for every attempt, of one in stages for each of them, also for those that do not count:
// `outcome` says which do.
func JSONLines(w io.Writer, r *Report) error {
	enc, rounds := json.NewEncoder(w), r.roundOf()
	for _, attempt := range withoutHistograms(r.Records) {
		for _, record := range attempt.Measurements() {
			if err := enc.Encode(r.line(record, rounds[record.Trial])); err != nil {
				return err
			}
		}
	}
	return nil
}

// line of a record.
func (r *Report) line(record *result.Record, round int) attemptLine {
	line := attemptLine{
		Namespace: r.Run.Namespace, Run: r.Run.Name, UID: r.Run.UID, Workload: r.Run.Workload,
		Trial: record.Trial, Round: round, Attempt: record.Attempt,
		Outcome: record.Outcome, Cause: record.Cause, Message: record.Message, Recorded: record.Recorded,
		Parameters: orEmpty(record.Parameters), Metrics: map[string]float64{}, Units: map[string]string{},
		DatabaseImage: record.Place.DatabaseImage, DatabaseNode: record.Place.DatabaseNode,
	}
	s := record.Summary
	if s == nil {
		return line
	}
	for _, m := range s.Metrics {
		line.Metrics[m.Name], line.Units[m.Name] = finite(m.Value), m.Unit
	}
	for _, l := range s.Latencies {
		if line.Latencies == nil {
			line.Latencies = map[string]result.Latency{}
		}
		line.Latencies[l.Operation] = l
	}
	line.Rows, line.Micros, line.Findings = s.Totals.Rows, s.Totals.Micros, s.Findings
	line.ServerVersion, line.SettingsDigest = s.ServerVersion, s.SettingsDigest
	return line
}

// valueLine is the layout of a line of a comparison's results.jsonl.
type valueLine struct {
	Namespace  string            `json:"namespace"`
	Comparison string            `json:"comparison"`
	UID        string            `json:"uid"`
	Workload   string            `json:"workload"`
	Round      int               `json:"round"`
	Variant    string            `json:"variant"`
	Run        string            `json:"run"`
	Outcome    string            `json:"outcome"`
	Seed       int64             `json:"seed"`
	Parameters map[string]string `json:"parameters"`
	Metric     string            `json:"metric,omitempty"`
	Unit       string            `json:"unit,omitempty"`
	// Value is left out if the run has measured nothing.
	Value          *float64 `json:"value,omitempty"`
	ServerVersion  string   `json:"serverVersion,omitempty"`
	SettingsDigest string   `json:"settingsDigest,omitempty"`
	DatabaseImage  string   `json:"databaseImage,omitempty"`
	DatabaseNode   string   `json:"databaseNode,omitempty"`
}

// ComparisonJSONLines writes a JSON object per line for every value: of a point, in a run. A run that has measured nothing has
// one line without a value.
func ComparisonJSONLines(w io.Writer, s *Comparison) error {
	enc := json.NewEncoder(w)
	for _, run := range s.Runs {
		line := valueLine{
			Namespace: s.Namespace, Comparison: s.Name, UID: s.UID, Workload: s.Workload,
			Round: run.Round, Variant: run.Variant, Run: run.Name, Outcome: run.Outcome, Seed: run.Seed,
			Parameters: map[string]string{}, Metric: run.Metric, Unit: run.Unit,
			ServerVersion: run.ServerVersion, SettingsDigest: run.SettingsDigest,
			DatabaseImage: run.DatabaseImage, DatabaseNode: run.DatabaseNode,
		}
		if len(run.Values) == 0 {
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
		for _, v := range run.Values {
			value := finite(v.Value)
			line.Parameters, line.Value = orEmpty(v.Parameters), &value
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// orEmpty is an empty map instead of nil: a query need not ask whether there are parameters.
func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
