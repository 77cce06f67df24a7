// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"fmt"
	"slices"
	"strings"
)

// Neighborhood is what else is on the database's node at one moment.
type Neighborhood struct {
	// Pods of others, as namespace/name, sorted.
	Pods []string `json:"pods,omitempty"`
	// Conditions of the node under which it should not be measured, for example DiskPressure, sorted.
	Conditions []string `json:"conditions,omitempty"`
}

// Neighbors say what else was on the database's node while an attempt lasted, as far as that was seen at its start and its end.
type Neighbors struct {
	// Pods of others at the start.
	Pods int `json:"pods"`
	// Came and Went are Pods of others, as namespace/name, that were there at the end only, or at the start only. At most
	// maxNeighbors of each are named; CameCount and WentCount are all.
	Came      []string `json:"came,omitempty"`
	Went      []string `json:"went,omitempty"`
	CameCount int      `json:"cameCount,omitempty"`
	WentCount int      `json:"wentCount,omitempty"`
	// Conditions of the node at the start or the end under which it should not be measured, for example DiskPressure.
	Conditions []string `json:"conditions,omitempty"`
}

// maxNeighbors bounds the names in a record, which the operator keeps in memory.
const maxNeighbors = 5

// Between compares what was on the node at the start of an attempt and at its end; nil if one of them is not known.
func Between(before, after *Neighborhood) *Neighbors {
	if before == nil || after == nil {
		return nil
	}
	came, went := missing(after.Pods, before.Pods), missing(before.Pods, after.Pods)
	conditions := slices.Concat(before.Conditions, after.Conditions)
	slices.Sort(conditions)
	return &Neighbors{
		Pods: len(before.Pods), CameCount: len(came), WentCount: len(went), Conditions: slices.Compact(conditions),
		Came: came[:min(len(came), maxNeighbors)], Went: went[:min(len(went), maxNeighbors)],
	}
}

// missing are those of a sorted list that another one lacks.
func missing(of, from []string) []string {
	var list []string
	for _, name := range of {
		if _, found := slices.BinarySearch(from, name); !found {
			list = append(list, name)
		}
	}
	return list
}

// Warnings about an attempt that did not have its node to itself, or whose node had a problem. nil has none.
func (n *Neighbors) Warnings() []string {
	if n == nil {
		return nil
	}
	var all []string
	if n.CameCount > 0 {
		all = append(all, "Pods came to the database's node during the attempt: "+named(n.Came, n.CameCount))
	}
	if n.WentCount > 0 {
		all = append(all, "Pods left the database's node during the attempt: "+named(n.Went, n.WentCount))
	}
	if len(n.Conditions) > 0 {
		all = append(all, "the database's node had conditions that disturb: "+strings.Join(n.Conditions, ", "))
	}
	return all
}

// named lists names, and says how many more there are.
func named(names []string, all int) string {
	text := strings.Join(names, ", ")
	if more := all - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
