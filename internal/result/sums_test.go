// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// ofNothing is the SHA-256 of an empty file, ofABC that of "abc", as FIPS 180-4 has it.
const (
	ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	ofABC     = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)

func TestDigest(t *testing.T) {
	if got := result.Digest([]byte("abc")); got != ofABC {
		t.Errorf("it is %s", got)
	}
	if got := result.NamedDigest(nil); got != "sha256:"+ofNothing {
		t.Errorf("with its name it is %s", got)
	}
}

func TestSums(t *testing.T) {
	sums := result.Sums{"b  c": ofNothing, "a": ofABC}
	text := ofABC + "  a\n" + ofNothing + "  b  c\n"
	if got := string(sums.Text()); got != text {
		t.Errorf("the text is %q", got)
	}
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
