// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// takers are functions that take texts apart.
var takers = []string{
	"HasPrefix", "HasSuffix", "TrimPrefix", "TrimSuffix", "CutPrefix", "CutSuffix", "Cut", "Contains", "Index", "LastIndex", "Split",
	"SplitN", "EqualFold",
}

// english is a text with a word and a space beside it.
var english = regexp.MustCompile(`[A-Za-z]{2,}[:,;.]? | [A-Za-z]{2,}`)

// foreign are the files that take texts of other programs apart, and whose.
var foreign = map[string]string{
	"controllers/clusterwarnings.go":               "names of Pods in the words of the Job controller",
	"internal/database/ready.go":                   "the API server's words about a LimitRange",
	"internal/engine/mariadb/mariadb.go":           "the log of MariaDB",
	"internal/engine/mysql/mysql.go":               "the log and the status of MySQL",
	"internal/loader/server/server.go":             "the log of MySQL",
	"internal/engine/innodb/innodb.go":             "lines of option files",
	"internal/engine/postgresql/client/dialect.go": "an error of the driver that is no value",
	"internal/engine/postgresql/postgresql.go":     "lines of the server's log, and values of its variables",
	"internal/kubectl/compare.go":                  "an argument",
	"internal/kubectl/option_file.go":              "lines of option files",
	"internal/kubectl/set.go":                      "an error of encoding/json",
	"internal/loader/attempt.go":                   "names of schemas and settings",
	"internal/engine/innodb/client/exchange.go":    "SQL",
	"internal/loader/server/settings.go":           "values of server variables",
	"internal/podutil/build.go":                    "names of images",
	"internal/podutil/status.go":                   "the words of the kubelet and of the scheduler",
	"internal/report/page/drawings.go":             "names of files",
	"internal/report/requested.go":                 "names of files",
	"internal/result/wire.go":                      "lines of the encoded document",
	"internal/testutil/frozen/stable.go":           "JSON without what differs each time",
	"internal/testutil/frozen/tables.go":           "names in recordings",
	"internal/testutil/golden.go":                  "code blocks of the documentation",
	"internal/workload/bulkinsert/file.go":         "names of tables and columns",
	"internal/workload/custom/custom.go":           "the output of a program of the user's",
	"internal/workload/custom/parameters.go":       "the output of a program of the user's",
	"internal/workload/insert/prepared.go":         "names of storage engines",
	"internal/workload/pgbench/pgbench.go":         "the output of pgbench",
	"internal/workload/program.go":                 "the output of sysbench and of pgbench",
	"internal/workload/script/script.go":           "SQL",
	"internal/workload/statements/parameters.go":   "names of transactions",
	"internal/workload/sysbench/output/merge.go":   "the output of sysbench",
	"internal/workload/sysbench/output/parse.go":   "the output of sysbench",
	"internal/workload/sysbench/sysbench.go":       "the output of sysbench",
	"internal/workload/tproch/data.go":             "a parameter",
	"internal/workload/iibench/stages.go":          "names of stages",
	"internal/workload/tproch/catalogue.go":        "the SQL of the schema",
	"internal/workload/userdata/columns.go":        "values of the user's files",
	"internal/workload/userdata/explain.go":        "the words of the server about the user's data",
	"internal/workload/tprochload/files.go":        "names of files",
	"internal/workload/workloadtest/script.go":     "SQL",
	"internal/kubectl/explain.go":                  "pages of the documentation",
	"controllers/writer.go":                        "names of objects",
	"internal/kubectl/validate.go":                 "names that kustomize makes",
}

// Nothing takes its own sentences apart: what travels is a value, and words are made of it where people read them. A new file
// that takes other programs' texts apart stands in the list above with its reason.
func TestNothingReadsSentences(t *testing.T) {
	seen := map[string]bool{}
	for _, root := range []string{"api", "cmd", "controllers", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, 0))(t)
			name := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+string(filepath.Separator)))
			for _, found := range sentencesRead(file) {
				if seen[name] = true; foreign[name] == "" {
					t.Errorf("%s: %s: pass a value, or add the file to the list with whose text it is", name, found)
				}
			}
			return nil
		})
		must.Do(t, err)
	}
	for name := range foreign {
		if !seen[name] {
			t.Errorf("%s takes nothing apart: remove it from the list", name)
		}
	}
}

// The check sees the ways in which this project has read its own sentences.
func TestSentencesRead(t *testing.T) {
	for code, want := range map[string]int{
		`regexp.MustCompile("^[0-9]+ s: ")`:                                                           1,
		`strings.HasPrefix(d, "database.image ")`:                                                     1,
		`strings.TrimPrefix(s.Answer, "so far: ")`:                                                    1,
		`func() { for _, start := range []string{"all ", "no "} { strings.HasPrefix(text, start) } }`: 2,
		`func() { const far = "so far: "; strings.CutPrefix(text, far) }`:                             1,
		`strings.HasPrefix(asked[0], name+" of")`:                                                     1,
		`strings.HasPrefix(name, "app.kubernetes.io/")`:                                               0,
		`strings.TrimSuffix(name, ".gz")`:                                                             0,
		`fmt.Sprintf("so far: %s", text)`:                                                             0,
	} {
		file := must.Get(parser.ParseFile(token.NewFileSet(), "", "package p\n\nvar _ = "+code, 0))(t)
		if got := sentencesRead(file); len(got) != want {
			t.Errorf("%s: found %q, want %d", code, got, want)
		}
	}
}

// sentencesRead are the regular expressions of a file, and the English that it looks for in texts.
func sentencesRead(file *ast.File) []string {
	var found []string
	named := namedTexts(file)
	ast.Inspect(file, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is {
			return true
		}
		function, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return true
		}
		of, is := function.X.(*ast.Ident)
		switch {
		case !is:
		case of.Name == "regexp" && (function.Sel.Name == "MustCompile" || function.Sel.Name == "Compile"):
			found = append(found, "a regular expression")
		case (of.Name == "strings" || of.Name == "bytes") && slices.Contains(takers, function.Sel.Name) && len(call.Args) > 1:
			for _, text := range textsIn(call.Args[1], named) {
				if english.MatchString(text) {
					found = append(found, fmt.Sprintf("%s looks for %q", function.Sel.Name, text))
				}
			}
		}
		return true
	})
	return found
}

// namedTexts are the texts that constants, variables and loops of a file give names.
func namedTexts(file *ast.File) map[string][]string {
	named := map[string][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					named[name.Name] = append(named[name.Name], textsIn(n.Values[i], nil)...)
				}
			}
		case *ast.RangeStmt:
			if name, is := n.Value.(*ast.Ident); is {
				named[name.Name] = append(named[name.Name], textsIn(n.X, nil)...)
			}
		}
		return true
	})
	return named
}

// textsIn an expression: its literals, and those of the names in it.
func textsIn(expression ast.Expr, named map[string][]string) []string {
	var texts []string
	ast.Inspect(expression, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				texts = append(texts, text)
			}
		case *ast.Ident:
			texts = append(texts, named[n.Name]...)
		}
		return true
	})
	return texts
}
