// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// classNotEffective says why the block I/O class that a run asks for does not limit an instance. It is empty if it does, if none
// is asked for, and until that is known.
func classNotEffective(run *v1alpha1.BenchmarkRun, i *Instance) string {
	class := run.Spec.Database.Storage.BlockIOClass
	if class == "" || i.Pod == nil {
		return ""
	}
	const remedy = "; the administrator of the nodes defines the classes in the configuration of the container runtime"
	if database.BlockIORefused(i.Pod) {
		return fmt.Sprintf("the container runtime of node %s has no block I/O class %s%s", i.Pod.Spec.NodeName, class, remedy)
	}
	f := PodFingerprint(i.Pod)
	switch {
	case f == nil:
		return ""
	case f.BlockIO == result.NoLimit:
		return fmt.Sprintf("block I/O class %s does not limit the disk of the data volume (%s) on node %s%s", class, f.Device,
			i.Pod.Spec.NodeName, remedy)
	case f.BlockIO == result.Unknown || f.BlockIO == "":
		return fmt.Sprintf("cannot read whether block I/O class %s is in force on node %s", class, i.Pod.Spec.NodeName)
	}
	return ""
}
