// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkComparison compares variants of one run. Every round measures each variant, as a BenchmarkRun of its own, in a newly
// drawn order.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bcmp,categories=benchmarks
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What the comparison is doing, or how it ended"
// +kubebuilder:printcolumn:name="Rounds",type=string,JSONPath=`.status.progress`,description="Rounds measured, of at most so many"
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.result`,description="What the comparison shows, in a few words"
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.elapsed`,description="From the first reconcile to the last result"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Answer",type=string,priority=1,JSONPath=`.status.answer`,description="What the comparison shows"
// +kubebuilder:printcolumn:name="Baseline",type=string,priority=1,JSONPath=`.status.baseline`
// +kubebuilder:printcolumn:name="Claims",type=string,priority=1,JSONPath=`.status.claimed`,description="What the numbers say of the claims"
// +kubebuilder:printcolumn:name="Workload",type=string,priority=1,JSONPath=`.spec.template.spec.workload.type`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a comparison's name is lower case letters, digits and '-'; it begins with a letter and ends with a letter or digit"
// +kubebuilder:validation:XValidation:rule="self.spec.variants.all(v, size(self.metadata.name) + size(v.name) <= (self.spec.maxRounds > 99 ? 34 : 35))",message="the name of the comparison and the name of each variant have at most 35 characters together (34 with more than 99 rounds): a run's name has at most 40, and those of a comparison are <comparison>-r<round>-<variant>"
type BenchmarkComparison struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The names of the comparison and of each variant have at most 35 characters
	// together, 34 with more than 99 rounds: runs are called <comparison>-r<round>-<variant>.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what to compare. Only suspend, deadlineSeconds, queueDeadlineSeconds and ttlSecondsAfterFinished can be changed.
	// +required
	Spec BenchmarkComparisonSpec `json:"spec,omitzero"`

	// status is the progress and the answers.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status BenchmarkComparisonStatus `json:"status,omitzero"`
}

// BenchmarkComparisonList is a list of BenchmarkComparisons.
//
// +kubebuilder:object:root=true
type BenchmarkComparisonList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []BenchmarkComparison `json:"items"`
}

// BenchmarkComparisonSpec is what to compare.
//
// +kubebuilder:validation:XValidation:rule="has(self.baseline) == has(oldSelf.baseline) && (!has(self.baseline) || self.baseline == oldSelf.baseline) && has(self.claims) == has(oldSelf.claims) && (!has(self.claims) || self.claims == oldSelf.claims)",message="baseline and claims cannot be changed: delete the comparison, or create one with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || self.variants.exists(v, v.name == self.baseline)",message="baseline must be the name of one of the variants"
// +kubebuilder:validation:XValidation:rule="self.earlyStop.policy == 'Disabled' || self.earlyStop.minRounds <= self.maxRounds",message="earlyStop.minRounds (6 by default) must not be above maxRounds"
// +kubebuilder:validation:XValidation:rule="self.variants.all(v, !has(v.workload) || !has(v.workload.type) || v.workload.type == self.template.spec.workload.type)",message="all variants have the template's workload.type: numbers of different workloads cannot be compared"
// +kubebuilder:validation:XValidation:rule="self.maxRounds * size(self.variants) <= 400",message="maxRounds times the number of variants must not be above 400, the largest number of runs of a comparison: allow fewer rounds, or compare fewer variants"
// +kubebuilder:validation:XValidation:rule="has(self.trialsPerRound) == has(oldSelf.trialsPerRound)",message="trialsPerRound cannot be changed: delete the comparison, or create one with another name"
// +kubebuilder:validation:XValidation:rule="self.alternation in ['Trials', 'Slices'] || !has(self.trialsPerRound) || self.trialsPerRound == 1",message="trialsPerRound needs alternation: Trials or Slices"
// +kubebuilder:validation:XValidation:rule="!(self.alternation in ['Trials', 'Slices']) || self.template.spec.trials.server != 'Fresh'",message="alternation: Trials and Slices keep the servers of a round: template.spec.trials.server must be Reused"
// +kubebuilder:validation:XValidation:rule="has(self.sliceMilliseconds) == has(oldSelf.sliceMilliseconds)",message="sliceMilliseconds cannot be changed: delete the comparison, or create one with another name"
// +kubebuilder:validation:XValidation:rule="self.alternation == 'Slices' || !has(self.sliceMilliseconds)",message="sliceMilliseconds needs alternation: Slices"
type BenchmarkComparisonSpec struct {
	// template is the run that all variants are made of: a whole run by itself. The comparison holds its lane from the first run
	// to the end.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="template cannot be changed: delete the comparison, or create one with another name"
	Template RunTemplate `json:"template,omitzero"`

	// variants are the template with what each variant names laid over it. Those that differ in their workload alone share one
	// server, unless provisioner is External or trials.server is Fresh.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="variants cannot be changed: delete the comparison, or create one with another name"
	Variants []Variant `json:"variants,omitempty"`

	// baseline is the variant that the others are compared with. Unset: the first.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Baseline string `json:"baseline,omitempty"`

	// maxRounds is how often each variant is measured at most; fewer than 6 give no verdict. With all variants at most 400 runs.
	// From 2 to 200; defaults to 20.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=200
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="maxRounds cannot be changed: delete the comparison, or create one with another name"
	MaxRounds int32 `json:"maxRounds,omitempty"`

	// alternation is what takes turns within a round: Runs (one variant at a time), Trials (all servers are up), Slices (of
	// trials), or Automatic: the first of Slices, Trials and Runs that is possible. Defaults to Automatic. See
	// https://github.com/benchrun-dev/benchrun/blob/main/docs/how-to/compare-variants.md
	// +optional
	// +kubebuilder:default=Automatic
	// +kubebuilder:validation:Enum=Automatic;Runs;Trials;Slices
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="alternation cannot be changed: delete the comparison, or create one with another name"
	Alternation Alternation `json:"alternation,omitempty"`

	// trialsPerRound is how often a round measures each point, with alternation Trials or Slices. Their geometric mean is the
	// value of the round. From 1 to 50; unset: 6 with alternation Trials, or 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="trialsPerRound cannot be changed: delete the comparison, or create one with another name"
	TrialsPerRound *int32 `json:"trialsPerRound,omitempty"`

	// sliceMilliseconds is the mean length of a slice, drawn from 0.5 to 1.5 times this. Statements under way at its end are
	// finished. From 500 to 60000; unset: 500.
	// +optional
	// +kubebuilder:validation:Minimum=500
	// +kubebuilder:validation:Maximum=60000
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="sliceMilliseconds cannot be changed: delete the comparison, or create one with another name"
	SliceMilliseconds *int32 `json:"sliceMilliseconds,omitempty"`

	// equivalencePercent is the difference that does not matter: closer variants are equal. From 1 to 50; defaults to 5.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="equivalencePercent cannot be changed: delete the comparison, or create one with another name"
	EquivalencePercent int32 `json:"equivalencePercent,omitempty"`

	// earlyStop ends the comparison as soon as the answer is known.
	// +optional
	// +kubebuilder:default={}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="earlyStop cannot be changed: delete the comparison, or create one with another name"
	EarlyStop EarlyStopSpec `json:"earlyStop,omitzero"`

	// claims to test about the numbers of all variants. The comparison does not end early before each has its verdict.
	// +optional
	Claims Claims `json:"claims,omitempty"`

	// seed of the order of variants and of the runs' seeds, one for each round. From 0 to 9007199254740991; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="seed cannot be changed: delete the comparison, or create one with another name"
	Seed *int64 `json:"seed,omitempty"`

	// suspend stops the comparison and its current run, and releases the lane; measurements are kept. With alternation Trials or
	// Slices, the round begins again later. Defaults to false.
	// +optional
	// +kubebuilder:default=false
	Suspend *bool `json:"suspend,omitempty"`

	// deadlineSeconds ends it this long after its start, without the time in which it is suspended or waits for its lane. Unset:
	// it ends without progress for as long as an attempt may take. From 1 to 31536000. See
	// https://github.com/benchrun-dev/benchrun/blob/main/docs/concepts.md#deadlines
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	DeadlineSeconds *int32 `json:"deadlineSeconds,omitempty"`

	// queueDeadlineSeconds ends it when it has waited this long for its lane, since it was created or resumed. Unset: no limit.
	// From 1 to 31536000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	QueueDeadlineSeconds *int32 `json:"queueDeadlineSeconds,omitempty"`

	// ttlSecondsAfterFinished deletes the comparison and its runs this long after its end, with results that are not retained.
	// Unset: the installation's default, 30 days unless changed. From 0 to 31536000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// results is how long the comparison's results are kept. The template says it for those of runs.
	// +optional
	// +kubebuilder:default={}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="results cannot be changed: delete the comparison, or create one with another name"
	Results ResultsSpec `json:"results,omitzero"`
}

// RunTemplate is the run that variants are made of.
//
// +kubebuilder:validation:XValidation:rule="!has(self.spec.trials) || !(has(self.spec.trials.repetitions) || has(self.spec.trials.precision))",message="leave out repetitions and precision of template.spec.trials: each run of a comparison measures every point once, and maxRounds says how often that is repeated"
// +kubebuilder:validation:XValidation:rule="self.spec.seed == 1 && !self.spec.suspend && !has(self.spec.ttlSecondsAfterFinished)",message="leave out seed, suspend and ttlSecondsAfterFinished of template.spec: set those of the comparison"
// +kubebuilder:validation:XValidation:rule="self.spec.cleanup != 'Never'",message="template.spec.cleanup must not be Never: the database of each run is removed before the next run is measured"
type RunTemplate struct {
	// spec of a run, without title, claims, seed, suspend, ttlSecondsAfterFinished, trials.repetitions and trials.precision,
	// which the comparison sets. cleanup must not be Never.
	// +required
	Spec BenchmarkRunSpec `json:"spec,omitzero"`
}

// EarlyStopPolicy is whether a comparison ends before all rounds are measured.
type EarlyStopPolicy string

const (
	// EarlyStopWhenDecided ends it when every pair has its answer.
	EarlyStopWhenDecided EarlyStopPolicy = "WhenDecided"
	// EarlyStopWhenOverallDecided ends it when each variant has its answer over all points together.
	EarlyStopWhenOverallDecided EarlyStopPolicy = "WhenOverallDecided"
	// EarlyStopDisabled measures all rounds.
	EarlyStopDisabled EarlyStopPolicy = "Disabled"
)

// EarlyStopSpec is when a comparison ends before all rounds are measured.
type EarlyStopSpec struct {
	// policy is WhenDecided (the comparison ends when every pair is faster, slower, or equal within equivalencePercent),
	// WhenOverallDecided (when each variant is, over all points together) or Disabled (all rounds are measured). Defaults to
	// WhenDecided.
	// +optional
	// +kubebuilder:default=WhenDecided
	// +kubebuilder:validation:Enum=WhenDecided;WhenOverallDecided;Disabled
	Policy EarlyStopPolicy `json:"policy,omitempty"`

	// minRounds is the number of rounds before which it does not end. Equal is said after 10. From 6 to 200; defaults to 6.
	// +optional
	// +kubebuilder:default=6
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=200
	MinRounds int32 `json:"minRounds,omitempty"`
}
