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

// What a specification may have: a rule that looks at several fields is one that its author must know. A CRD is bounded as compact
// JSON: client-side apply keeps it so in an annotation of at most 262,144 bytes.
const (
	maxRules   = 16
	maxRule    = 300
	maxCRDSize = 240_000
)

// crdSize is that of a CRD as compact JSON.
func crdSize(t *testing.T, text string) int {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return len(encoded)
}

// The rules that stand on the specification of a run, and the CRDs, grow with each parameter unless somebody counts them. The
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
	runs, comparisons := crdSize(t, text), crdSize(t, read(t, "config/crd/bases/benchrun.dev_benchmarkcomparisons.yaml"))
	if len(spec.XValidations) > maxRules || longest > maxRule || max(runs, comparisons) > maxCRDSize {
		t.Errorf("%d rules, one of %d characters, CRDs of %d and %d bytes: at most %d, %d and %d", len(spec.XValidations), longest,
			runs, comparisons, maxRules, maxRule, maxCRDSize)
	}
	want := fmt.Sprintf("The specification itself has %d rules that look at several fields, and %d about what may change. The longest has %d "+
		"characters. As compact JSON, which client-side apply keeps in an annotation of at most 262,144 bytes, the CRD of runs has %d kB "+
		"and that of comparisons %d kB.", len(spec.XValidations)-transitions, transitions, longest, runs/1000, comparisons/1000)
	if page := strings.Join(strings.Fields(read(t, "docs/architecture.md")), " "); !strings.Contains(page, want) {
		t.Errorf("docs/architecture.md does not say: %s", want)
	}
}
