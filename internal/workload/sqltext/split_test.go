// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltext_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

func TestSplit(t *testing.T) {
	for script, want := range map[string][]string{
		"":                               nil,
		" ;\n; ":                         nil,
		"-- nothing; at all":             nil,
		"--":                             nil,
		"# nothing\n/* a; b */ ; -- c\n": nil,
		"A":                              {"A"},
		"A;B;":                           {"A", "B"},
		" A b\n c ;\n\n B ":              {"A b\n c", "B"},
		"A 'x;y'; B \"p;q\"; C `r;s`":    {"A 'x;y'", "B \"p;q\"", "C `r;s`"},
		`A 'it''s; \'; '; B`:             {`A 'it''s; \'; '`, "B"},
		"A `a\\`; B":                     {"A `a\\`", "B"},
		"A -- x; y\n; B # z; '\n; C":     {"A -- x; y", "B # z; '", "C"},
		"A --1; B":                       {"A --1", "B"},
		"A - -1; B":                      {"A - -1", "B"},
		"A /* x; ' */ b; C":              {"A /* x; ' */ b", "C"},
		"/*/ x; */ A":                    {"/*/ x; */ A"},
		"/*!40101 SET x=1; */; B":        {"/*!40101 SET x=1; */", "B"},
		"/*M!100000 A */; B":             {"/*M!100000 A */", "B"},
		"A 'never closed; B":             {"A 'never closed; B"},
		"A /* never closed; B":           {"A /* never closed; B"},
	} {
		if diff := cmp.Diff(want, sqltext.Split(script)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", script, diff)
		}
	}
}
