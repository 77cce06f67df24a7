// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "github.com/benchrun-dev/benchrun/api/v1alpha1"

// HostTuningRefused is why a run that asks for host tuning cannot have it, or nil. It is allowed if the administrator has switched
// it on for the installation.
func HostTuningRefused(run *v1alpha1.BenchmarkRun, allowed bool) *Failure {
	if run.Spec.Database.HostTuning == nil || allowed {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonHostTuningNotAllowed, Message: "database.hostTuning changes kernel settings of a node, " +
		"which this installation does not allow: leave it out, or have an administrator set hostTuning.enabled: true in the Helm chart " +
		"(the operator's flag --host-tuning)"}
}
