// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// pods have their names as UIDs.
func pods(names ...string) []Neighbor {
	var list []Neighbor
	for _, name := range names {
		list = append(list, Neighbor{ID: name, Name: name})
	}
	return list
}

func TestBetween(t *testing.T) {
	others := []Neighbor{{ID: "1"}, {ID: "2"}, {ID: "3"}, {ID: "4"}}
	for name, tc := range map[string]struct {
		before, after *Neighborhood
		want          *Neighbors
		warnings      []string
	}{
		"not known before": {after: &Neighborhood{}},
		"not known after":  {before: &Neighborhood{}},
		"alone":            {before: &Neighborhood{}, after: &Neighborhood{}, want: &Neighbors{}},
		"the same": {
			before: &Neighborhood{Pods: pods("a/x", "a/y")}, after: &Neighborhood{Pods: pods("a/y", "a/x")},
			want: &Neighbors{Pods: 2},
		},
		"one came, one went": {
			before: &Neighborhood{Pods: pods("a/x", "a/y"), Conditions: []string{"MemoryPressure"}},
			after:  &Neighborhood{Pods: pods("a/w", "a/x"), Conditions: []string{"DiskPressure", "MemoryPressure"}},
			want: &Neighbors{
				Pods: 2, Arrived: Visitors{Count: 1, Names: []string{"a/w"}}, Departed: Visitors{Count: 1, Names: []string{"a/y"}},
				Conditions: []string{"DiskPressure", "MemoryPressure"},
			},
			warnings: []string{
				"Pods started on the database node during the attempt: a/w", "Pods left the database node during the attempt: a/y",
				"the database node was short of resources: DiskPressure, MemoryPressure",
			},
		},
		"more than is read": {
			before: &Neighborhood{Pods: pods("a/x", "a/y"), Cut: true}, after: &Neighborhood{Pods: pods("a/w")},
			want:     &Neighbors{Pods: 2, Unread: true},
			warnings: []string{"more Pods are on the database node than the operator reads: which came or left is not known (2 were read)"},
		},
		"many came": {
			before:   &Neighborhood{},
			after:    &Neighborhood{Pods: pods("a/1", "a/2", "a/7", "a/3", "a/4", "a/5", "a/6")},
			want:     &Neighbors{Arrived: Visitors{Count: 7, Names: []string{"a/1", "a/2", "a/3", "a/4", "a/5"}}},
			warnings: []string{"Pods started on the database node during the attempt: a/1, a/2, a/3, a/4, a/5 and 2 more"},
		},
		"Pods that are not named": {
			before: &Neighborhood{Pods: others[:1]}, after: &Neighborhood{Pods: append(pods("a/x"), others[1:]...)},
			want: &Neighbors{
				Pods: 1, Departed: Visitors{Count: 1, Others: 1},
				Arrived: Visitors{Count: 4, Names: []string{"a/x"}, Others: 3},
			},
			warnings: []string{
				"Pods started on the database node during the attempt: a/x, 3 of other namespaces",
				"Pods left the database node during the attempt: 1 of other namespaces",
			},
		},
		"one side is sealed": {
			before: (&Neighborhood{Pods: others}).Sealed("k"), after: &Neighborhood{Pods: others[1:]},
			want:     &Neighbors{Pods: 4, Departed: Visitors{Count: 1, Others: 1}},
			warnings: []string{"Pods left the database node during the attempt: 1 of other namespaces"},
		},
	} {
		got := Between(tc.before, tc.after)
		if got != nil && len(got.Arrived.Names) == 0 {
			got.Arrived.Names = nil
		}
		if got != nil && len(got.Departed.Names) == 0 {
			got.Departed.Names = nil
		}
		must.Same(t, name, tc.want, got)
		must.Same(t, name+": warnings", tc.warnings, finding.Texts(got.Findings()))
	}
}

// What is sealed tells no UID, not even that a Pod is the same in two attempts, and its order tells nothing either.
func TestSealed(t *testing.T) {
	const uid, other = "6a5e2f0c-5f0e-4c38-9a6c-1f7b5a9d1c11", "0b0f6d0e-3b9c-4a52-8f5e-2d7c0d0c7f22"
	encode := func(key string, uids ...string) string {
		n := &Neighborhood{}
		for _, u := range uids {
			n.Pods = append(n.Pods, Neighbor{ID: u})
		}
		text := must.Get(json.Marshal(n.Sealed(key)))(t)
		return string(text)
	}
	text := encode("one", uid, other)
	if strings.Contains(text, uid) || strings.Contains(text, "one") || text == encode("two", uid, other) {
		t.Errorf("it is sealed as %s", text)
	}
	must.Same(t, "the text with the Pods in another order", text, encode("one", other, uid))
	if encode("one", uid) == encode("one", other) {
		t.Error("two Pods are the same")
	}
}

// chainDocument has so many stages, with all that a stage may have.
func chainDocument(stages int) *Document {
	d := testDocument(0)
	d.Latencies, d.Metrics, d.ToolOutput = nil, []Metric{}, nil
	d.Config.Parameters = map[string]string{"storageEngine": "InnoDB"}
	d.Findings = []finding.Finding{finding.Unobserved()}
	d.Observed = &Observed{Probe: &NodeProbe{CPU: WorkTime{Times: 1, Median: 420}}}
	for i := range stages {
		s := Stage{
			Name: fmt.Sprintf("s%d", i), Totals: Totals{Rows: int64(i + 1), Micros: 1000, StoppedBy: StoppedByRows},
			Series: []Interval{{EndMicros: 1000, Rows: int64(i + 1)}}, StatusBefore: map[string]string{"n": fmt.Sprint(i)},
			Findings: []finding.Finding{finding.Retried(int64(i), 2)}, Checks: []Check{{Name: "ids", Passed: true}},
			Observed: &Observed{Before: &ProcessFacts{Process: "1"}, After: &ProcessFacts{Process: "1", ThrottledMicros: int64(i)}},
		}
		for k := range 20 {
			s.Metrics = append(s.Metrics, Metric{Name: fmt.Sprintf("metricOfSomethingPerOperation%d", k), Value: 1234567.891, Unit: "bytes/operation", Better: "lower"})
		}
		for k := range 5 {
			s.Latencies = append(s.Latencies, Latency{Operation: fmt.Sprintf("operation%d", k), Count: 1, P50Micros: 123456, Histogram: strings.Repeat("H", 2000)})
		}
		d.Stages = append(d.Stages, s)
	}
	return d
}

// Of 20 stages, none is in the termination message, and all are in the record, which drops what merges latencies first.
func TestSummaryOfStages(t *testing.T) {
	for stages, histograms := range map[int]bool{7: true, 20: false} {
		d := chainDocument(stages)
		doc := must.Get(EncodeDocument(d))(t)
		message := must.Get(EncodeSummary(d.Summarize(doc)))(t)
		short, err := DecodeSummary(string(message))
		if err != nil || short.Stages != nil || len(short.Findings) != 1 || short.Totals.Rows != 5 {
			t.Fatalf("%d stages in the termination message of %d bytes, %v", len(short.Stages), len(message), err)
		}
		r := &Record{Version: RecordVersion, Outcome: OutcomeAccepted, Summary: short}
		if err := r.Complete(d, doc); err != nil || len(r.Summary.Stages) != stages {
			t.Fatalf("%d of %d stages in the record, %v", len(r.Summary.Stages), stages, err)
		}
		must.Same(t, fmt.Sprintf("%d stages: histograms", stages), histograms, r.Summary.Stages[0].Latencies[0].Histogram != "")
		if r.Condensed().Summary.Stages[0].Latencies[0].Histogram != "" || len(r.Condensed().Summary.Stages[0].Metrics) != 20 {
			t.Errorf("condensed: %+v", r.Condensed().Summary.Stages[0])
		}
		if d.Stages[0].Latencies[0].Histogram == "" {
			t.Error("the document has lost its histograms")
		}
	}
}

// Each stage is what an attempt without stages would be: its own numbers, with what is of the whole attempt.
func TestMeasurements(t *testing.T) {
	d := chainDocument(3)
	r := &Record{Trial: 4, Outcome: OutcomeAccepted, Parameters: d.Config.Parameters}
	must.Do(t, r.Complete(d, EncodedDocument{SHA256: "x"}))
	list, documents := r.Measurements(), d.Measurements()
	if len(list) != 3 || len(documents) != 3 {
		t.Fatalf("%d and %d measurements", len(list), len(documents))
	}
	s := list[1].Summary
	if !cmp.Equal(list[1].Parameters, map[string]string{"storageEngine": "InnoDB", "stage": "s1"}) || list[1].Trial != 4 {
		t.Errorf("measurement 1 is at %v", list[1].Parameters)
	}
	if s.Totals.Rows != 2 || len(s.Metrics) != 20 || len(s.Latencies) != 5 || s.Stages != nil || s.DocumentSHA256 != "x" || len(s.Findings) != 2 {
		t.Errorf("summary %+v", s)
	}
	if s.Observed.Probe == nil || s.Observed.ThrottledMicros != 1 {
		t.Errorf("observed %+v", s.Observed)
	}
	one := documents[1]
	if !cmp.Equal(one.Config.Parameters, list[1].Parameters) || one.Totals.Rows != 2 || one.Series[0].Rows != 2 || one.Server.StatusBefore["n"] != "1" ||
		one.Server.Version != "11.8" || one.Observed.After.ThrottledMicros != 1 || one.Observed.Probe == nil {
		t.Errorf("document %+v", one)
	}
	if len(r.Parameters) != 1 || len(d.Config.Parameters) != 1 || len(d.Stages) != 3 || r.Summary.Totals.Rows != 5 {
		t.Errorf("the record or the document was changed: %v, %v", r.Parameters, d.Config.Parameters)
	}
}

func TestMeasurementsWithoutStages(t *testing.T) {
	r, d := &Record{Summary: &Summary{}}, &Document{}
	if list := r.Measurements(); len(list) != 1 || list[0] != r {
		t.Errorf("%v", list)
	}
	if list := d.Measurements(); len(list) != 1 || list[0] != d {
		t.Errorf("%v", list)
	}
	disturbed := &Record{Outcome: OutcomeInvalidated}
	if list := disturbed.Measurements(); len(list) != 1 || list[0] != disturbed {
		t.Errorf("%v", list)
	}
}

// What was not observed is unknown in every stage, and the probe is that of the attempt.
func TestMeasurementsUnobserved(t *testing.T) {
	d := chainDocument(1)
	d.Stages[0].Observed = nil
	if o := (&Record{Summary: new(d.Summarize(EncodedDocument{}))}).Measurements()[0].Summary.Observed; o.Probe == nil || o.ThrottledMicros != -1 {
		t.Errorf("observed %+v", o)
	}
	d.Observed = nil
	if o := (&Record{Summary: new(d.Summarize(EncodedDocument{}))}).Measurements()[0].Summary.Observed; o != nil {
		t.Errorf("observed %+v", o)
	}
}

// A document has room for as many stages as there may be, with as long series as the loader makes, and the counters of a server.
func TestDocumentOfManyStages(t *testing.T) {
	d := chainDocument(20)
	for i := range d.Stages {
		s := &d.Stages[i]
		s.StatusAfter = map[string]string{}
		for k := range 600 {
			s.StatusBefore[fmt.Sprintf("Innodb_counter_of_something_%d", k)] = "123456789"
			s.StatusAfter[fmt.Sprintf("Innodb_counter_of_something_%d", k)] = "123456799"
		}
		s.Series = make([]Interval, 7200/20)
		for k := range s.Series {
			s.Series[k] = Interval{EndMicros: int64(k+1) * 1e6, Rows: 1, Transactions: 2, RowsDeleted: 3, Queries: 4, Errors: 5, MaxMicros: 6}
		}
	}
	must.Get(EncodeDocument(d))(t)
}
