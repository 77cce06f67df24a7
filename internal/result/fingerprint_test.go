// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummaryCondensesInputs(t *testing.T) {
	few := []Input{{Name: "b", Bytes: 1, SHA256: "x"}, {Name: "a", Bytes: 2, Rows: 3, SHA256: "y"}}
	if diff := cmp.Diff(few, (&Document{Inputs: few}).Summarize(EncodedDocument{}).Inputs); diff != "" {
		t.Errorf("few inputs (-want +got):\n%s", diff)
	}
	many := append(slices.Clone(few), Input{Name: "d", Bytes: 10, Rows: 20, SHA256: "z"}, Input{Name: "c", Rows: 1, SHA256: "z"})
	// What `sha256sum a b c d | sha256sum` prints.
	sum := sha256.Sum256([]byte("y  a\nx  b\nz  c\nz  d\n"))
	want := []Input{{Name: "4 files", Bytes: 13, Rows: 24, SHA256: hex.EncodeToString(sum[:])}}
	if diff := cmp.Diff(want, (&Document{Inputs: many}).Summarize(EncodedDocument{}).Inputs); diff != "" {
		t.Errorf("many inputs (-want +got):\n%s", diff)
	}
	if many[0].Name != "b" {
		t.Error("the document's own order was changed")
	}
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
	data, err := EncodeSummary(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeSummary(string(data))
	if err != nil || len(got.Inputs) != 1 || len(got.Latencies) != 1 || len(got.Metrics) != 16 {
		t.Errorf("%d bytes, %+v, %v", len(data), got, err)
	}
}
