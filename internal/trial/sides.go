// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// NotBeside says why a run's server cannot be up together with those of other variants; empty if it can. It is for the run's
// author, as what follows.
func NotBeside(run *v1alpha1.BenchmarkRunSpec) string {
	switch {
	case run.Database.HostTuning != nil:
		return "database.hostTuning tunes the node for one server"
	case run.Database.Provisioner == v1alpha1.ProvisionerExternal:
		return "an external server is there once"
	case run.Trials.Server == v1alpha1.ServerPerTrial:
		return "trials.server is PerTrial, and the servers of a round stay for all of its trials"
	}
	return ""
}

// NotASide says why a run cannot be measured in slices by a loader that measures other variants too; empty if it can.
func NotASide(run *v1alpha1.BenchmarkRunSpec) string {
	switch s := run.Workload.Sysbench; {
	case run.Workload.Type == v1alpha1.WorkloadCustom:
		return "nobody counts what the program of workload Custom does in one"
	case s != nil && offersRate(s):
		return "sysbench's schedule of a rate goes on while it is halted"
	case s != nil && s.Events != nil:
		return "workload.sysbench.events is set, and a slice is bounded by seconds"
	case run.Workload.IIBench.InStages():
		return "stages have a measured phase each"
	case run.Trials.MinSeconds != nil:
		return "trials.minSeconds decides about the rows of all variants by a trial of one"
	case run.Loader.Pods > 1:
		return "one loader Pod measures all variants, and loader.pods is more"
	case run.Loader.Transport == v1alpha1.TransportUnixSocket:
		return "loader.transport is UnixSocket, which leads to one server"
	case run.Database.Provisioner == v1alpha1.ProvisionerMariaDBOperator && run.Database.TLS.Mode == v1alpha1.TLSVerifyIdentity:
		return "each server of the MariaDB operator has an authority of its own"
	}
	return ""
}

// offersRate says whether any point of the workload has a rate.
func offersRate(s *v1alpha1.SysbenchWorkload) bool {
	return ptr.Deref(s.RatePerSecond, 0) > 0 || s.Sweep != nil && len(s.Sweep.RatePerSecond) > 0 ||
		slices.ContainsFunc(s.Points, func(p v1alpha1.SysbenchPoint) bool { return ptr.Deref(p.RatePerSecond, 0) > 0 })
}

// addSides gives a loader that measures several servers their addresses, and what all of their clients need: as much as so many
// loaders would have.
func addSides(spec *corev1.PodSpec, sides *result.Sides, servers []Side) {
	spec.HostAliases = nil
	for i := range servers {
		spec.HostAliases = append(spec.HostAliases, serverAddress(&sides.Each[i].Server, servers[i].Address)...)
	}
	c := &spec.Containers[0]
	for _, list := range []corev1.ResourceList{c.Resources.Limits, c.Resources.Requests} {
		if memory, has := list[corev1.ResourceMemory]; has {
			memory.Mul(int64(len(servers)))
			list[corev1.ResourceMemory] = memory
		}
	}
}

// SameFiles says whether all variants of a run have the same files for their workload, which one Pod mounts.
func SameFiles(run *v1alpha1.BenchmarkRun) bool {
	first := plan.Side(run, 0, 1).Spec.Workload
	for i := range run.Spec.Variants {
		w := plan.Side(run, i, 1).Spec.Workload
		if !equality.Semantic.DeepEqual(w.DataFrom, first.DataFrom) || !equality.Semantic.DeepEqual(w.SchemaFrom, first.SchemaFrom) {
			return false
		}
	}
	return true
}
