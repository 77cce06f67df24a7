// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result_test

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestRecordRoundTrip(t *testing.T) {
	disturbed := testutil.Record(2, 1, nil, 0)
	disturbed.Outcome, disturbed.Cause, disturbed.Message = result.OutcomeInvalidated, result.CauseEvicted, "drained"
	disturbed.Summary, disturbed.Fingerprint, disturbed.Place = nil, nil, result.Place{}
	cases := map[string]*result.Record{
		"accepted":  testutil.Record(7, 2, map[string]string{"rowsPerCommit": "16"}, 14973.25),
		"disturbed": disturbed,
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			text := must.Get(want.Encode())(t)
			got := must.Get(result.DecodeRecord(text))(t)
			must.Same(t, "record", want, got)
		})
	}
}

// A record that was written by a release is read by all later ones.
func TestRecordGolden(t *testing.T) {
	text := must.Get(testutil.Record(7, 2, map[string]string{"rowsPerCommit": "16"}, 14973.25).Encode())(t)
	testutil.Golden(t, "record.json", []byte(text+"\n"))
}

// A record of an earlier build has warnings that are texts. It can be read; they are not.
func TestRecordWithWarnings(t *testing.T) {
	r, err := result.DecodeRecord(`{"version":1,"outcome":"Accepted","summary":{"version":1,"warnings":["short"]}}`)
	if err != nil || r.Summary == nil || r.Summary.Findings != nil {
		t.Errorf("record %+v: %v", r, err)
	}
}

// In memory, a record has as many findings as a status could show, none of which is large.
func TestCondensedFindings(t *testing.T) {
	r := testutil.Record(1, 1, nil, 1)
	for range 1000 {
		r.Summary.Findings = append(r.Summary.Findings, finding.OfProgram(strings.Repeat("x", 10_000)))
	}
	short := r.Condensed().Summary.Findings
	if len(short) != 64 || len(short[63].Where["text"]) > 2048 || len(r.Summary.Findings[0].Where["text"]) != 10_000 {
		t.Errorf("%d findings of %d bytes", len(short), len(short[0].Where["text"]))
	}
}

// A claim may be about a percentile of a latency: the record that the operator keeps knows it as the whole one does.
func TestCondensedPercentiles(t *testing.T) {
	r := testutil.Record(1, 1, nil, 1)
	r.Summary.Latencies = []result.Latency{{Operation: "commit", Count: 3, P50Micros: 400, Histogram: "long"}}
	short := r.Condensed().Summary
	if m, known := short.Metric("commitP50Micros"); !known || m.Value != 400 || short.Latencies[0].Histogram != "" {
		t.Errorf("metric %+v, known %t; latencies %+v", m, known, short.Latencies)
	}
	if r.Summary.Latencies[0].Histogram == "" {
		t.Error("the whole record has lost its histogram")
	}
}

func TestRecordRefusals(t *testing.T) {
	cases := map[string]struct{ data, want string }{
		"nothing":                    {"", "unexpected end of JSON input"},
		"no JSON":                    {"garbage", "invalid character"},
		"cut off":                    {`{"version":1,"trial":`, "unexpected end of JSON input"},
		"another type":               {`{"version":1,"trial":"one"}`, "cannot unmarshal"},
		"no version":                 {`{"trial":1}`, "has version 0, this program reads 1"},
		"a later version":            {`{"version":2,"outcome":"Accepted"}`, "has version 2, this program reads 1"},
		"accepted without a summary": {`{"version":1,"trial":1,"attempt":1,"outcome":"Accepted"}`, "is accepted but has no summary"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := result.DecodeRecord(tc.data)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "the record of an attempt") {
				t.Errorf("error is %v, want %q", err, tc.want)
			}
			if r != nil {
				t.Errorf("record is %+v", r)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	got := must.Get(result.DecodeFingerprint(testutil.Fingerprint))(t)
	want := &result.Fingerprint{
		Version: 1, Kernel: "6.1.0", CPUModel: "Test CPU", CPUs: 2, MemoryBytes: 8 << 30, Filesystem: "ext4", MountOptions: "rw,relatime",
		Device: "/dev/vda", IOScheduler: "none", Swappiness: "60", TransparentHugePages: "madvise", CPUGovernor: "unknown",
		FdatasyncMicros: result.FsyncLatency{Calls: 300, Median: 110, P95: 180, Max: 900},
	}
	must.Same(t, "fingerprint", want, got)
}

func TestFingerprintRefusals(t *testing.T) {
	cases := map[string]struct{ message, want string }{
		"nothing":         {"", "unexpected end of JSON input"},
		"no JSON":         {"exec: not found", "invalid character"},
		"cut off":         {testutil.Fingerprint[:len(testutil.Fingerprint)-1], "unexpected end of JSON input"},
		"another type":    {`{"version":1,"cpus":"two"}`, "cannot unmarshal"},
		"no version":      {`{}`, "has version 0, this program reads 1"},
		"a later version": {`{"version":2}`, "has version 2, this program reads 1"},
		"too long":        {`{"version":1}` + strings.Repeat(" ", 4084), "has 4097 bytes; at most 4096 are allowed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, err := result.DecodeFingerprint(tc.message)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "the fingerprint") {
				t.Errorf("error is %v, want %q", err, tc.want)
			}
			if f != nil {
				t.Errorf("fingerprint is %+v", f)
			}
		})
	}
}

// The record has what its termination message had no room for, up to a bound; beyond it, it says that there is more.
func TestRecordIsCompletedFromItsDocument(t *testing.T) {
	for name, tc := range map[string]struct {
		findings, histogram, kept int
		want                      string
	}{
		"few":      {1, 1 << 10, 1 << 10, "warning"},
		"many":     {100, 1 << 10, 1 << 10, "warning"},
		"no room":  {100, 100 << 10, 0, "warning"},
		"too many": {2000, 1 << 10, 0, "at most 131072 are kept: see document.json.gz for all findings, settings and latencies"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := testutil.Document("pod", 1, 1, 1000)
			doc.Latencies[0].Histogram = strings.Repeat("h", tc.histogram)
			for range tc.findings {
				doc.Findings = append(doc.Findings, finding.OfProgram("warning"+strings.Repeat(".", 1000)))
			}
			encoded := must.Get(result.EncodeDocument(doc))(t)
			message := must.Get(result.EncodeSummary(doc.Summarize(encoded)))(t)
			short := must.Get(result.DecodeSummary(string(message)))(t)
			record := testutil.Record(1, 1, nil, 1000)
			record.Summary = short
			must.Do(t, record.Complete(doc, encoded))
			wanted := tc.findings
			if name == "too many" {
				wanted = 1
			}
			if got := finding.Texts(record.Summary.Findings); len(got) != wanted || !strings.Contains(got[0], tc.want) {
				t.Errorf("%d findings, the first: %.200s", len(got), got[0])
			}
			must.Same(t, "bytes of the histogram", tc.kept, len(record.Summary.Latencies[0].Histogram))
			record.Summary.Latencies[0].Histogram = ""
			short.Findings, record.Summary.Findings = nil, nil
			must.Same(t, "the rest of the summary, as in the termination message", short, record.Summary)
			if text, err := record.Encode(); err != nil || len(text) > result.MaxConfigMapBytes {
				t.Errorf("the record has %d bytes: %v", len(text), err)
			}
		})
	}
}

// The first record of an attempt stands for another that says the same of what follows from the attempt alone.
func TestSameAttempt(t *testing.T) {
	record := func(change func(*result.Record)) *result.Record {
		r := testutil.Record(7, 2, map[string]string{"rowsPerCommit": "16"}, 14973.25)
		r.JobUID, r.Previous = "job", &result.Reference{ConfigMap: "run-t6-a1", Digest: "sha256:feed"}
		change(r)
		return r
	}
	for name, tc := range map[string]struct {
		mine, theirs func(*result.Record)
		same         bool
	}{
		"the same":         {same: true},
		"other neighbours": {theirs: func(r *result.Record) { r.Neighbors = &result.Neighbors{Pods: 3, Arrived: result.Visitors{Count: 1}} }, same: true},
		"another time":     {theirs: func(r *result.Record) { r.Recorded = r.Recorded.Add(1) }, same: true},
		"another cause":    {theirs: func(r *result.Record) { r.Cause, r.Message = result.CauseEvicted, "drained" }, same: true},
		"the database is gone": {mine: func(r *result.Record) {
			r.Place.DatabaseNode, r.Place.DatabaseImage, r.Place.DatabasePodUID = "", "", ""
		}, same: true},
		"the database was gone": {theirs: func(r *result.Record) { r.Place.DatabasePodUID = "" }},
		"another Job":           {theirs: func(r *result.Record) { r.JobUID = "other" }},
		"another Pod":           {theirs: func(r *result.Record) { r.Place.LoaderPodUID = "other" }},
		"another outcome":       {theirs: func(r *result.Record) { r.Outcome = result.OutcomeInvalidated }},
		"another number":        {theirs: func(r *result.Record) { r.Summary.Metrics[0].Value++ }},
		"another document":      {theirs: func(r *result.Record) { r.Summary.DocumentSHA256 = "other" }},
		"other parameters":      {theirs: func(r *result.Record) { r.Parameters = map[string]string{"rowsPerCommit": "17"} }},
		"another predecessor":   {theirs: func(r *result.Record) { r.Previous = nil }},
		"another attempt":       {theirs: func(r *result.Record) { r.Attempt = 3 }},
	} {
		t.Run(name, func(t *testing.T) {
			nothing := func(*result.Record) {}
			if tc.mine == nil {
				tc.mine = nothing
			}
			if tc.theirs == nil {
				tc.theirs = nothing
			}
			must.Same(t, "the same attempt", tc.same, record(tc.mine).SameAttempt(record(tc.theirs)))
		})
	}
}
