// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// ofNothing is the SHA-256 of an empty file, ofABC that of "abc", as FIPS 180-4 has it.
const (
	ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	ofABC     = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)

func TestDigest(t *testing.T) {
	must.Same(t, "the digest", ofABC, result.Digest([]byte("abc")))
	must.Same(t, "with its name", "sha256:"+ofNothing, result.NamedDigest(nil))
}

func TestSums(t *testing.T) {
	sums := result.Sums{"b  c": ofNothing, "a": ofABC}
	text := ofABC + "  a\n" + ofNothing + "  b  c\n"
	must.Same(t, "the text", text, string(sums.Text()))
	got, err := result.ParseSums([]byte(text))
	if diff := cmp.Diff(sums, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"no line":     ofABC,
		"one space":   ofABC + " a\n",
		"no name":     ofABC + "  \n",
		"short":       ofABC[2:] + "  a\n",
		"no hex":      strings.Repeat("x", 64) + "  a\n",
		"twice":       ofABC + "  a\n" + ofNothing + "  a\n",
		"empty line":  ofABC + "  a\n\n" + ofABC + "  b\n",
		"cut in name": ofABC + "  a\n" + ofABC + "  b",
	} {
		if sums, err := result.ParseSums([]byte(text)); err == nil {
			t.Errorf("%s: it is read as %v", name, sums)
		}
	}
}

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
		must.Same(t, "the line", tc.line, tc.progress.Line())
		got, is := result.ParseProgress(tc.line)
		if diff := cmp.Diff(tc.progress, got); !is || diff != "" {
			t.Errorf("%s: progress %t (-want +got):\n%s", tc.line, is, diff)
		}
		must.Same(t, "for people", tc.text, tc.progress.String())
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
