// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BenchmarkRunStatus is the progress of a run and what it has measured. After the run has finished, only ResultsAvailable and
// hostTuning change.
type BenchmarkRunStatus struct {
	// conditions are Admitted, DatabaseReady, Complete, Failed, Suspended, ResultsAvailable, Finished (Complete or Failed, with
	// results written: scripts wait for it), and Ready, Reconciling and Stalled for Helm and Flux.
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

	// progress is trials measured of trials planned, for example 7/33.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// trials counts trials and attempts.
	// +optional
	Trials TrialCounts `json:"trials,omitzero"`

	// answer is what was measured, in short. It may change until Finished.
	// +optional
	Answer AnswerStatus `json:"answer,omitzero"`

	// points measured so far, in the order of the sweep: at most 64. The results have all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:MinItems=1
	Points []PointStatus `json:"points,omitempty"`

	// What variants say about each other; empty without them.
	VariantsStatus `json:",inline"`

	// claimed counts the verdicts: "holds: 2, does not hold: 1".
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

	// installation of Benchrun that acts on it, as NAMESPACE/NAME: the first that saw it, or one that took over.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	Installation string `json:"installation,omitempty"`

	// images of the run, as of its admission; after the first accepted attempt by digest, if nodes pull them from a registry.
	// +optional
	Images ImagesStatus `json:"images,omitzero"`

	// environment of run or baseline: server, images, nodes, storage.
	// +optional
	Environment Environment `json:"environment,omitzero"`

	// findings must be read with the numbers.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Findings []FindingStatus `json:"findings,omitempty"`

	// hostTuning is what database.hostTuning has changed on each node, at most 16.
	// +optional
	// +listType=map
	// +listMapKey=node
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:MinItems=1
	HostTuning []HostTuningStatus `json:"hostTuning,omitempty"`

	// results names the published results.
	// +optional
	Results ResultsReference `json:"results,omitzero"`

	// operatorState is the operator's own state.
	// +optional
	RunState `json:"operatorState,omitzero"`
}

// AnswerStatus is the best point's median or, with variants, their largest difference.
type AnswerStatus struct {
	// text for a column: "14970 rows/s at rowsPerCommit=1024", "lazy 1.7× as fast (1.6–1.8×)".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Text string `json:"text,omitempty"`

	// detail is the answer in a sentence, with its interval.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail,omitempty"`

	// verdict of the largest difference, or of all pairs.
	// +optional
	// +kubebuilder:validation:Enum=Faster;Slower;Equal;NoDifferenceShown;CannotSay
	Verdict Verdict `json:"verdict,omitempty"`

	// The ratio that detail begins with.
	RatioStatus `json:",inline"`
}

// RatioStatus is the ratio of a variant's values to the baseline's; empty if it is not bounded.
type RatioStatus struct {
	// ratio to the baseline, with at most four significant digits.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Ratio string `json:"ratio,omitempty"`

	// low end of its interval.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Low string `json:"low,omitempty"`

	// high end of its interval.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	High string `json:"high,omitempty"`
}

// RunState is what the operator cannot compute again.
type RunState struct {
	// records is the newest record of an attempt. Each record names the one before it; others do not count.
	// +optional
	Records RecordReference `json:"records,omitzero"`

	// What the operator has made itself, and knows by it.
	MadeObjects `json:",inline"`

	// removedInstances is the highest number of a removed database instance. Numbers are not used again.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RemovedInstances *int32 `json:"removedInstances,omitempty"`
}

// RefusalStatus is an object that the API server refuses. Creation is retried until trials.startDeadlineSeconds after startTime;
// then it ends Rejected.
type RefusalStatus struct {
	// object that is refused, by kind and name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Object string `json:"object,omitempty"`

	// instance is the number of the database instance that it belongs to. Unset: none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Instance *int32 `json:"instance,omitempty"`

	// startTime is since when it has been refused.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
}

// RecordReference names the record of an attempt.
type RecordReference struct {
	// configMap that holds the record.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap,omitempty"`

	// digest of the record: sha256 and its hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Digest string `json:"digest,omitempty"`
}

// MadeObjects are what the operator has made. An object with such a name and another UID is not the run's.
type MadeObjects struct {
	// attempt is the newest attempt's Job.
	// +optional
	Attempt ObjectReference `json:"attempt,omitzero"`

	// tokenDigests are SHA-256 of tokens, one of which the next attempt's Job carries: one for each operator that may make it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	TokenDigests []string `json:"tokenDigests,omitempty"`

	// servers are the newest database instances, one for each variant: their StatefulSets, MariaDB resources or
	// PodDisruptionBudgets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Servers []ObjectReference `json:"servers,omitempty"`

	// dataCopies are the claims with copies of prepared data, one for each variant.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	DataCopies []ObjectReference `json:"dataCopies,omitempty"`

	// secret is the name of the Secret with the credentials, from before it is created.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Secret string `json:"secret,omitempty"`
}

// ObjectReference names an object.
type ObjectReference struct {
	// name of the object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid of the object.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
}

// TrialCounts counts trials and attempts.
type TrialCounts struct {
	// planned trials.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Planned *int32 `json:"planned,omitempty"`

	// measured trials: those with an accepted attempt.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Measured *int32 `json:"measured,omitempty"`

	// invalidated attempts: disturbed, excluded from all summaries.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Invalidated *int32 `json:"invalidated,omitempty"`

	// failed attempts: those that ended the run.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed *int32 `json:"failed,omitempty"`
}

// ParameterValue is the value of a swept parameter.
//
// +kubebuilder:validation:MaxLength=256
type ParameterValue string

// PointStatus is the summary of one point.
type PointStatus struct {
	// variant that was measured. Absent: the run has none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Variant string `json:"variant,omitempty"`

	// parameters of the point; empty if nothing is swept.
	// +optional
	// +kubebuilder:validation:MaxProperties=6
	// +kubebuilder:validation:MinProperties=1
	Parameters map[string]ParameterValue `json:"parameters,omitempty"`

	// n is the number of trials.
	// +optional
	// +kubebuilder:validation:Minimum=1
	N int32 `json:"n,omitempty"`

	// metric that was measured, for example rowsPerSecond.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric,omitempty"`

	// median of the trials in unit: a decimal number with at most four significant digits, with an exponent from 1e16 on and
	// below 1e-6.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Median string `json:"median,omitempty"`

	// low is the lower end of the interval.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Low string `json:"low,omitempty"`

	// high is the upper end of the interval.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	High string `json:"high,omitempty"`

	// interval says what low and high are: MinMax (fewer than 6 trials) or Confidence95.
	// +optional
	// +kubebuilder:validation:Enum=MinMax;Confidence95
	Interval IntervalKind `json:"interval,omitempty"`

	// unit of median, low and high.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Unit string `json:"unit,omitempty"`
}

// FindingTexts are the findings for people, with the points that they are about.
func (s *BenchmarkRunStatus) FindingTexts() []string {
	var list []string
	for _, f := range s.Findings {
		if f.At != "" {
			f.Text = f.At + ": " + f.Text
		}
		list = append(list, f.Text)
	}
	return list
}

// FindingStatus is a remark that travels with the numbers.
type FindingStatus struct {
	// code of docs/reference/findings.md. Unset in the last if it counts those left out.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Code string `json:"code,omitempty"`

	// severity is Notice or Warning.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16
	Severity string `json:"severity,omitempty"`

	// at names the points that it is about. Unset: all.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	At string `json:"at,omitempty"`

	// text for people.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Text string `json:"text,omitempty"`
}

// IntervalKind says what the interval around a median is.
type IntervalKind string

const (
	// IntervalMinMax is the range of all values.
	IntervalMinMax IntervalKind = "MinMax"
	// IntervalConfidence95 is the 95% confidence interval of the median.
	IntervalConfidence95 IntervalKind = "Confidence95"
)

// ResultsReference names the published results.
type ResultsReference struct {
	// configMap that holds results.csv, results.json, results.bench and summary.md.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap,omitempty"`

	// digest of results.json: sha256 and hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Digest string `json:"digest,omitempty"`

	// fromRun is the UID of an earlier run of the same name and specification whose retained results these are.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	FromRun string `json:"fromRun,omitempty"`
}
