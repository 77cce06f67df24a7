// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package frozen

import (
	"fmt"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const before = `
kind: Job
metadata: {name: run-t1, labels: {a: b}}
spec:
  containers: [{name: loader, env: [{name: CONFIG, value: '{"rows": 1}'}]}]
data:
  my.cnf: |
    [mysqld]
    old=1
`

// Every kind of change is a difference: a value, a field that is gone, one that is new, a line of a text, JSON in a text.
func TestDifferences(t *testing.T) {
	const now = `
kind: Job
metadata: {name: run-t1, labels: {c: d}}
spec:
  containers: [{name: before}, {name: loader, env: [{name: CONFIG, value: '{"rows": 2}'}]}]
data:
  my.cnf: |
    [mysqld]
    new=1
`
	got := must.Get(new(tables).unexplained("case.yaml", []byte(before), []byte(now)))(t)
	want := []Difference{
		{"case.yaml", "Job/run-t1.data.my.cnf", "", "new=1"},
		{"case.yaml", "Job/run-t1.data.my.cnf", "old=1", ""},
		{"case.yaml", "Job/run-t1.metadata.labels.a", "b", ""},
		{"case.yaml", "Job/run-t1.metadata.labels.c", "", "d"},
		{"case.yaml", "Job/run-t1.spec.containers[before].name", "", "before"},
		{"case.yaml", "Job/run-t1.spec.containers[loader].env[CONFIG].value.rows", "1", "2"},
	}
	must.Same(t, "", want, got)
}

func TestTables(t *testing.T) {
	const now = `
kind: Job
metadata: {name: run-t1, labels: {label: b}}
spec:
  containers: [{name: loader, env: [{name: CONFIG, value: '{"rows": 2}'}]}]
data: {my.cnf: "[mysqld]\nold=1\n"}
`
	rules := &tables{
		renamed: []row{{cells: []string{"*.yaml", "a", "label"}}, {cells: []string{"other", "b", "c"}}},
		changed: []row{{cells: []string{"case.yaml", "*.rows", "1", "2", "asked for"}}, {cells: []string{"case.yaml", "*", "1", "3", "no"}}},
	}
	got, err := rules.unexplained("case.yaml", []byte(before), []byte(now))
	if err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	if !rules.renamed[0].used || rules.renamed[1].used || !rules.changed[0].used || rules.changed[1].used {
		t.Errorf("used: %+v", rules)
	}
	// A table explains nothing that it does not name.
	for _, changed := range [][]string{{"other", "*", "*", "*"}, {"*", "*.row", "*", "*"}, {"*", "*", "2", "*"}, {"*", "*", "*", "1"}} {
		rules.changed = []row{{cells: changed}}
		if got, _ := rules.unexplained("case.yaml", []byte(before), []byte(now)); len(got) != 1 {
			t.Errorf("%v: %v", changed, got)
		}
	}
}

// Lines are compared as a text's, in their order.
func TestLines(t *testing.T) {
	for now, want := range map[string]int{"a\nb\n": 0, "a\nc\n": 2, "b\na\n": 1, "a\nb\nb\n": 1, "a\n": 1} {
		got := must.Get(new(tables).unexplained("case.md", []byte("a\nb\n"), []byte(now)))(t)
		must.Same(t, fmt.Sprintf("%q: %v", now, got), want, len(got))
	}
}
