// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// What was published can be printed again, in every format.
func TestDecodeGivesWhatWasEncoded(t *testing.T) {
	for name, r := range reports() {
		decoded, err := report.Decode([]byte(printed(t, report.JSON, r)))
		if err != nil {
			t.Fatal(name, err)
		}
		decoded.Points = r.Points
		settled := cmpopts.IgnoreFields(claims.Judgement{}, "Settled")
		if diff := cmp.Diff(r.Claims, decoded.Claims, settled, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: claims (-want +got):\n%s", name, diff)
		}
		files, err := report.Files(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := report.Files(decoded)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			if !bytes.Equal(f.Data, again[i].Data) {
				t.Errorf("%s: %s is another one after decoding", name, f.Name)
			}
		}
	}
}

func TestDecodeComparisonGivesWhatWasEncoded(t *testing.T) {
	s := reportOfComparison()
	s.Pairs[3].High, s.Pairs[3].Detectable, s.Pairs[3].Cause = math.Inf(1), math.Inf(1), stats.MetricsDiffer
	s.Pairs[3].BaselineMetric = &result.Metric{Name: "totalSeconds", Unit: "s", Better: "lower"}
	for i := range s.Pairs[:3] {
		p := &s.Pairs[i]
		p.Detectable, p.Decided, p.RoundsNeeded, p.FirstLook, p.Cause = 0.1, true, 7+i, 4, stats.Contradiction
		p.Costs = []stats.Cost{{Name: "fsyncs", Unit: "fsyncs/row", Baseline: 1, Variant: 0.1}}
	}
	s.Runs[0].Others = []report.ComparisonMetric{{Metric: "durationSeconds", Unit: "s", Values: []report.ComparisonValue{{
		Parameters: map[string]string{"rowsPerCommit": "1"}, Value: 12,
	}}}}
	var text bytes.Buffer
	if err := report.ComparisonJSON(&text, s); err != nil {
		t.Fatal(err)
	}
	decoded, err := report.DecodeComparison(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, decoded, cmpopts.IgnoreFields(claims.Judgement{}, "Settled"), cmpopts.EquateEmpty(), specText()); diff != "" {
		t.Errorf("comparison (-want +got):\n%s", diff)
	}
}

// specText compares specifications whatever their indentation.
func specText() cmp.Option {
	return cmp.Transformer("compact", func(text json.RawMessage) string {
		var b bytes.Buffer
		if err := json.Compact(&b, text); err != nil {
			return err.Error()
		}
		return b.String()
	})
}

// Histograms are in the documents, and not in results.json. The records keep theirs.
func TestJSONHasNoHistograms(t *testing.T) {
	r := small()
	latency := &r.Records[0].Summary.Latencies[0]
	latency.Histogram = "HISTFAAAABx4nJNpmSzMwMDAxAABzFCaEUoz2X+AMIAA"
	if text := printed(t, report.JSON, r); strings.Contains(text, "HISTF") {
		t.Errorf("it has one:\n%s", text)
	}
	if latency.Histogram == "" {
		t.Error("the record has lost its histogram")
	}
}

// Numbers that JSON has not are left out.
func TestComparisonJSONOfNoNumbers(t *testing.T) {
	s := reportOfComparison()
	p := &s.Pairs[0]
	p.Ratio, p.Low, p.High, p.BaselineValues = math.NaN(), math.Inf(-1), math.Inf(1), nil
	decoded, err := report.DecodeComparison([]byte(printedComparison(t, report.ComparisonJSON, s)))
	if err != nil {
		t.Fatal(err)
	}
	if got := &decoded.Pairs[0]; got.Ratio != 0 || got.Low != 0 || !math.IsInf(got.High, 1) || got.Bounded() {
		t.Errorf("it is read as %+v", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                    "reading results.json: unexpected end of JSON input",
		`{"version":2}`:        "results.json has version 2, this program reads 1",
		`{"run":{"name":"a"}}`: "results.json has version 0, this program reads 1",
		`{"version":1,"run":{"name":"a"},"attempts":[{"outcome":"Failed"},{"outcome":"Accepted"}]}`: "results.json: attempt 2 of 2 " +
			"has no result",
		`{"version":1,"comparison":{}}`: "results.json is not that of a run",
	} {
		if _, err := report.Decode([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
	}
	if _, err := report.DecodeComparison([]byte(`{"version":1,"run":{"name":"a"}}`)); err == nil {
		t.Error("the results of a run are decoded as those of a comparison")
	}
}
