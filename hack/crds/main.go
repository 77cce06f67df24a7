// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command crds completes the CRDs that controller-gen makes of the types, in place.
//
// The lines of a description become one, up to the end of a paragraph: `kubectl explain` breaks lines itself. Descriptions that
// say nothing new are left out: of the fields of Kubernetes' own types, of the operator's own state, and of the parameters in
// sweeps and points, which the workload has.
//
// The overlays of variants have the types of a run, but not all of a run's rules hold for them:
//
//   - A default would be laid over the run, a required field could not be left out, and a rule about several fields sees only
//     some of them. Overlays have none of these. What is replaced as a whole (an item of a list, a value of a map) keeps them.
//   - The fields of overlays have no descriptions: `kubectl explain benchmarkrun.spec` has them.
package main

import (
	"fmt"
	"os"
	"regexp"

	yamlv2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

const (
	rules = "x-kubernetes-validations"
	// maxText is how many characters a text may have that may be an integer instead.
	maxText = 256
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: crds CRD.yaml…")
		os.Exit(2)
	}
	yamlv2.FutureLineWrap()
	for _, file := range os.Args[1:] {
		if err := complete(file); err != nil {
			fmt.Fprintln(os.Stderr, "crds:", err)
			os.Exit(1)
		}
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
	each(crd, func(node map[string]any) {
		unfold(node)
		borrow(node, described...)
		bound(node)
	})
	shorten(crd)
	variant := at(specification(crd), "properties", "variants", "items", "properties")
	for _, part := range []string{"database", "workload", "loader"} {
		overlay(at(variant, part))
		undescribe(at(variant, part))
	}
	each(specification(crd), refuseNulls)
	out, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), out...), 0o644)
}

// each node of a document, the outer ones first.
func each(node any, visit func(map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		visit(node)
		for _, child := range node {
			each(child, visit)
		}
	case []any:
		for _, child := range node {
			each(child, visit)
		}
	}
}

// lineInParagraph is the end of a line whose next line is neither empty nor the item of a list.
var lineInParagraph = regexp.MustCompile(`(\S)\n([^\n\s-])`)

// unfold joins the lines of each paragraph of a description. An item of a list begins a line of its own.
func unfold(node map[string]any) {
	if text, isText := node["description"].(string); isText {
		node["description"] = lineInParagraph.ReplaceAllString(text, "$1 $2")
	}
}

// described are the fields whose types are described elsewhere: those of Kubernetes, and the operator's own state.
var described = []string{"conditions", "nodeAffinity", "operatorState", "resources", "tolerations"}

// borrow removes the descriptions below fields of a node, whose types are described elsewhere, but not theirs.
func borrow(node map[string]any, fields ...string) {
	for _, name := range fields {
		if field, isField := node[name].(map[string]any); isField {
			undescribe(field)
		}
	}
}

// shorten removes the descriptions of apiVersion and kind, and those below the sweep and the points of each workload.
func shorten(crd map[string]any) {
	object := at(schema(crd), "properties")
	for _, name := range []string{"apiVersion", "kind"} {
		delete(at(object, name), "description")
	}
	spec := at(specification(crd), "properties")
	for _, member := range at(spec, "workload", "properties") {
		fields, _ := member.(map[string]any)["properties"].(map[string]any)
		borrow(fields, "sweep", "points")
	}
}

// undescribe removes the descriptions below a node, but not its own.
func undescribe(node map[string]any) {
	description, described := node["description"]
	each(node, func(below map[string]any) {
		if _, isText := below["description"].(string); isText { // or it is a field of that name
			delete(below, "description")
		}
	})
	if described {
		node["description"] = description
	}
}

// bound the text of what may be an integer or a text, which no marker can; quantities have a pattern. It also removes what is
// said of the type of a map's values: that of the field says it, and nothing shows both.
func bound(node map[string]any) {
	if either, _ := node["x-kubernetes-int-or-string"].(bool); either && node["pattern"] == nil {
		node["maxLength"] = maxText
	}
	if values, isMap := node["additionalProperties"].(map[string]any); isMap {
		delete(values, "description")
	}
}

// mostResources is how many kinds of resources a container may ask for: Kubernetes sets no bound, and a rule needs one.
const mostResources = 32

// refuseNulls has a map refuse values that are null, which the API server would otherwise remove with their keys. A rule on the
// values does not see them: that of the map names their keys.
func refuseNulls(node map[string]any) {
	values, isMap := node["additionalProperties"].(map[string]any)
	if !isMap {
		return
	}
	values["nullable"] = true
	if node["maxProperties"] == nil {
		node["maxProperties"] = mostResources
	}
	list, _ := node[rules].([]any)
	node[rules] = append(list, map[string]any{
		"rule":              "self.all(k, dyn(self[k]) != null)",
		"messageExpression": `'%s: no value: write one, as in "ON" or ""'.format([self.filter(k, dyn(self[k]) == null)[0]])`,
	})
}

func schema(crd map[string]any) map[string]any {
	versions := at(crd, "spec")["versions"].([]any)
	return at(versions[0].(map[string]any), "schema", "openAPIV3Schema")
}

// specification is the schema of the specification: what users write.
func specification(crd map[string]any) map[string]any { return at(schema(crd), "properties", "spec") }

func at(node map[string]any, path ...string) map[string]any {
	for _, name := range path {
		node = node[name].(map[string]any)
	}
	return node
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
