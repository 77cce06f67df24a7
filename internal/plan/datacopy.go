// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/benchrun-dev/benchrun/api/v1alpha1"

// CopiesData says whether a run keeps a copy of its prepared data, with which further servers begin.
func CopiesData(run *v1alpha1.BenchmarkRun) bool { return run.Spec.Trials.Data == v1alpha1.DataRestore }

// DataOwner is the owner of the copy of a run's prepared data: its comparison, whose later runs begin with it, or the run itself.
func DataOwner(run *v1alpha1.BenchmarkRun) Owner {
	if name, uid := ComparisonOf(run); uid != "" {
		return Owner{ComparisonKind, name, uid, v1alpha1.LabelComparison, v1alpha1.LabelComparisonUID}
	}
	return Owner{RunKind, run.Name, string(run.UID), v1alpha1.LabelRun, v1alpha1.LabelRunUID}
}

// CredentialsOwner is the owner of the credentials of a run's database. They are in its data directory: servers that begin with
// the same copy have the same.
func CredentialsOwner(run *v1alpha1.BenchmarkRun) Owner {
	if CopiesData(run) {
		return DataOwner(run)
	}
	return DatabaseOwner(run)
}

// DataCopyName is the name of the claim with the copy of a run's prepared data. The variants of a comparison have one each: their
// servers may be different ones.
func DataCopyName(run *v1alpha1.BenchmarkRun) string {
	owner := DataOwner(run)
	if owner.Kind == ComparisonKind {
		return owner.Name + "-data-" + run.Labels[v1alpha1.LabelVariant]
	}
	return owner.Name + "-data"
}

// DataCopyLabels are on that claim.
func DataCopyLabels(run *v1alpha1.BenchmarkRun) map[string]string {
	owner := DataOwner(run)
	return map[string]string{
		"app.kubernetes.io/name":       "benchrun",
		"app.kubernetes.io/instance":   owner.Name,
		"app.kubernetes.io/component":  v1alpha1.ComponentDataCopy,
		"app.kubernetes.io/managed-by": "benchrun",
		v1alpha1.LabelComponent:        v1alpha1.ComponentDataCopy,
		owner.NameLabel:                owner.Name,
		owner.UIDLabel:                 owner.UID,
	}
}
