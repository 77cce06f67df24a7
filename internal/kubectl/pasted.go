// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// pasted says what variables, wherever an object has some, still have of the option file that they were pasted from: one line
// for each. They are then as they should be, so that what else is wrong can be said in the same list.
func pasted(object map[string]any) []string {
	databases := map[string]map[string]any{}
	add := func(path string, of map[string]any, fields ...string) {
		if database, found, err := unstructured.NestedFieldNoCopy(of, fields...); found && err == nil {
			databases[path], _ = database.(map[string]any)
		}
	}
	add("spec.database", object, "spec", "database")
	add("spec.template.spec.database", object, "spec", "template", "spec", "database")
	variants, _, _ := unstructured.NestedFieldNoCopy(object, "spec", "variants")
	list, _ := variants.([]any)
	for i, variant := range list {
		if of, isMap := variant.(map[string]any); isMap {
			add(fmt.Sprintf("spec.variants[%d].database", i), of, "database")
		}
	}
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(databases)) {
		if variables, isMap := databases[path]["variables"].(map[string]any); isMap {
			lines = append(lines, meant(path+".variables", variables)...)
		}
	}
	return lines
}

// meant corrects the variables of a database, and says what it has corrected.
func meant(path string, variables map[string]any) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		value, isText := variables[name].(string)
		if !isText {
			continue // its type is wrong, which the schema says
		}
		right, set, wrong := engine.Meant(name, value)
		if _, twice := variables[right]; twice && right != name {
			wrong = append(wrong, right+" stands there, too")
		}
		for _, line := range wrong {
			lines = append(lines, fmt.Sprintf("%s[%s]: %s", path, name, line))
		}
		delete(variables, name)
		variables[right] = set
	}
	return lines
}
