// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkComparisonStatus is the progress of a comparison and its answers. It does not change after the comparison has
// finished.
type BenchmarkComparisonStatus struct {
	// conditions are Admitted (it has its lane), Decided (every pair has its answer), Complete, Failed, Suspended, Finished
	// (Complete or Failed, with results written: scripts wait for it), and Ready, Reconciling and Stalled for Helm and Flux.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:MinItems=1
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this describes; -1: none yet.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// queuedTime is when it was created or last resumed: the order of admission to a lane. Unset: suspended.
	// +optional
	QueuedTime *metav1.Time `json:"queuedTime,omitempty"`

	// startTime is when it first had its lane.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// deadline is when it ends without progress or, with spec.deadlineSeconds, at the latest. Time in which it is suspended or
	// waits again moves it.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`

	// suspendedSeconds is how long it was suspended since its start, and then waited for its lane.
	// +optional
	// +kubebuilder:validation:Minimum=1
	SuspendedSeconds *int64 `json:"suspendedSeconds,omitempty"`

	// installation of Benchrun that acts on it, as NAMESPACE/NAME: the first that saw it, or one that took over.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	Installation string `json:"installation,omitempty"`

	// images of all runs, as of its admission.
	// +optional
	Images ImagesStatus `json:"images,omitzero"`

	// What the variants say about each other.
	VariantsStatus `json:",inline"`

	// refusal is the object that the API server refuses now. Unset: none.
	// +optional
	Refusal RefusalStatus `json:"refusal,omitzero"`

	// completionTime is when it finished.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// expirationTime is when it is deleted. Unset: it stays.
	// +optional
	ExpirationTime *metav1.Time `json:"expirationTime,omitempty"`

	// elapsed is the time from startTime to the last result, for example 4m31s.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Elapsed string `json:"elapsed,omitempty"`

	// progress is rounds measured of the most, for example 6/20.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// rounds counts rounds.
	// +optional
	Rounds RoundCounts `json:"rounds,omitzero"`

	// runs counts the runs of the comparison.
	// +optional
	Runs RunCounts `json:"runs,omitzero"`

	// result is the answer in at most 40 characters: the largest difference, for example "lazy 3.1× as fast (2.8–3.4×)", with
	// "overall" if it is over all points.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Result string `json:"result,omitempty"`

	// claimed says how many claims hold, for example "2 hold, 1 does not hold".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Claimed string `json:"claimed,omitempty"`

	// claims are the verdicts about the claims, in the order of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:MinItems=1
	Claims []ClaimStatus `json:"claims,omitempty"`

	// database says how many servers the runs have measured, if the variants share one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Database string `json:"database,omitempty"`

	// results names the published results.
	// +optional
	Results ResultsReference `json:"results,omitzero"`

	// operatorState is the operator's own state.
	// +optional
	ComparisonState `json:"operatorState,omitzero"`
}

// ComparisonState is what the operator cannot compute again.
type ComparisonState struct {
	// currentRuns are the runs that the comparison has made for this round. Only these may measure in its lane.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	CurrentRuns []CurrentRun `json:"currentRuns,omitempty"`

	// disturbed are the attempts at this round in which a slice was invalidated, with alternation Slices.
	// +optional
	Disturbed DisturbedRound `json:"disturbed,omitzero"`

	// lastInstance is the highest number of an instance of a shared database. Numbers are not used again.
	// +optional
	// +kubebuilder:validation:Minimum=0
	LastInstance *int32 `json:"lastInstance,omitempty"`
}

// DisturbedRound is a round that is measured again.
type DisturbedRound struct {
	// round is its number.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Round int32 `json:"round,omitempty"`

	// attempts are the UIDs of the first run of each disturbed attempt.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=101
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	Attempts []string `json:"attempts,omitempty"`
}

// RoundCounts counts the rounds of a comparison.
type RoundCounts struct {
	// planned is the most rounds that are measured.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Planned *int32 `json:"planned,omitempty"`

	// measured are the rounds in which every variant was measured.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Measured *int32 `json:"measured,omitempty"`
}

// CurrentRun is a run that may measure.
type CurrentRun struct {
	// name of the run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid of the run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// trials is how many trials the run may have measured before it waits for the other variants; above the number of all of its
	// trials, it may end. Unset: it does not wait.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Trials *int32 `json:"trials,omitempty"`
}

// RunCounts counts the runs of a comparison.
type RunCounts struct {
	// finished runs, whatever their end. Deleting one ends the comparison.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Finished *int32 `json:"finished,omitempty"`

	// invalidated attempts of all runs.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Invalidated *int32 `json:"invalidated,omitempty"`
}
