// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package samples checks what the samples promise beyond the API's rules.
package samples

import "regexp"

// Contest is the one publication in its full size that is tried: not the machine and the day that it asks for, but everything
// else, which is a billion rows by the contest's rules. A load that does not finish is a result with an estimate.
const Contest = "publications/003-iibench-contest.yaml"

// shorter is what samples have instead in a test on a small cluster, which wants sums that add up, and no answers.
var shorter = map[string]string{
	`limits: {cpu: "8", memory: 16Gi}`: `limits: {cpu: "1", memory: 13Gi}`, "seconds: 3196800": "seconds: 60",
	`rounds: {atMost: \d+(, until: All)?}`: "rounds: {atMost: 2, until: All}", `repetitions: [3-9]`: "repetitions: 2",
}

// Shortened is the text of a sample for such a test.
func Shortened(text string) string {
	for requested, here := range shorter {
		text = regexp.MustCompile(requested).ReplaceAllString(text, here)
	}
	return text
}
