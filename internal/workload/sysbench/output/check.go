// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import "regexp"

// Check is what a script's check command says of one condition.
type Check struct {
	Name   string
	Passed bool
	// Detail is what follows the verdict.
	Detail string
}

// checkLine is "Check 1, warehouse: 3 PASSED", or "… FAILED!!!" with whatever follows.
var checkLine = regexp.MustCompile(`(?m)^[ \t]*(Check [^\n]*?)[: ]+(PASSED|FAILED)[!:]*[ \t]*([^\n]*?)[ \t\r]*$`)

// ParseChecks reads the output of a script's check command.
func ParseChecks(output string) []Check {
	var all []Check
	for _, m := range checkLine.FindAllStringSubmatch(output, -1) {
		all = append(all, Check{Name: m[1], Passed: m[2] == "PASSED", Detail: m[3]})
	}
	return all
}
