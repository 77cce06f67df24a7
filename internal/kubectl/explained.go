// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"maps"
	"slices"
)

// Explained is a reason of a condition, or a cause for which an attempt does not count, with what it means and what to do; Do is
// empty if there is nothing to be done.
type Explained struct{ Name, Means, Do string }

// Reasons are those of runs and comparisons, by name. The reference has them.
func Reasons() []Explained { return entriesOf(reasons) }

// Causes are those of attempts, by name. The reference has them.
func Causes() []Explained { return entriesOf(causes) }

func entriesOf[K ~string](table map[K]advice) []Explained {
	list := make([]Explained, 0, len(table))
	for _, name := range slices.Sorted(maps.Keys(table)) {
		list = append(list, Explained{string(name), table[name].what, table[name].do})
	}
	return list
}
