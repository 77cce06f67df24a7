// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
