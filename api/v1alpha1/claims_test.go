// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// A value that selects a point may be written as a number or as a text. It stays as it was written, and selects the same.
func TestSelectedValue(t *testing.T) {
	for written, want := range map[string]string{"16": "16", `"16"`: "16", `"0.5"`: "0.5", `"InnoDB"`: "InnoDB"} {
		var s PointSelector
		must.Do(t, json.Unmarshal([]byte(`{"parameters":{"p":`+written+`}}`), &s))
		again, err := json.Marshal(&s)
		if got := s.Parameters["p"].String(); got != want || err != nil || string(again) != `{"parameters":{"p":`+written+`}}` {
			t.Errorf("%s is %q, and becomes %s (%v)", written, got, again, err)
		}
	}
}
