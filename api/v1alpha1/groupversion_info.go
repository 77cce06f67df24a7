// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is what people ask of Benchrun and what it answers.
//
// A BenchmarkRun is one database configuration × one workload × the points of its sweep × their repetitions. A point is
// one combination of swept parameters; a trial is one measured execution of the workload at one point; an attempt is one
// try at a trial. A disturbed attempt is invalidated and stays visible, and the trial is tried again.
//
// Everything that can be wrong in a specification and can be seen without asking the cluster is refused by the API server
// itself (OpenAPI bounds and CEL rules): there is no webhook.
//
// +kubebuilder:object:generate=true
// +groupName=benchrun.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the API group and version of every kind in this package.
	GroupVersion = schema.GroupVersion{Group: "benchrun.dev", Version: "v1alpha1"}

	// SchemeBuilder collects the functions that add this package's kinds to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds this package's kinds to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &BenchmarkRun{}, &BenchmarkRunList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Defaults that the operator needs too. The API server takes them from the markers of the fields; a test compares both.
const (
	// DefaultSeed is the seed of a run.
	DefaultSeed int64 = 1
	// DefaultRepetitions is the number of trials of each point without repetitions and precision.
	DefaultRepetitions int32 = 6
	// DefaultMaxInvalid is how many attempts may be invalidated.
	DefaultMaxInvalid int32 = 3
	// DefaultTrialDeadlineSeconds is how long an attempt may take.
	DefaultTrialDeadlineSeconds int32 = 3600
	// DefaultErrorPercent is how many transactions of a trial may be rolled back, in percent.
	DefaultErrorPercent int32 = 10
	// DefaultStorageSize is the size of the data volume.
	DefaultStorageSize = "5Gi"
)

// Labels, annotations and the field owner that Benchrun writes. All of a run's objects carry LabelRun and LabelRunUID, so
// that `kubectl get all,cm -l benchrun.dev/run=NAME` shows everything that belongs to it.
const (
	// LabelRun is the name of the BenchmarkRun that an object belongs to.
	LabelRun = "benchrun.dev/run"
	// LabelRunUID is its UID: a run that was deleted and made again under the same name is another run.
	LabelRunUID = "benchrun.dev/run-uid"
	// LabelComponent says what an object is for: one of the Component values.
	LabelComponent = "benchrun.dev/component"
	// LabelInstance is the number of a database instance, from 1; a number is never used twice within a run.
	LabelInstance = "benchrun.dev/instance"
	// LabelTrial is a trial's number in the plan, from 1.
	LabelTrial = "benchrun.dev/trial"
	// LabelAttempt is an attempt's number within its trial, from 1.
	LabelAttempt = "benchrun.dev/attempt"
	// LabelOutcome is how an attempt ended: Accepted, Invalidated or Failed.
	LabelOutcome = "benchrun.dev/outcome"
	// LabelLane is on the Lease of a lane: the lane's name.
	LabelLane = "benchrun.dev/lane"

	// LabelTunedNode is on the Lease of a tuned node.
	LabelTunedNode = "benchrun.dev/tuned-node"

	// LabelKueueQueue and LabelKueuePriority of a run are copied to its Jobs and StatefulSets, which Kueue
	// then admits.
	LabelKueueQueue    = "kueue.x-k8s.io/queue-name"
	LabelKueuePriority = "kueue.x-k8s.io/priority-class"

	// AnnotationHostTuning of the Lease of a tuned node has what was asked and done there, as JSON.
	AnnotationHostTuning = "benchrun.dev/host-tuning"

	// FieldOwner is the name under which Benchrun applies objects.
	FieldOwner = "benchrun.dev"

	// ComponentDatabase marks the objects of a database instance.
	ComponentDatabase = "database"
	// ComponentDataCopy marks the volume with a copy of prepared data, with which further servers begin.
	ComponentDataCopy = "data-copy"
	// ComponentLoader marks the Jobs and Pods that measure.
	ComponentLoader = "loader"
	// ComponentAttempt marks the ConfigMap of one attempt.
	ComponentAttempt = "attempt"
	// ComponentResults marks the ConfigMap of a finished run.
	ComponentResults = "results"
	// ComponentHostTuning marks the Lease of a tuned node, and the Jobs that tune and restore it.
	ComponentHostTuning = "host-tuning"
)
