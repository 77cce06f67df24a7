// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// constants are the values of the string constants of a file whose names begin like that.
func constants(t *testing.T, file, prefix string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, isValue := n.(*ast.ValueSpec)
		if !isValue || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
		return true
	})
	slices.Sort(values)
	return values
}

// TestAdvice: every reason and every cause is explained, and nothing else is.
func TestAdvice(t *testing.T) {
	known := map[string]advice{}
	for cause, a := range causes {
		known[string(cause)] = a
	}
	for _, tc := range []struct {
		file, prefix string
		table        map[string]advice
		least        int
	}{
		{"../../api/v1alpha1/condition_types.go", "Reason", reasons, 40},
		{"../result/cause.go", "Cause", known, 26},
	} {
		want := constants(t, tc.file, tc.prefix)
		if got := slices.Sorted(maps.Keys(tc.table)); !slices.Equal(got, want) || len(want) < tc.least {
			t.Errorf("%s has %v, explained are %v", tc.file, want, got)
		}
		for name, a := range tc.table {
			if !strings.HasSuffix(a.what, ".") || a.do != "" && (!strings.HasSuffix(a.do, ".") || strings.ToLower(a.do[:1]) != a.do[:1]) {
				t.Errorf("%s: %q, %q: these are sentences, and the second continues one", name, a.what, a.do)
			}
		}
	}
}
