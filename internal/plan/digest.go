// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Digest of what a specification asks to be measured: runs with the same digest ask for the same. Title, claims, plots, tables,
// lane, suspend, deadlines, lifetime, clean-up and pull secrets are left out, because they do not change a number. The prefix is
// the version of this method and of the names of the fields: v2 since trials.server.
func Digest(spec *v1alpha1.BenchmarkRunSpec) (string, error) {
	measured := spec.DeepCopy()
	measured.Title = ""
	measured.Claims = nil
	measured.Plots = nil
	measured.Tables = nil
	measured.Lane = ""
	measured.Suspend = nil
	measured.DeadlineSeconds = nil
	measured.QueueDeadlineSeconds = nil
	measured.TTLSecondsAfterFinished = nil
	measured.Cleanup = ""
	measured.ImagePullSecrets = nil
	measured.Results = v1alpha1.ResultsSpec{}
	data, err := json.Marshal(measured)
	if err != nil {
		return "", fmt.Errorf("encoding the specification: %w", err)
	}
	sum := sha256.Sum256(data)
	return "v2:sha256:" + hex.EncodeToString(sum[:]), nil
}
