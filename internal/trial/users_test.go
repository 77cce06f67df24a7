// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// The Job of a loader in an image of the user's own asks for users in two places, and for none if the cluster gives them.
func TestUsersAreLeftToTheCluster(t *testing.T) {
	made := job(t, toolJobs()["custom"])
	users := func() int {
		text, err := json.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), `"runAsUser":`)
	}
	before := users()
	podutil.LeaveUsers(made)
	if after := users(); before != 2 || after != 0 {
		t.Errorf("%d users, %d of them left", before, after)
	}
}
