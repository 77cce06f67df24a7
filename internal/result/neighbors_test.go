// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

// pods have their names as UIDs.
func pods(names ...string) []Neighbor {
	var list []Neighbor
	for _, name := range names {
		list = append(list, Neighbor{ID: name, Name: name})
	}
	return list
}

func TestBetween(t *testing.T) {
	jobs := []Neighbor{{ID: "1", Owner: OwnerJob}, {ID: "2", Owner: OwnerDaemonSet}, {ID: "3", Owner: OwnerJob}, {ID: "4"}}
	for name, tc := range map[string]struct {
		before, after *Neighborhood
		want          *Neighbors
		warnings      []string
	}{
		"not known before": {after: &Neighborhood{}},
		"not known after":  {before: &Neighborhood{}},
		"alone":            {before: &Neighborhood{}, after: &Neighborhood{}, want: &Neighbors{}},
		"the same": {
			before: &Neighborhood{Pods: pods("a/x", "a/y")}, after: &Neighborhood{Pods: pods("a/y", "a/x")},
			want: &Neighbors{Pods: 2},
		},
		"one came, one went": {
			before: &Neighborhood{Pods: pods("a/x", "a/y"), Conditions: []string{"MemoryPressure"}},
			after:  &Neighborhood{Pods: pods("a/w", "a/x"), Conditions: []string{"DiskPressure", "MemoryPressure"}},
			want: &Neighbors{
				Pods: 2, Arrived: Visitors{Count: 1, Names: []string{"a/w"}}, Departed: Visitors{Count: 1, Names: []string{"a/y"}},
				Conditions: []string{"DiskPressure", "MemoryPressure"},
			},
			warnings: []string{
				"Pods started on the database node during the attempt: a/w", "Pods left the database node during the attempt: a/y",
				"the database node was short of resources: DiskPressure, MemoryPressure",
			},
		},
		"more than is read": {
			before: &Neighborhood{Pods: pods("a/x", "a/y"), Cut: true}, after: &Neighborhood{Pods: pods("a/w")},
			want:     &Neighbors{Pods: 2, Unread: true},
			warnings: []string{"more Pods are on the database node than the operator reads: which came or left is not known (2 were read)"},
		},
		"many came": {
			before:   &Neighborhood{},
			after:    &Neighborhood{Pods: pods("a/1", "a/2", "a/7", "a/3", "a/4", "a/5", "a/6")},
			want:     &Neighbors{Arrived: Visitors{Count: 7, Names: []string{"a/1", "a/2", "a/3", "a/4", "a/5"}}},
			warnings: []string{"Pods started on the database node during the attempt: a/1, a/2, a/3, a/4, a/5 and 2 more"},
		},
		"Pods that are not named": {
			before: &Neighborhood{Pods: jobs[:1]}, after: &Neighborhood{Pods: append(pods("a/x"), jobs[1:]...)},
			want: &Neighbors{
				Pods: 1, Departed: Visitors{Count: 1, Unnamed: []OwnerCount{{OwnerJob, 1}}},
				Arrived: Visitors{Count: 4, Names: []string{"a/x"}, Unnamed: []OwnerCount{{"", 1}, {OwnerDaemonSet, 1}, {OwnerJob, 1}}},
			},
			warnings: []string{
				"Pods started on the database node during the attempt: a/x, 1 without an owner, 1 from DaemonSets, 1 from Jobs",
				"Pods left the database node during the attempt: 1 from Jobs",
			},
		},
		"one side is sealed": {
			before: (&Neighborhood{Pods: jobs}).Sealed("k"), after: &Neighborhood{Pods: jobs[1:]},
			want:     &Neighbors{Pods: 4, Departed: Visitors{Count: 1, Unnamed: []OwnerCount{{OwnerJob, 1}}}},
			warnings: []string{"Pods left the database node during the attempt: 1 from Jobs"},
		},
		"a kind that nobody knows": {
			before: &Neighborhood{}, after: &Neighborhood{Pods: []Neighbor{{ID: "1", Owner: "Ransom\x1b[2J"}}},
			want:     &Neighbors{Arrived: Visitors{Count: 1, Unnamed: []OwnerCount{{"Ransom\x1b[2J", 1}}}},
			warnings: []string{"Pods started on the database node during the attempt: 1 from other kinds of owners"},
		},
	} {
		got := Between(tc.before, tc.after)
		if got != nil && len(got.Arrived.Names) == 0 {
			got.Arrived.Names = nil
		}
		if got != nil && len(got.Departed.Names) == 0 {
			got.Departed.Names = nil
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tc.warnings, finding.Texts(got.Findings())); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
		}
	}
}

// What is sealed tells no UID, not even that a Pod is the same in two attempts, and its order tells nothing either.
func TestSealed(t *testing.T) {
	const uid, other = "6a5e2f0c-5f0e-4c38-9a6c-1f7b5a9d1c11", "0b0f6d0e-3b9c-4a52-8f5e-2d7c0d0c7f22"
	encode := func(key string, uids ...string) string {
		n := &Neighborhood{}
		for _, u := range uids {
			n.Pods = append(n.Pods, Neighbor{ID: u, Owner: OwnerJob})
		}
		text, err := json.Marshal(n.Sealed(key))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := encode("one", uid, other)
	if strings.Contains(text, uid) || strings.Contains(text, "one") || text == encode("two", uid, other) {
		t.Errorf("it is sealed as %s", text)
	}
	if again := encode("one", other, uid); again != text {
		t.Errorf("the order of the Pods is told: %s and %s", text, again)
	}
	if encode("one", uid) == encode("one", other) {
		t.Error("two Pods are the same")
	}
}
