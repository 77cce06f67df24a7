// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBetween(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after *Neighborhood
		want          *Neighbors
		warnings      []string
	}{
		"not known before": {after: &Neighborhood{}},
		"not known after":  {before: &Neighborhood{}},
		"alone":            {before: &Neighborhood{}, after: &Neighborhood{}, want: &Neighbors{}},
		"the same": {
			before: &Neighborhood{Pods: []string{"a/x", "a/y"}}, after: &Neighborhood{Pods: []string{"a/x", "a/y"}},
			want: &Neighbors{Pods: 2},
		},
		"one came, one went": {
			before: &Neighborhood{Pods: []string{"a/x", "a/y"}, Conditions: []string{"MemoryPressure"}},
			after:  &Neighborhood{Pods: []string{"a/w", "a/x"}, Conditions: []string{"DiskPressure", "MemoryPressure"}},
			want: &Neighbors{
				Pods: 2, Came: []string{"a/w"}, Went: []string{"a/y"}, CameCount: 1, WentCount: 1,
				Conditions: []string{"DiskPressure", "MemoryPressure"},
			},
			warnings: []string{
				"Pods came to the database's node during the attempt: a/w", "Pods left the database's node during the attempt: a/y",
				"the database's node had conditions that disturb: DiskPressure, MemoryPressure",
			},
		},
		"many came": {
			before:   &Neighborhood{},
			after:    &Neighborhood{Pods: []string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7"}},
			want:     &Neighbors{Came: []string{"a/1", "a/2", "a/3", "a/4", "a/5"}, CameCount: 7},
			warnings: []string{"Pods came to the database's node during the attempt: a/1, a/2, a/3, a/4, a/5 and 2 more"},
		},
	} {
		got := Between(tc.before, tc.after)
		if got != nil && len(got.Came) == 0 {
			got.Came = nil
		}
		if got != nil && len(got.Went) == 0 {
			got.Went = nil
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tc.warnings, got.Warnings()); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
		}
	}
}
