// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Of many variables that differ, a few are named, and no value is longer than a person reads.
func TestManyDifferences(t *testing.T) {
	s := testutil.Pair()
	p := planOfComparison(t, s)
	runs := measuredRuns(s, p, 2)
	runs.Variables = []map[string]string{{}, {}}
	for i := range 20 {
		name := fmt.Sprintf("v%02d", i)
		runs.Variables[0][name], runs.Variables[1][name] = "1", strings.Repeat("x", 1000)
	}
	others := OfComparison(s, p, runs, Verdicts{}).Variants[1].Others
	text := others.String()
	if others.Differing != 20 || len(others.Differ) != maxOthers || !strings.Contains(text, "20 of the other 20") || !strings.HasSuffix(text, "and 8 more: `kubectl benchrun report -o variables` has all") ||
		len(text) > 1500 || !strings.Contains(text, "v11 (1 → xxx") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// A variable that differs in one variant has the values of all: those that changed first, then those that a server lacks.
func TestServerVariables(t *testing.T) {
	s := testutil.Pair(func(s *v1alpha1.BenchmarkComparison) {
		s.Spec.Template.Spec.Database.Settings.LogFileSize = nil
		third := s.Spec.Variants[1].DeepCopy()
		third.Name = "third"
		other := v1alpha1.Variant{Name: "mysql", Database: &v1alpha1.DatabaseSpec{Engine: v1alpha1.EngineMySQL, Image: "mysql:9.7"}}
		s.Spec.Variants = append(s.Spec.Variants, *third, other)
	})
	p := planOfComparison(t, s)
	runs := measuredRuns(s, p, 1)
	base := map[string]string{"a_new": "", "character_set_server": "latin1", "sql_mode": "", "hostname": "h1", "innodb_log_file_size": "1"}
	second := map[string]string{"character_set_server": "utf8mb4", "sql_mode": "", "hostname": "h2", "innodb_log_file_size": "1"}
	mysql := map[string]string{"character_set_server": "latin1", "sql_mode": "ANSI", "gtid_mode": "OFF", "innodb_redo_log_capacity": "2"}
	unset := "unset"
	of := func(name string, values ...*string) ServerVariable { return ServerVariable{name, values} }
	for name, tc := range map[string]struct {
		variables []map[string]string
		want      []ServerVariable
	}{
		"nothing is known":                 {nil, nil},
		"nothing is known of the baseline": {[]map[string]string{nil, second, second, mysql}, nil},
		"nothing differs":                  {[]map[string]string{base, base, nil, nil}, nil},
		"one variant, the others are not known": {[]map[string]string{base, second, nil, nil}, []ServerVariable{
			of("character_set_server", new("latin1"), new("utf8mb4"), nil, nil), of("a_new", new(""), &unset, nil, nil),
		}},
		"two engines": {[]map[string]string{base, base, second, mysql}, []ServerVariable{
			of("character_set_server", new("latin1"), new("latin1"), new("utf8mb4"), new("latin1")),
			of("innodb_log_file_size or innodb_redo_log_capacity", new("1"), new("1"), new("1"), new("2")),
			of("sql_mode", new(""), new(""), new(""), new("ANSI")), of("a_new", new(""), new(""), &unset, &unset),
		}},
	} {
		runs.Variables = tc.variables
		if diff := cmp.Diff(tc.want, ServerVariables(p, runs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Of long lists, what is not in all is shown; of one list, its beginning.
func TestShortValues(t *testing.T) {
	long := strings.Repeat("x", maxValue)
	list := "index_merge=on,semijoin=on,derived_merge=on,materialization=on"
	for name, tc := range map[string]struct {
		values []*string
		want   []string
	}{
		"short ones":           {[]*string{new("a,b"), new("a,c"), new(""), nil}, []string{"a,b", "a,c", `""`, "?"}},
		"one of the full size": {[]*string{&long}, []string{long}},
		"a long one":           {[]*string{new(long + "y")}, []string{long[1:] + "…"}},
		"an item more": {
			[]*string{new(list), new(list + ",hash=on"), new("unset")}, []string{"…", "…,hash=on", "unset"},
		},
		"an item twice": {[]*string{new(list + ",a,a"), new(list + ",b")}, []string{"…,a,a", "…,b"}},
		"one list":      {[]*string{new(list), new("unset")}, []string{list[:maxValue-1] + "…", "unset"}},
	} {
		if diff := cmp.Diff(tc.want, shortValues(tc.values)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
