// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"io"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// explainFinding prints what a finding means and what to do.
func explainFinding(out io.Writer, code finding.Code) error {
	e, known := finding.Lookup(code)
	if !known {
		return fmt.Errorf("finding %s does not exist; use one of %s", code, strings.Join(codes(), ", "))
	}
	text := []string{fmt.Sprintf("%s (%s)", code, e.Severity), "  " + e.Pattern(), e.Means}
	text = append(text, advice{do: e.Do}.remedy()...)
	_, err := io.WriteString(out, strings.Join(text, "\n")+"\n")
	return err
}

// codes of all findings.
func codes() []string {
	var all []string
	for _, code := range finding.Codes() {
		all = append(all, string(code))
	}
	return all
}
