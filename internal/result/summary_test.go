// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Every count is added, also one that comes later. How long it took, and why it ended, is no count.
func TestTotalsAdd(t *testing.T) {
	filled := func(n int64) Totals {
		var totals Totals
		v := reflect.ValueOf(&totals).Elem()
		for _, f := range v.Fields() {
			if f.Kind() == reflect.Int64 {
				f.SetInt(n)
			}
		}
		return totals
	}
	sum, other := filled(1), filled(2)
	sum.Add(&other)
	want := filled(3)
	want.Micros = 1
	must.Same(t, "sum", want, sum)
}

// What is unknown of one is unknown of the sum, whichever comes first.
func TestConsumed(t *testing.T) {
	known := ClientFacts{UserMicros: 1, SystemMicros: 2, ThrottledMicros: 3, MaxRSSBytes: 4, LateAnswers: 5, CPUs: 2, CPULimitMillis: 500}
	unknown := known
	unknown.ThrottledMicros = -1
	for _, pair := range [][2]ClientFacts{{known, unknown}, {unknown, known}} {
		sum := pair[0]
		sum.Consumed(&pair[1])
		want := ClientFacts{UserMicros: 2, SystemMicros: 4, ThrottledMicros: -1, MaxRSSBytes: 4, LateAnswers: 10, CPUs: 2, CPULimitMillis: 500}
		must.Same(t, "sum", want, sum)
	}
	sum := known
	if sum.Consumed(&known); sum.ThrottledMicros != 6 {
		t.Errorf("%+v", sum)
	}
}

// A metric is found by its name; the duration follows from the totals, unless a program has reported one of that name.
func TestMetricOfSummary(t *testing.T) {
	s := &Summary{Metrics: []Metric{{Name: "rowsPerSecond", Value: 7}, {Name: "errorPercent", Value: 1}}, Totals: Totals{Micros: 2_500_000, Rows: 3}, Latencies: []Latency{
		{Operation: "insert", Count: 1, P50Micros: 50, P95Micros: 95, P99Micros: 99, P999Micros: 999, MaxMicros: 1000}, {Operation: "commit"},
	}}
	for name, want := range map[string]float64{
		"": 7, "rowsPerSecond": 7, "errorPercent": 1, DurationMetric: 2.5, RowsMetric: 3,
		"insertP50Micros": 50, "insertP95Micros": 95, "insertP99Micros": 99, "insertP999Micros": 999, "insertMaxMicros": 1000,
	} {
		if m, found := s.Metric(name); !found || m.Value != want {
			t.Errorf("%q is %+v, %t", name, m, found)
		}
	}
	for _, name := range []string{"rows", "commitP50Micros", "insertP42Micros", "P50Micros", "insert"} {
		if m, found := s.Metric(name); found {
			t.Errorf("%s is %+v", name, m)
		}
	}
	own := &Summary{Metrics: []Metric{{Name: DurationMetric, Value: 9}}, Totals: s.Totals}
	if m, _ := own.Metric(DurationMetric); m.Value != 9 {
		t.Errorf("the program's own duration is %v", m.Value)
	}
	if _, found := new(Summary).Metric(DurationMetric); found {
		t.Error("a duration of nothing")
	}
}

// The headline that was asked for stands first, and the one before it is shown beside it; of what was not measured, the error says
// what there is.
func TestLead(t *testing.T) {
	made := func() *Document {
		return &Document{
			Metrics: []Metric{{Name: "rowsPerSecond", Value: 7}, {Name: "errorPercent", Value: 1}}, Totals: Totals{Micros: 2_500_000},
			Latencies: []Latency{{Operation: "insert", Count: 1, P99Micros: 99}, {Operation: "commit"}},
		}
	}
	for name, want := range map[string][]string{
		"rowsPerSecond": {"rowsPerSecond", "errorPercent"}, "errorPercent": {"errorPercent", "rowsPerSecond"},
		"insertP99Micros": {"insertP99Micros", "rowsPerSecond", "errorPercent"}, DurationMetric: {DurationMetric, "rowsPerSecond", "errorPercent"},
	} {
		d := made()
		must.Do(t, d.Lead(name))
		var got []string
		for _, m := range d.Metrics {
			if got = append(got, m.Name); m.Shown != (m.Name == "rowsPerSecond" && name != m.Name) {
				t.Errorf("%s first: %s is shown: %t", name, m.Name, m.Shown)
			}
		}
		must.Same(t, name+" first", want, got)
	}
	const want = "metric: coffee was not measured; there are durationSeconds, errorPercent, insertMaxMicros, insertP50Micros, " +
		"insertP95Micros, insertP999Micros, insertP99Micros, rowsPerSecond"
	must.Same(t, "error", want, must.Text(made().Lead("coffee")))
}

func TestSummaryCondensesInputs(t *testing.T) {
	few := []Input{{Name: "b", Bytes: 1, SHA256: "x"}, {Name: "a", Bytes: 2, Rows: 3, SHA256: "y"}}
	must.Same(t, "few inputs", few, (&Document{Inputs: few}).Summarize(EncodedDocument{}).Inputs)
	many := append(slices.Clone(few), Input{Name: "d", Bytes: 10, Rows: 20, SHA256: "z"}, Input{Name: "c", Rows: 1, SHA256: "z"})
	// What `sha256sum a b c d | sha256sum` prints.
	sum := sha256.Sum256([]byte("y  a\nx  b\nz  c\nz  d\n"))
	want := []Input{{Name: "4 files", Bytes: 13, Rows: 24, SHA256: hex.EncodeToString(sum[:])}}
	must.Same(t, "many inputs", want, (&Document{Inputs: many}).Summarize(EncodedDocument{}).Inputs)
	must.Same(t, "the document's own first input", "b", many[0].Name)
}

// The inputs of a load of eight tables leave room for its metrics and latencies.
func TestSummaryOfALoadWithInputsFits(t *testing.T) {
	s := Summary{
		Version: DocumentVersion, Identity: Identity{
			RunUID: strings.Repeat("u", 36), PodUID: strings.Repeat("p", 36), PodName: strings.Repeat("n", 60), Node: "node", Trial: 1, Attempt: 1,
		}, DocumentSHA256: strings.Repeat("a", 64),
		Inputs: condense(make([]Input, 9)), Latencies: []Latency{{Operation: "load", Count: 8, MaxMicros: 1 << 40, P99Micros: 1 << 40}},
	}
	for i := range 16 {
		s.Metrics = append(s.Metrics, Metric{
			Name: fmt.Sprintf("lineitemSeconds%d", i), Value: 1234.567891, Unit: "s", Better: "lower", Part: "LINEITEM",
		})
	}
	data := must.Get(EncodeSummary(s))(t)
	got, err := DecodeSummary(string(data))
	if err != nil || len(got.Inputs) != 1 || len(got.Latencies) != 1 || len(got.Metrics) != 16 {
		t.Errorf("%d bytes, %+v, %v", len(data), got, err)
	}
}

// Percentiles and maxima of all operations are latencies; what a transaction costs, or how long a phase took, is none.
func TestIsLatency(t *testing.T) {
	for _, operation := range []string{"transaction", "commit", "statement", "query"} {
		for column := range new(Latency).Percentiles() {
			must.Same(t, operation+column, true, IsLatency(operation+column))
		}
	}
	for _, metric := range []string{
		"", DurationMetric, "transactionsPerSecond", "clientMicrosPerTransaction", "serverMicrosPerRow", "lineitemSeconds", "p99",
	} {
		must.Same(t, metric, false, IsLatency(metric))
	}
}
