// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltext_test

import (
	"strings"
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
		"\ufeffA":                        {"A"},
		"A;B;":                           {"A", "B"},
		" A b\n c ;\n\n B ":              {"A b\n c", "B"},
		"A 'x;y'; B \"p;q\"; C `r;s`":    {"A 'x;y'", "B \"p;q\"", "C `r;s`"},
		`A 'it''s; \'; '; B`:             {`A 'it''s; \'; '`, "B"},
		"A `a\\`; B":                     {"A `a\\`", "B"},
		"A `a``;`; B":                    {"A `a``;`", "B"},
		"A -- x; y\n; B # z; '\n; C":     {"A", "B", "C"},
		"-- x; y\n A":                    {"A"},
		"A --1; B":                       {"A --1", "B"},
		"A - -1; B":                      {"A - -1", "B"},
		"A /* x; ' */ b; C":              {"A /* x; ' */ b", "C"},
		"/*/ x; */ A":                    {"A"},
		"/*+ x; */ A":                    {"A"},
		"/*!40101 SET x=1 */; B":         {"/*!40101 SET x=1 */", "B"},
		"/*!40101 SET x='1;'; */; B":     {"/*!40101 SET x='1;'; */", "B"},
		"/*M!100000 A */ x; B":           {"/*M!100000 A */ x", "B"},
		"A /*!1 x */; B":                 {"A /*!1 x */", "B"},
		"/*M!999999\\- enable the sandbox mode */ \n-- dump\n/*!40101 A */;": {"/*!40101 A */"},
	} {
		statements, err := sqltext.Split(script)
		var got []string
		for _, s := range statements {
			got = append(got, s.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", script, err, diff)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	for script, want := range map[string]string{
		"A;\nB 'never closed;":      "statement 2, line 2: a quotation mark, ', is not closed",
		"A `never closed":           "statement 1, line 1: a quotation mark, `, is not closed",
		"\n\nA /* never closed; B":  "statement 1, line 3: a comment is not closed",
		"A /*/":                     "statement 1, line 1: a comment is not closed",
		"/*!40101 A /* b */ */":     "a comment stands within one that servers execute",
		"/*!40101 A 'b /* ' */":     "a comment stands within one that servers execute",
		"/*!40101 A 'b */ DROP' */": "ends within a string",
		"/*!40101 A -- */ \n DROP":  "ends within another comment",
		"/*!40101 A # */ \n DROP":   "ends within another comment",
		"C\x00R":                    "a NUL byte: is the text UTF-16?",
	} {
		if _, err := sqltext.Split(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
	}
}

// What is sent as one statement reads as that statement, and no script makes the reader panic.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"A 'x''y\\'' ; B", "/*!40101 SET @a=@@b */; C", "`a`.`b` -- x\n;", "@`a` @@b.c 1.5e3 .5", "/*M!100100 A*/ B /* c */;", "\"a\"#\n;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		statements, err := sqltext.Split(script)
		if err != nil {
			return
		}
		for _, s := range statements {
			if strings.HasSuffix(s.Text, "--") {
				continue // two minus signs become a comment where a text ends
			}
			again, err := sqltext.Split(s.Text)
			if err != nil || len(again) != 1 || again[0].Text != s.Text {
				t.Errorf("%q reads as %+v, %v", s.Text, again, err)
			}
		}
		_, _ = sqltext.Check(statements, sqltext.Bounds{Schema: "bench"})
	})
}
