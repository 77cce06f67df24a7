// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Program overlays completes the CRD of BenchmarkComparison, which controller-gen makes of the types. There a template and the
// overlays of variants have the types of a run, but not all of a run's rules hold for them:
//
//   - A default would be laid over the template although nobody asked for it, a required field could not be left out, and a rule
//     about several fields sees only some of them. Overlays have none of these. What is replaced as a whole (an item of a list, a
//     value of a map) keeps them.
//   - What may change in a template is the comparison's to say: the template has no rules about changes.
//   - The claims, the plots and the tables are the comparison's own: each of its runs has too few values for them.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const rules = "x-kubernetes-validations"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: overlays CRD.yaml")
		os.Exit(2)
	}
	if err := complete(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "overlays:", err)
		os.Exit(1)
	}
}

func complete(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	versions := at(crd, "spec")["versions"].([]any)
	spec := at(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties")
	template := at(spec, "template", "properties", "spec")
	changeable(template)
	delete(at(template, "properties"), "claims")
	delete(at(template, "properties"), "plots")
	delete(at(template, "properties"), "tables")
	variant := at(spec, "variants", "items", "properties")
	overlay(at(variant, "database"))
	overlay(at(variant, "workload"))
	out, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), out...), 0o644)
}

func at(node map[string]any, path ...string) map[string]any {
	for _, name := range path {
		node = node[name].(map[string]any)
	}
	return node
}

// changeable removes the rules about changes of a node; there are none below it.
func changeable(node map[string]any) {
	node[rules] = slices.DeleteFunc(node[rules].([]any), func(rule any) bool {
		return strings.Contains(rule.(map[string]any)["rule"].(string), "oldSelf")
	})
}

// overlay makes a node optional, with all nodes below it that are not replaced as a whole.
func overlay(node map[string]any) {
	delete(node, "default")
	properties, isObject := node["properties"].(map[string]any)
	if !isObject {
		return
	}
	delete(node, "required")
	delete(node, rules)
	for _, property := range properties {
		overlay(property.(map[string]any))
	}
}
