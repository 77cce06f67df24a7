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
func SharesDatabase(comparison *v1alpha1.BenchmarkRun) bool {
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
func EqualVariants(comparison *v1alpha1.BenchmarkRun) (equal []int) {
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
	// PodUID is that of the Pod that served the last attempt; empty if it is unknown.
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
