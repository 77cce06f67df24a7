// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// safeName is a name that every file system takes, whatever ending follows it.
var safeName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._=+-]{0,99}$`)

func TestFileName(t *testing.T) {
	long := strings.Repeat("parameter=1234567890.", 10)
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{"clients=5", "against_rowsPerStatement"}, "clients=5.against_rowsPerStatement"},
		{[]string{"", "ratios", ""}, "ratios"},
		{[]string{`file=C:\a/b?"*<>|'x'`, "against_n"}, "file=C-a-b-x-.against_n"},
		{[]string{"latency", "größe €"}, "latency.gr-e-"},
		{[]string{"..", "-a"}, "a"},
		{[]string{"a b\nc"}, "a-b-c"},
		{[]string{"+1.5e-3"}, "+1.5e-3"},
		{[]string{long}, long[:91] + "-56483cc9"},
	} {
		got := fileName(c.parts...)
		if got != c.want {
			t.Errorf("%q is %q, want %q", c.parts, got, c.want)
		}
		if !safeName.MatchString(got) && got[0] != '+' {
			t.Errorf("%q is not safe", got)
		}
	}
	if fileName(long+"x") == fileName(long+"y") {
		t.Error("two long names are the same")
	}
}

// Names differ also where upper and lower case are the same; the first of a name keeps it.
func TestUnique(t *testing.T) {
	var list []Drawing
	for _, name := range []string{"a", "A", "a-2", "b", "a"} {
		list = append(list, Drawing{Name: name})
	}
	var got []string
	for _, d := range unique(list) {
		got = append(got, d.Name)
	}
	must.Same(t, "names", []string{"a", "A-2", "a-2-2", "b", "a-3"}, got)
}

func TestFixed(t *testing.T) {
	points := []map[string]string{{"a": "1", "b": "x", "c": "3"}, {"a": "1", "b": "y", "c": "3"}}
	must.Same(t, "fixed", "a=1.c=3", fixed([]string{"a", "b", "c"}, points))
}

// A tool that does not say how long the slowest operation took has no plot of it: not one of zeros.
func TestOverTimeWithoutLatencies(t *testing.T) {
	series := []result.Interval{
		{EndMicros: 1_000_000, Transactions: 5}, {EndMicros: 2_000_000, Transactions: 6}, {EndMicros: 3_000_000, Transactions: 4},
	}
	details := &Details{points: map[string]*pointDetails{"": {series: series}}}
	names := func() (list []string) {
		for _, d := range overTime([]chosen{{name: "a", of: details}}, "", "of it") {
			list = append(list, d.Name)
		}
		return list
	}
	if got := names(); !slices.Equal(got, []string{"throughput_over_time"}) {
		t.Errorf("the plots are %v", got)
	}
	series[1].MaxMicros = 9000
	if got := names(); len(got) != 2 {
		t.Errorf("with a latency, the plots are %v", got)
	}
}

// The rate of a last interval that is cut short is that of an end, and not shown.
func TestTimeLinesEnd(t *testing.T) {
	series := []result.Interval{{EndMicros: 1_000_000, Rows: 5}, {EndMicros: 2_000_000, Rows: 6}, {EndMicros: 2_400_000, Rows: 1}}
	if rate, _, _ := timeLines("a", series); len(rate.Points) != 2 || rate.Points[1].Y != 6 {
		t.Errorf("the rates are %v", rate.Points)
	}
	series[2].EndMicros = 2_500_000
	if rate, _, _ := timeLines("a", series); len(rate.Points) != 3 || rate.Points[2].Y != 2 {
		t.Errorf("the rates are %v", rate.Points)
	}
}
