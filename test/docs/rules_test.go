// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// What a specification may have: a rule that looks at several fields is one that its author must know.
const (
	maxRules   = 16
	maxRule    = 300
	maxCRDSize = 240_000 // compact JSON, of which client-side apply takes 262,144 bytes with all that it adds
)

// The rules that stand on the specification of a run, and its CRD, grow with each parameter unless somebody counts them. The
// architecture page has the figures: a change that makes one larger is a change of that page, to be seen in its review.
func TestRulesOfTheSpecification(t *testing.T) {
	crd, size := customResource(t, "benchmarkruns")
	_, sizeOfComparisons := customResource(t, "benchmarkcomparisons")
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	transitions, longest := 0, 0
	for _, rule := range spec.XValidations {
		longest = max(longest, len(rule.Rule))
		if strings.Contains(rule.Rule, "oldSelf") {
			transitions++
		}
	}
	if len(spec.XValidations) > maxRules || longest > maxRule || max(size, sizeOfComparisons) > maxCRDSize {
		t.Errorf("%d rules, one of %d characters, in CRDs of %d and %d bytes: at most %d, %d and %d", len(spec.XValidations), longest,
			size, sizeOfComparisons, maxRules, maxRule, maxCRDSize)
	}
	want := fmt.Sprintf("The specification itself has %d rules that look at several fields, and %d about what may change. The longest has %d "+
		"characters. As compact JSON, the CRD of runs has %d kB, that of comparisons %d kB.", len(spec.XValidations)-transitions,
		transitions, longest, size/1000, sizeOfComparisons/1000)
	if page := strings.Join(strings.Fields(read(t, "docs/architecture.md")), " "); !strings.Contains(page, want) {
		t.Errorf("docs/architecture.md does not say: %s", want)
	}
}

// customResource is the definition of a resource, and its size as compact JSON, in which kubectl and the API server keep it.
func customResource(t *testing.T, plural string) (apiextensionsv1.CustomResourceDefinition, int) {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(read(t, "config/crd/bases/benchrun.dev_"+plural+".yaml")))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	return crd, len(text)
}
