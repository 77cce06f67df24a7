// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strconv"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// SharesDatabase says whether the runs of a comparison share one database, which is then the comparison's. It must be the same
// for all variants, be provided by Benchrun, be reused between trials, and not begin with a copy in each run. Its node is not
// tuned: a run tunes it for a database of its own. Runs that take turns are under way at the same time, and each has its own.
func SharesDatabase(comparison *v1alpha1.BenchmarkComparison) bool {
	first := MemberRun(comparison, Member{}).Spec
	if comparison.Spec.Alternation.Together() || first.Database.Provisioner == v1alpha1.ProvisionerExternal ||
		first.Trials.Server == v1alpha1.ServerFresh || first.Trials.Data == v1alpha1.DataRestore || first.Database.HostTuning != nil {
		return false
	}
	for i := range comparison.Spec.Variants {
		other := MemberRun(comparison, Member{Variant: i}).Spec
		other.Workload = first.Workload // the rest that a variant can change is the database
		if differences, err := Differences(&first, &other); err != nil || len(differences) > 0 {
			return false
		}
	}
	return true
}

// EqualVariants are those that differ from an earlier one in nothing, by their number.
func EqualVariants(comparison *v1alpha1.BenchmarkComparison) (equal []int) {
	digests := map[string]bool{}
	for i := range comparison.Spec.Variants {
		run := MemberRun(comparison, Member{Variant: i})
		digest, err := Digest(&run.Spec)
		if err == nil && digests[digest] {
			equal = append(equal, i)
		}
		digests[digest] = true
	}
	return equal
}

// Served is a database instance that has served attempts.
type Served struct {
	// Number of the instance; 0 is none.
	Number int
	// PodUID is that of the Pod that served the last attempt; empty if nobody knows it.
	PodUID string
}

// Share has a run of a comparison use the comparison's database, of which this instance is the one with the highest number so
// far.
func Share(run *v1alpha1.BenchmarkRun, last Served) {
	if run.Annotations == nil {
		run.Annotations = map[string]string{}
	}
	run.Annotations[v1alpha1.AnnotationSharedInstance] = strconv.Itoa(last.Number)
	if last.PodUID != "" {
		run.Annotations[v1alpha1.AnnotationSharedPod] = last.PodUID
	}
}

// SharedBy is the instance that the runs before this one of the same comparison have used, and whether the run shares the
// database of its comparison at all. Only a run that a comparison controls does, whatever its annotations say.
func SharedBy(run *v1alpha1.BenchmarkRun) (last Served, shares bool) {
	number, shares := run.Annotations[v1alpha1.AnnotationSharedInstance]
	if _, uid := ComparisonOf(run); uid == "" || !shares {
		return Served{}, false
	}
	last.PodUID = run.Annotations[v1alpha1.AnnotationSharedPod]
	var err error
	if last.Number, err = strconv.Atoi(number); err != nil {
		return Served{}, true // somebody has changed it: what is there decides
	}
	return last, true
}

// Owner is the object that the database instances of a run belong to: their names, their labels and their credentials follow from
// it. It is the run itself or, if the run shares its database with others, its comparison.
type Owner struct {
	Kind, Name, UID string
	// NameLabel and UIDLabel are the keys of the labels with its name and its UID.
	NameLabel, UIDLabel string
}

// RunKind is the kind of runs.
const RunKind = "BenchmarkRun"

// DatabaseOwner is the owner of a run's database instances.
func DatabaseOwner(run *v1alpha1.BenchmarkRun) Owner {
	if _, shares := SharedBy(run); shares {
		name, uid := ComparisonOf(run)
		return Owner{ComparisonKind, name, uid, v1alpha1.LabelComparison, v1alpha1.LabelComparisonUID}
	}
	return Owner{RunKind, run.Name, string(run.UID), v1alpha1.LabelRun, v1alpha1.LabelRunUID}
}

// InstanceLabels are on every object of a database instance. One that runs share is none of theirs: its labels name the
// comparison alone.
func InstanceLabels(run *v1alpha1.BenchmarkRun, instance int) map[string]string {
	labels := DatabaseLabels(run)
	labels[v1alpha1.LabelInstance] = strconv.Itoa(instance)
	return labels
}

// DatabaseLabels are on what all instances have in common.
func DatabaseLabels(run *v1alpha1.BenchmarkRun) map[string]string {
	labels := Labels(run, v1alpha1.ComponentDatabase)
	owner := DatabaseOwner(run)
	labels["app.kubernetes.io/instance"] = owner.Name
	if owner.Kind == ComparisonKind {
		delete(labels, v1alpha1.LabelRun)
		delete(labels, v1alpha1.LabelRunUID)
	}
	return labels
}
