// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// RunKind is the kind of runs.
const RunKind = "BenchmarkRun"

// Served is a database instance that has served attempts.
type Served struct {
	// Number of the instance; 0 is none.
	Number int
	// PodUID is that of the Pod that served the last attempt; empty if it is unknown.
	PodUID string
}

// InstanceLabels are on every object of a database instance.
func InstanceLabels(run *v1alpha1.BenchmarkRun, instance int) map[string]string {
	labels := Labels(run, v1alpha1.ComponentDatabase)
	labels[v1alpha1.LabelInstance] = strconv.Itoa(instance)
	return labels
}

// CopiesData says whether a run keeps a copy of its prepared data, with which further servers begin.
func CopiesData(run *v1alpha1.BenchmarkRun) bool { return run.Spec.Trials.Data == v1alpha1.DataRestore }

// DataCopyName is the name of the claim with the copy of the prepared data with which an instance begins: each variant has its
// own.
func DataCopyName(run *v1alpha1.BenchmarkRun, instance int) string {
	if len(run.Spec.Variants) == 0 {
		return run.Name + "-data"
	}
	return run.Name + "-data-" + run.Spec.Variants[VariantOf(run, instance)].Name
}

// ObserverPort is where the observer in a database's Pod answers.
const ObserverPort = 9706

// HasObserver says whether an observer runs beside the server: in the Pods that Benchrun itself makes, unless it is not
// wanted.
func HasObserver(db *v1alpha1.DatabaseSpec) bool {
	own := db.Provisioner == v1alpha1.ProvisionerStatefulSet || db.Provisioner == ""
	return own && db.Observer != v1alpha1.ObserverDisabled
}

// UsesSocket says whether the loader reaches the server by a Unix socket.
func UsesSocket(run *v1alpha1.BenchmarkRun) bool {
	return run.Spec.Loader.Transport == v1alpha1.TransportUnixSocket
}

// SocketClaim is the name of the volume claim that the Pods of a database instance and of its loaders share, with the socket.
func SocketClaim(run *v1alpha1.BenchmarkRun, instance int) string {
	return InstanceName(run, instance) + "-socket"
}

// DefaultCPUMillis is the CPU limit of a server whose resources are not specified, in thousandths of a CPU.
const DefaultCPUMillis = 1000

// CPULimitMillis is the CPU limit of the server that a run asks for, in thousandths of a CPU; 0 is none.
func CPULimitMillis(db *v1alpha1.DatabaseSpec) int64 {
	if db.Resources.Limits == nil && db.Resources.Requests == nil {
		return DefaultCPUMillis
	}
	return db.Resources.Limits.Cpu().MilliValue()
}
