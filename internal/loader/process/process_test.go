// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutputLines(t *testing.T) {
	var lines []string
	out := &output{watch: func(line string) { lines = append(lines, line) }}
	for _, part := range []string{
		"one\ntw", "o\n", "", "\nthr", "ee\r", "\n10%\r20%\r\n", strings.Repeat("x", 2*maxLine), "\n90%\rlast",
	} {
		if n, err := out.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	want := []string{"one", "two", "three", "10%", "20%", strings.Repeat("x", maxLine), "90%"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if last := out.last(); len(last) != 3 || last[1] != "90%" || last[2] != "last" {
		t.Errorf("%d last lines", len(last))
	}
}

// What is left out of a long output is its middle.
func TestOutputBounded(t *testing.T) {
	out := &output{}
	line := strings.Repeat("x", 1023) + "\n"
	fmt.Fprintln(out, "first")
	for range 4 * maxOutput / len(line) {
		fmt.Fprint(out, line)
	}
	for n := range 30 {
		fmt.Fprintln(out, n)
	}
	text := out.text()
	if len(text) > 2*maxOutput || !strings.HasPrefix(text, "first\n") || !strings.HasSuffix(text, "\n28\n29\n") {
		t.Errorf("%d bytes, %.10q … %q", len(text), text, text[len(text)-10:])
	}
	if last := out.last(); len(last) != tailLines || last[0] != "10" || last[19] != "29" {
		t.Errorf("last lines %q", last)
	}
}

func TestWithoutMiddle(t *testing.T) {
	if got := WithoutMiddle("a\nb\n", 4); got != "a\nb\n" {
		t.Errorf("%q", got)
	}
	var long strings.Builder
	for n := range 1000 {
		fmt.Fprintln(&long, n)
	}
	got := WithoutMiddle(long.String(), 60)
	if !strings.HasPrefix(got, "0\n1\n") || !strings.HasSuffix(got, "\n998\n999\n") || !strings.Contains(got, "bytes are left out here") ||
		len(got) > 120 {
		t.Errorf("%q", got)
	}
	if got := WithoutMiddle(strings.Repeat("x", 100), 30); len(got) > 100 {
		t.Errorf("a line without an end: %q", got)
	}
}
