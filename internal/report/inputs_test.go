// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func TestSummaryNamesInputs(t *testing.T) {
	r := small()
	data := result.Input{Name: "own.csv", Bytes: 120, Rows: 7, SHA256: strings.Repeat("a", 64)}
	schema := result.Input{Name: "own.sql", Bytes: 30, SHA256: strings.Repeat("b", 64)}
	for _, record := range r.Records {
		if record.Summary != nil {
			record.Summary.Inputs = []result.Input{schema, data}
		}
	}
	summary := func() string {
		var b strings.Builder
		if err := report.Summary(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := summary()
	for _, want := range []string{
		"- input own.csv: 7 rows, 120 bytes, sha256 " + data.SHA256 + "\n", "- input own.sql: 30 bytes, sha256 " + schema.SHA256 + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "not the same") {
		t.Errorf("the same inputs are said to differ:\n%s", text)
	}
	data.SHA256 = strings.Repeat("c", 64)
	r.Records[1].Summary.Inputs = []result.Input{schema, data}
	want := "- input own.csv changed between trials: sha256 " + strings.Repeat("a", 64) + " for trial 1, 3, 4, 5, 6; sha256 " +
		data.SHA256 + " for trial 2\n"
	if text := summary(); !strings.Contains(text, want) || strings.Contains(text, "input own.sql was") {
		t.Errorf("%q is missing in\n%s", want, text)
	}
}
