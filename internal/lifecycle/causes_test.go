// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// allCauses are the constants of type result.Cause.
func allCauses(t *testing.T) []result.Cause {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../result/cause.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var causes []result.Cause
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if name := spec.Names[0].Name; name != "Cause"+text {
			t.Errorf("%s is %q", name, text)
		}
		causes = append(causes, result.Cause(text))
		return true
	})
	return causes
}

// A cause either fails the run, with a reason of its own, or is a disturbance that ends a run only by happening too often. The
// documentation has every reason and every disturbance.
func TestEveryCauseIsDecidedAbout(t *testing.T) {
	page, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	causes := allCauses(t)
	if len(causes) < 26 {
		t.Errorf("only %d causes were found: %v", len(causes), causes)
	}
	for _, c := range causes {
		reason, outcome := reasonOf(c), c.Outcome()
		if (outcome == result.OutcomeFailed) != (reason != v1alpha1.ReasonTooManyInvalid) {
			t.Errorf("%s: the attempt is %s, the run's reason is %s", c, outcome, reason)
		}
		documented := reason
		if outcome == result.OutcomeInvalidated {
			documented = string(c)
		}
		if !strings.Contains(string(page), "`"+documented+"`") {
			t.Errorf("%s: docs/troubleshooting.md does not have %s", c, documented)
		}
	}
}
