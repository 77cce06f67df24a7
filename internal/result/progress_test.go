// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

func TestProgress(t *testing.T) {
	rows := int64(10000)
	for _, tc := range []struct {
		progress   result.Progress
		line, text string
	}{
		{result.Progress{Seconds: 1, Phase: "start"}, `{"kind":"benchrun-progress","seconds":1,"phase":"start"}`, "   1 s: start"},
		{
			result.Progress{Seconds: 12, Phase: "measure", Rows: &rows, Note: `it said "x", 3 rows`},
			`{"kind":"benchrun-progress","seconds":12,"phase":"measure","rows":10000,"note":"it said \"x\", 3 rows"}`,
			`  12 s: measure, 10000 rows, it said "x", 3 rows`,
		},
	} {
		if got := tc.progress.Line(); got != tc.line {
			t.Errorf("the line is %s, want %s", got, tc.line)
		}
		got, is := result.ParseProgress(tc.line)
		if diff := cmp.Diff(tc.progress, got); !is || diff != "" {
			t.Errorf("%s: progress %t (-want +got):\n%s", tc.line, is, diff)
		}
		if got := tc.progress.String(); got != tc.text {
			t.Errorf("for people: %q, want %q", got, tc.text)
		}
	}
	for _, line := range []string{
		"", "error: x", "benchrun-document 1 AAAA", "   1 s: measure, 10 rows", "{", `{"phase":"measure","seconds":1}`,
		`{"kind":"benchrun-progress"}`, `{"kind":"benchrun-progress","phase":"a","seconds":"1"}`,
	} {
		if p, is := result.ParseProgress(line); is {
			t.Errorf("%q is taken for progress: %v", line, p)
		}
	}
}
