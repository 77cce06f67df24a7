// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"os"
	"regexp"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

var (
	required = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+|\S+\.\S+) (v\S+)`)
	replaced = regexp.MustCompile(`(?m)^(?:replace )?\s*(\S+) => (\S+) (v\S+)`)
)

// versions are those that a go.mod chooses, each module's.
func versions(t *testing.T, file string) map[string]string {
	t.Helper()
	content := must.Get(os.ReadFile(file))(t)
	found := map[string]string{}
	for _, match := range required.FindAllStringSubmatch(string(content), -1) {
		found[match[1]] = match[2]
	}
	for _, match := range replaced.FindAllStringSubmatch(string(content), -1) {
		found[match[1]] = match[3]
	}
	return found
}

// The programs of a node import much that the operator imports. Of equal versions it compiles once, of different ones twice:
// seven minutes of processor time. No other behaviour depends on it.
func TestTheNodesProgramsShareTheOperatorsModules(t *testing.T) {
	operator, node := versions(t, "../../go.mod"), versions(t, "../../hack/node-image/go.mod")
	if len(operator) < 50 || len(node) < 100 {
		t.Fatalf("%d and %d modules were found", len(operator), len(node))
	}
	for module, version := range operator {
		if other, ok := node[module]; ok && other != version {
			t.Errorf("%s is %s for the operator and %s for the node: go get one of them to the higher one", module, version, other)
		}
	}
}
