// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	language "github.com/benchrun-dev/benchrun/internal/workload/script"
)

const (
	my = language.MySQL
	pg = language.PostgreSQL
)

var (
	both       = []language.Dialect{my, pg}
	onlyMy     = []language.Dialect{my}
	onlyPg     = []language.Dialect{pg}
	predefined = []string{"client_id", "scale"}
)

func compile(t *testing.T, script string) *language.Script {
	t.Helper()
	return must.Get(language.Compile(script, pg, predefined))(t)
}

// Only what the server would read as a colon before a name is a variable, and only what it would read as a semicolon ends a
// statement.
func TestStatements(t *testing.T) {
	for _, c := range []struct {
		dialects []language.Dialect
		script   string
		want     []string
	}{
		{both, "\\set a 1\nUPDATE t SET x = :a+:a WHERE y=:scale;\nEND", []string{"UPDATE t SET x = {1}+{2} WHERE y={3}", "END"}},
		{both, "SELECT :scale::int, a::text", []string{"SELECT {1}::int, a::text"}},
		{both, "SELECT f(x:=:scale), @b:=1, [1:2]", []string{"SELECT f(x:={1}), @b:=1, [1:2]"}},
		{both, `SELECT 'a;'':scale', ":scale""", :scale; SELECT 2`, []string{`SELECT 'a;'':scale', ":scale""", {1}`, "SELECT 2"}},
		{both, "SELECT `a;``:scale`, :scale;", []string{"SELECT `a;``:scale`, {1}"}},
		{both, "SELECT\r\n\té:scale ; ;;\r\n\t SELECT:scale", []string{"SELECT\r\n\té{1}", "SELECT{1}"}},
		{both, "\ufeff  :scale", []string{"{1}"}},
		{both, "SELECT '\n\\set x 1\n', 1", []string{"SELECT '\n\\set x 1\n', 1"}},
		{both, "SELECT sbtest:client_id.x FROM sbtest:client_id", []string{"SELECT sbtest{1}.x FROM sbtest{2}"}},
		{both, "SELECT a : b, c :", []string{"SELECT a : b, c :"}},

		{both, "-- one; :no\nSELECT 1 -- two; :no\n+ :scale -- three\n;\n-- four", []string{"SELECT 1 -- two; :no\n+ {1}"}},
		{both, "/* one; :no */ SELECT /* two; :no */ :scale /* three */;/**/", []string{"SELECT /* two; :no */ {1}"}},
		{both, "/*+ hint; :no */ SELECT 1", []string{"/*+ hint; :no */ SELECT 1"}},
		{onlyMy, "/*!80000 SET x = 1; */;/*M!100100 x*/;/*Mine*/", []string{"/*!80000 SET x = 1; */", "/*M!100100 x*/"}},
		{onlyPg, "/*!80000 SET x = 1; */SELECT 1", []string{"SELECT 1"}},
		{onlyMy, "SELECT 1 # ;:no\n+ 1", []string{"SELECT 1 # ;:no\n+ 1"}},
		{onlyPg, "SELECT 1 # :scale; SELECT 2", []string{"SELECT 1 # {1}", "SELECT 2"}},
		{onlyMy, "SELECT 5--:scale; SELECT 2", []string{"SELECT 5--{1}", "SELECT 2"}},
		{onlyPg, "SELECT 5--:no; SELECT 2", []string{"SELECT 5"}},
		{onlyMy, "/* /* */ SELECT 1", []string{"SELECT 1"}},
		{onlyPg, "/* /* */ SELECT 1; */ SELECT 2", []string{"SELECT 2"}},

		{onlyMy, `SELECT '\'', "\";:no", :scale`, []string{`SELECT '\'', "\";:no", {1}`}},
		{onlyPg, `SELECT '\', "\", :scale`, []string{`SELECT '\', "\", {1}`}},
		{onlyPg, `SELECT E'\';:no', e'\\', note'\', :scale`, []string{`SELECT E'\';:no', e'\\', note'\', {1}`}},
		{onlyPg, "SELECT $$;:no$a$'$$, $a$;:no$$$b$'$a$, $1, a$b$;SELECT :scale", []string{
			"SELECT $$;:no$a$'$$, $a$;:no$$$b$'$a$, $1, a$b$", "SELECT {1}",
		}},
		{onlyMy, "SELECT a$$, b$$; SELECT :scale", []string{"SELECT a$$, b$$", "SELECT {1}"}},
	} {
		for _, dialect := range c.dialects {
			script, err := language.Compile(c.script, dialect, predefined)
			if err != nil {
				t.Errorf("%q: %v", c.script, err)
				continue
			}
			var all []string
			for _, st := range script.Statements() {
				all = append(all, st.Text(func(n int) string { return fmt.Sprintf("{%d}", n) }))
			}
			must.Same(t, c.script, c.want, all)
		}
	}
}

// What is wrong, where, and what is allowed.
func TestCompileRefuses(t *testing.T) {
	many := strings.Repeat("SELECT 1;\n", 65)
	variables, operations := "", strings.Repeat("\\set x 1+1\n", 3334)
	for i := range 127 {
		variables += fmt.Sprintf("\\set v%d 1\n", i)
	}
	for script, want := range map[string]string{
		"":                           "the script has no statement",
		"\\set x 1\n-- SELECT 1\n;":  "the script has no statement",
		strings.Repeat("x", 1<<20+1): "the script has 1048577 bytes; at most 1048576 are allowed",
		many:                         "line 65: the script has more than 64 statements",
		variables + "SELECT 1":       "line 127: the script has more than 128 variables",
		operations + "SELECT 1":      "line 3334: the expressions of the script have more than 10000 operations",
		"SELECT 1;\nS\x00":           "line 2: a NUL byte: is the text UTF-16? Save it as UTF-8",

		"SELECT 1;\n\nSELECT :x": `line 3: the variable "x" is not set before it is used; set so far: client_id, scale. ` +
			"A colon followed by a space is not a variable",
		"SELECT :x;\n\\set x 1": `line 1: the variable "x" is not set before it is used; set so far: client_id, scale. ` +
			"A colon followed by a space is not a variable",
		"\n\\set x 1 + \\\n :x\nSELECT 1": `line 3: the variable "x" is not set before it is used; set so far: client_id, scale. ` +
			"A colon followed by a space is not a variable",

		"SELECT 1\n+ 'a\nb":   "line 2: the ' on this line is not closed",
		"SELECT\n\"a":         `line 2: the " on this line is not closed`,
		"SELECT\n\n$a$ $$":    "line 3: the $a$ on this line is not closed",
		"SELECT E'a\\'":       "line 1: the E' on this line is not closed",
		"SELECT 1 /* /* */":   "line 1: the /* on this line is not closed",
		"SELECT 1 /*/":        "line 1: the /* on this line is not closed",
		"\\setrandom x 1 2\n": `line 1: "\setrandom" is unknown; the only command is \set NAME EXPRESSION`,
		"SELECT 1;\n \\sleep": `line 2: "\sleep" is unknown; the only command is \set NAME EXPRESSION`,
		"\\":                  `line 1: "\" is unknown; the only command is \set NAME EXPRESSION`,
		"SELECT 1; \\set x 1": `line 1: "\set" must be at the beginning of a line`,
		"\nSELECT 1\n\\set x 1": `line 3: "\set" is inside the statement that begins on line 2; end that statement with a ` +
			"semicolon",
		"\\set":                               "line 1: expected the NAME of a variable, found the end of the line",
		"\n\\set 1x 1":                        `line 2: expected the NAME of a variable, found "1"`,
		"\\set x\nSELECT 1":                   `line 1: expected a number, a :variable, a function or "(", found the end of the line`,
		"\\set x 1;\nSELECT 1":                `line 1: expected an operator or the end of the line, found ";"`,
		"\\set x 1 \\\n\\\r\n  2\nSELECT":     `line 3: expected an operator or the end of the line, found "2"`,
		"\\set x 1 \\ \n":                     `line 1: expected an operator or the end of the line, found "\"`,
		"\\set x 1 +\nSELECT":                 `line 1: expected a number, a :variable, a function or "(", found the end of the line`,
		"\\set x (1":                          `line 1: expected an operator or ")", found the end of the line`,
		"\\set x 1 é":                         `line 1: expected an operator or the end of the line, found "é"`,
		"\\set x 1 2":                         `line 1: expected an operator or the end of the line, found "2"`,
		"\\set x scale":                       `line 1: "scale" is not a value; write :NAME for a variable, NAME(…) for a function`,
		"\\set x abs(1":                       `line 1: expected an operator, "," or ")", found the end of the line`,
		"\\set x abs(1, 2)":                   "line 1: the number of arguments of abs is 2; it must be 1",
		"\\set x random(1)":                   "line 1: the number of arguments of random is 1; it must be 2",
		"\\set x greatest()":                  `line 1: expected a number, a :variable, a function or "(", found ")"`,
		"\\set x 9223372036854775808":         `line 1: "9223372036854775808" does not fit in a 64-bit integer`,
		"\\set x -9223372036854775809":        `line 1: "-9223372036854775809" does not fit in a 64-bit integer`,
		"\\set x 1e400":                       `line 1: "1e400" exceeds the largest decimal, 1.8e308`,
		"\\set x " + strings.Repeat("(", 101): "line 1: the expression is nested more than 100 levels deep",
		"\\set x " + strings.Repeat("-", 101): "line 1: the expression is nested more than 100 levels deep",
		"\\set x sqrt(2)": `line 1: the function "sqrt" is unknown; the functions are abs, greatest, least, mod, random, ` +
			"random_exponential, random_gaussian, random_zipfian",
		"\\set " + strings.Repeat("x", 65) + " 1": `line 1: "` + strings.Repeat("x", 65) + `" is not a valid name of a variable: use ` +
			"a letter or _, and up to 63 letters, digits or _ after it",
	} {
		_, err := language.Compile(script, pg, predefined)
		must.Same(t, fmt.Sprintf("the error of %.60q", script), want, must.Text(err))
	}
	for _, name := range []string{"", "1x", "a-b", "é"} {
		must.Refused(language.Compile("SELECT 1", my, []string{name}))(t, fmt.Sprintf("%q is not a valid name of a variable", name))
	}
}

// Variables are set in the order of the script, between the statements that use them.
func TestRun(t *testing.T) {
	script := compile(t, "\\set a :client_id * 10\nINSERT :a, :scale;\n\\set a -:a / 2.0\n"+
		"\\set b \\\n :a + \\\r\n 1\nSELECT 1-:a, :b;")
	vars := script.NewVars()
	vars.Set("client_id", 7)
	vars.Set("scale", 3)
	var all []string
	appended := func(i int) error {
		all = append(all, string(script.Statements()[i].Append(nil, vars)))
		return nil
	}
	must.Do(t, script.Run(vars, language.NewRandom(1), appended))
	must.Same(t, "statements", []string{"INSERT 70, 3", "SELECT 1- -35,  -34"}, all)

	second := &script.Statements()[1]
	must.Same(t, "line", 7, second.Line)
	must.Same(t, "arguments", []language.Value{{Decimal: -35, IsDecimal: true}, {Decimal: -34, IsDecimal: true}},
		[]language.Value{vars.Value(second.Args[0]), vars.Value(second.Args[1])})

	lost := errors.New("the connection is lost")
	must.Same(t, "error", lost, script.Run(vars, language.NewRandom(1), func(int) error { return lost }), cmpopts.EquateErrors())
	must.Same(t, "a failed Run goes no further", language.Value{Integer: 70}, vars.Value(script.Statements()[0].Args[0]))
}

// A copy of the random numbers repeats a transaction.
func TestRepeat(t *testing.T) {
	script := compile(t, "\\set a random(1, 1000000) + random_zipfian(1, 1000000, 1.1)\nSELECT :a")
	vars, random := script.NewVars(), language.NewRandom(1)
	draw := func(random *language.Random) (text string) {
		must.Do(t, script.Run(vars, random, func(int) error {
			text = string(script.Statements()[0].Append(nil, vars))
			return nil
		}))
		return text
	}
	before := *random
	first := draw(random)
	must.Same(t, "repeated", first, draw(&before))
	if first == draw(random) {
		t.Errorf("the next transaction is %s, too", first)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	script := compile(t, "\\set a random(1, 100000 * :scale) % 17 + abs(-3)\n"+
		"\\set b random_gaussian(1, 10, 2.5) / 3.0\nUPDATE t SET a = :a;\n"+
		"\\set c greatest(random_zipfian(1, 1000, 1.1), :a, -:b, 2)\n\\set d random_exponential(1, 10, 5)\nINSERT :a, :b, :c, :d, :a")
	vars, random := script.NewVars(), language.NewRandom(1)
	vars.Set("scale", 10)
	buf := make([]byte, 0, 256)
	execute := func(i int) error {
		buf = script.Statements()[i].Append(buf[:0], vars)
		return nil
	}
	must.Same(t, "allocations", 0.0, testing.AllocsPerRun(1000, func() { must.Do(t, script.Run(vars, random, execute)) }))
}

// What compiles can be executed, with no errors but those that Run documents.
func FuzzCompile(f *testing.F) {
	for _, script := range []string{
		"\\set a random(1, 10 * :scale)\nSELECT :a::int; -- x\nSELECT '::a;', $$;$$, @b:=:a;",
		"\\set a 1 \\\n + -2.5e3 % mod(7, :scale)\n/* :a */ UPDATE t SET x = -:a /*! y */",
		"\\set z random_zipfian(1, 9223372036854775807, 1.001)\n\\set g random_gaussian(-5, 5, 2)\nSELECT :z, :g # x",
		"\\set e random_exponential(-9223372036854775808, 9223372036854775807, 1e-300)\nSELECT E'\\'' \"\\\" `",
		"\\set a 1/(:scale-:scale)\n;",
	} {
		f.Add(script, true)
		f.Add(script, false)
	}
	kinds := []string{"division by zero", "the result ", "an operand ", "the lower bound ", "the parameter "}
	f.Fuzz(func(t *testing.T, text string, postgreSQL bool) {
		dialect := my
		if postgreSQL {
			dialect = pg
		}
		var failure *language.Error
		script, err := language.Compile(text, dialect, predefined)
		if err != nil {
			if !errors.As(err, &failure) || failure.Expression != "" {
				t.Errorf("not an error of Compile: %v", err)
			}
			return
		}
		vars, random, next := script.NewVars(), language.NewRandom(1), 0
		vars.Set("scale", 3)
		for range 3 {
			next = 0
			err = script.Run(vars, random, func(i int) error {
				st := &script.Statements()[i]
				if text := st.Text(func(int) string { return "?" }); i != next || text == "" || len(st.Append(nil, vars)) < len(text) {
					t.Errorf("statement %d is %q, expected number %d", i, text, next)
				}
				next++
				return nil
			})
			documented := func(kind string) bool {
				return failure.Line > 0 && failure.Expression != "" && strings.HasPrefix(failure.Reason, kind)
			}
			if err != nil && (!errors.As(err, &failure) || !slices.ContainsFunc(kinds, documented)) {
				t.Errorf("not an error of Run: %v", err)
			}
		}
		if err == nil && next != len(script.Statements()) {
			t.Errorf("%d of %d statements executed", next, len(script.Statements()))
		}
	})
}
