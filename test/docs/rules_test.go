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

// The rules that stand on the specification of a run grow with each parameter unless somebody counts them. The architecture page
// has the figures: a change that makes one larger is a change of that page, to be seen in its review.
func TestRulesOfTheSpecification(t *testing.T) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(read(t, "config/crd/bases/benchrun.dev_benchmarkruns.yaml")), &crd); err != nil {
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
	want := fmt.Sprintf("The specification itself has %d rules that look at several fields, and %d about what may change. The longest has %d characters.",
		len(spec.XValidations)-transitions, transitions, longest)
	if page := strings.Join(strings.Fields(read(t, "docs/architecture.md")), " "); !strings.Contains(page, want) {
		t.Errorf("docs/architecture.md does not say: %s", want)
	}
}
