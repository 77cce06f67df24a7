// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package samples checks what the samples promise beyond the API's rules.
package samples

import (
	"fmt"
	"strings"
)

// Contest is the one publication in its full size that is tried: not the machine and the day that it asks for, but everything
// else, which is a billion rows by the contest's rules. A load that does not finish is a result with an estimate.
const Contest = "publications/003-iibench-contest.yaml"

// shorter is what samples that take too long for a test on a small cluster have instead.
var shorter = map[string]map[string]string{
	Contest: {
		`limits: {cpu: "8", memory: 16Gi}`: `limits: {cpu: "1", memory: 13Gi}`, "seconds: 3196800": "seconds: 60",
	},
	"microbenchmarks.yaml": {"rounds: {atMost: 8}": "rounds: {atMost: 2, until: All}", "seconds: 2": "seconds: 1"},
}

// Shortened is the text of a sample for such a test. It is an error if the sample has not what is to be replaced.
func Shortened(file, text string) (string, error) {
	for requested, here := range shorter[file] {
		if !strings.Contains(text, requested) {
			return "", fmt.Errorf("%s has no %q to shorten", file, requested)
		}
		text = strings.Replace(text, requested, here, 1)
	}
	return text, nil
}
