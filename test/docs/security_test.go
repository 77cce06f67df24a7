// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// naming are the fields of the API that name an object of the namespace.
var naming = regexp.MustCompile(`json:"([a-zA-Z]*(?:SecretName|From))[,"]`)

// TestSecurityNamesWhatIsMounted: everything that the author of a run can have mounted is named where administrators look.
func TestSecurityNamesWhatIsMounted(t *testing.T) {
	var fields []string
	for _, file := range tracked(t, "api/v1alpha1/*_types.go") {
		for _, match := range naming.FindAllStringSubmatch(read(t, file), -1) {
			fields = append(fields, match[1])
		}
	}
	slices.Sort(fields)
	if fields = slices.Compact(fields); len(fields) < 6 {
		t.Errorf("%d fields: %v", len(fields), fields)
	}
	for _, field := range fields {
		if !strings.Contains(read(t, "SECURITY.md"), field+"`") {
			t.Errorf("SECURITY.md does not name %s", field)
		}
	}
}
