// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// Neighborhood is what else is on the database's node at one moment.
type Neighborhood struct {
	// Pods of others.
	Pods []Neighbor `json:"pods,omitempty"`
	// Conditions of the node under which it should not be measured, for example DiskPressure, sorted.
	Conditions []string `json:"conditions,omitempty"`
	// Cut says that there are more Pods than the operator reads of what others have made.
	Cut bool `json:"cut,omitempty"`
	// Key with which the Pods are sealed; empty if they are not.
	Key string `json:"-"`
}

// Neighbor is a Pod on the database's node that belongs to another owner.
type Neighbor struct {
	// ID is the UID of the Pod or, if the neighborhood is sealed, a keyed digest of it.
	ID string `json:"id"`
	// Name of the Pod as namespace/name, if readers of the results may know it.
	Name string `json:"name,omitempty"`
}

// Sealed is the neighborhood with keyed digests instead of UIDs, in their order. They only show whether two Pods are the same.
func (n *Neighborhood) Sealed(key string) *Neighborhood {
	sealed := &Neighborhood{Conditions: n.Conditions, Cut: n.Cut, Key: key}
	for _, p := range n.Pods {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(p.ID)) // it never fails
		p.ID = hex.EncodeToString(mac.Sum(nil)[:8])
		sealed.Pods = append(sealed.Pods, p)
	}
	slices.SortFunc(sealed.Pods, func(a, b Neighbor) int { return cmp.Compare(a.ID, b.ID) })
	return sealed
}

// Neighbors say what else was on the database's node while an attempt lasted, as far as that was seen at its start and its end.
type Neighbors struct {
	// Pods of others at the start.
	Pods int `json:"pods"`
	// Arrived and Departed are the Pods of others that were there at the end only, or at the start only.
	Arrived  Visitors `json:"arrived,omitzero"`
	Departed Visitors `json:"departed,omitzero"`
	// Unread says that there were more Pods than the operator reads, so that it is unknown which arrived or departed.
	Unread bool `json:"unread,omitempty"`
	// Conditions of the node at the start or the end under which it should not be measured, for example DiskPressure.
	Conditions []string `json:"conditions,omitempty"`
}

// Visitors are Pods of others.
type Visitors struct {
	// Count of all of them.
	Count int `json:"count,omitempty"`
	// Names of those that may be named, as namespace/name; at most maxNames.
	Names []string `json:"names,omitempty"`
	// Others counts those of other namespaces, which may not be named.
	Others int `json:"others,omitempty"`
}

// maxNames bounds the names in a record, which the operator keeps in memory.
const maxNames = 5

// Between compares what was on the node at the start of an attempt, sealed or not, and at its end; nil if one of them is not
// known.
func Between(before, after *Neighborhood) *Neighbors {
	if before == nil || after == nil {
		return nil
	}
	if before.Key != "" {
		after = after.Sealed(before.Key)
	}
	conditions := slices.Concat(before.Conditions, after.Conditions)
	slices.Sort(conditions)
	n := &Neighbors{Pods: len(before.Pods), Unread: before.Cut || after.Cut, Conditions: slices.Compact(conditions)}
	if !n.Unread {
		n.Arrived, n.Departed = visitors(after.Pods, before.Pods), visitors(before.Pods, after.Pods)
	}
	return n
}

func visitors(pods, others []Neighbor) Visitors {
	known := map[string]bool{}
	for _, p := range others {
		known[p.ID] = true
	}
	var all Visitors
	for _, p := range pods {
		switch {
		case known[p.ID]:
		case p.Name != "":
			all.Names = append(all.Names, p.Name)
		default:
			all.Others++
		}
	}
	all.Count = len(all.Names) + all.Others
	slices.Sort(all.Names)
	all.Names = all.Names[:min(len(all.Names), maxNames)]
	return all
}

// Findings about an attempt that did not have its node to itself, or whose node had a problem. nil has none.
func (n *Neighbors) Findings() []finding.Finding {
	if n == nil {
		return nil
	}
	var all []finding.Finding
	if n.Arrived.Count > 0 {
		all = append(all, finding.Arrived(n.Arrived.pods()))
	}
	if n.Departed.Count > 0 {
		all = append(all, finding.Departed(n.Departed.pods()))
	}
	if n.Unread {
		all = append(all, finding.NotAllRead(n.Pods))
	}
	if len(n.Conditions) > 0 {
		all = append(all, finding.OnNodeConditions(n.Conditions))
	}
	return all
}

func (v Visitors) pods() (names string, others int) {
	names, others = strings.Join(v.Names, ", "), v.Others
	more := v.Count - len(v.Names) - others
	switch {
	case more > 0 && names != "":
		names += fmt.Sprintf(" and %d more", more)
	case more > 0:
		others += more
	}
	return names, others
}
