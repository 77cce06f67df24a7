// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// What a specification may have: a rule that looks at several fields is one that its author must know.
const (
	maxRules = 16
	maxRule  = 300
	// maxCRD is how many bytes a CRD may have as compact JSON: client-side apply keeps it in an annotation, which takes 262,144.
	maxCRD = 240_000
)

// The rules that stand on the specification of a run, and its CRD, grow with each parameter unless somebody counts them. The
// architecture page has the figures: a change that makes one larger is a change of that page, to be seen in its review.
func TestRulesOfTheSpecification(t *testing.T) {
	text := read(t, "config/crd/bases/benchrun.dev_benchmarkruns.yaml")
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
		t.Fatal(err)
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	transitions, longest := 0, 0
	for _, rule := range spec.XValidations {
		longest = max(longest, len(rule.Rule))
		if strings.Contains(rule.Rule, "oldSelf") {
			transitions++
		}
	}
	if len(spec.XValidations) > maxRules || longest > maxRule {
		t.Errorf("%d rules, one of %d characters: at most %d and %d", len(spec.XValidations), longest, maxRules, maxRule)
	}
	runs := compact(t, "benchmarkruns")
	comparisons := compact(t, "benchmarkcomparisons")
	if max(runs, comparisons) > maxCRD {
		t.Errorf("the CRD of runs has %d bytes as compact JSON, that of comparisons %d: at most %d", runs, comparisons, maxCRD)
	}
	want := fmt.Sprintf("The specification itself has %d rules that look at several fields, and %d about what may change. The longest has %d "+
		"characters. As compact JSON, the CRD of runs has %d kB, and that of comparisons %d kB.", len(spec.XValidations)-transitions,
		transitions, longest, runs/1000, comparisons/1000)
	if page := strings.Join(strings.Fields(read(t, "docs/architecture.md")), " "); !strings.Contains(page, want) {
		t.Errorf("docs/architecture.md does not say: %s", want)
	}
}

// compact is how many bytes a CRD has as compact JSON.
func compact(t *testing.T, name string) int {
	t.Helper()
	var crd map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "config/crd/bases/benchrun.dev_"+name+".yaml")), &crd); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}
