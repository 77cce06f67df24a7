// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"fmt"
	"slices"
	"strings"
)

// Input is a file that the run brought along: a script, SQL, data.
type Input struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// Rows of a file of rows, without its header.
	Rows int64 `json:"rows,omitempty"`
	// SHA256 is the hexadecimal digest.
	SHA256 string `json:"sha256"`
}

// MaxSummaryInputs is how many inputs a summary names. More of them become one, whose digest is that of what sha256sum prints
// about all of them, sorted by name.
const MaxSummaryInputs = 3

// condense makes inputs few enough for a summary.
func condense(all []Input) []Input {
	if len(all) <= MaxSummaryInputs {
		return all
	}
	sorted := slices.SortedFunc(slices.Values(all), func(a, b Input) int { return strings.Compare(a.Name, b.Name) })
	var printed strings.Builder
	one := Input{Name: fmt.Sprintf("%d files", len(all))}
	for _, in := range sorted {
		printed.WriteString(sumLine(in.SHA256, in.Name))
		one.Bytes += in.Bytes
		one.Rows += in.Rows
	}
	one.SHA256 = Digest([]byte(printed.String()))
	return []Input{one}
}

// InputOf is a file with that content.
func InputOf(name string, content []byte) Input {
	return Input{Name: name, Bytes: int64(len(content)), SHA256: Digest(content)}
}
