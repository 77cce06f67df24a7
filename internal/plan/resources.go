// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/benchrun-dev/benchrun/api/v1alpha1"

// DefaultCPUMillis is the CPU limit of a server whose resources are not specified, in thousandths of a CPU.
const DefaultCPUMillis = 1000

// CPULimitMillis is the CPU limit of the server that a run asks for, in thousandths of a CPU; 0 is none.
func CPULimitMillis(db *v1alpha1.DatabaseSpec) int64 {
	if db.Resources.Limits == nil && db.Resources.Requests == nil {
		return DefaultCPUMillis
	}
	return db.Resources.Limits.Cpu().MilliValue()
}
