// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import "regexp"

// Step is what the reader of a tutorial does next: saves a file, or types commands.
type Step struct {
	// File is the name of the file to save, with its content; empty if there are commands.
	File, Content string
	Commands      string
}

var steps = regexp.MustCompile("(?s)(?:Save this as `([^`]+)`[^\n]*:\n\n```ya?ml\n(.*?)```|```bash\n(.*?)```)")

// Steps of a tutorial, in their order.
func Steps(tutorial string) []Step {
	var all []Step
	for _, step := range steps.FindAllStringSubmatch(tutorial, -1) {
		all = append(all, Step{File: step[1], Content: step[2], Commands: step[3]})
	}
	return all
}
