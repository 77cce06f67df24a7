// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Variant is a run with changes.
type Variant struct {
	// name of the variant: a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// title for reports, in a few words. Unset: the name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Title string `json:"title,omitempty"`

	// remove takes what the run says of its database and workload away, by its path, for example database.variables.sync_binlog.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^(database|workload)(\.[^.]+)+$`
	Remove []string `json:"remove,omitempty"`

	// database is laid over that of the run, key by key in maps (variables, nodeSelector, limits, requests); a list replaces that of
	// the run.
	// +optional
	Database *DatabaseSpec `json:"database,omitempty"`

	// workload is laid over that of the run, key by key in maps; a list replaces that of the run, and type cannot be another.
	// +optional
	Workload *WorkloadSpec `json:"workload,omitempty"`

	// loader is laid over that of the run in the same way: one client machine or four, TCP or the socket. Such variants are measured
	// trial by trial or run by run.
	// +optional
	Loader *LoaderSpec `json:"loader,omitempty"`
}

// Alternation is what alternates between the variants of a round.
type Alternation string

const (
	// AlternateAutomatic is Slices or, where these are not possible, Trials or, where servers cannot be up together, Runs.
	AlternateAutomatic Alternation = "Automatic"
	// AlternateRuns measures all trials of one variant in a round after those of another.
	AlternateRuns Alternation = "Runs"
	// AlternateTrials keeps the servers of all variants of a round, and lets their trials take turns.
	AlternateTrials Alternation = "Trials"
	// AlternateSlices has one loader take turns between the servers of all variants within each trial.
	AlternateSlices Alternation = "Slices"
)

// Together says whether the servers of all variants of a round are up at the same time.
func (a Alternation) Together() bool { return a == AlternateTrials || a == AlternateSlices }

// RoundsUntil is when a run with variants has enough rounds.
type RoundsUntil string

const (
	// RoundsDecided: when every pair has its answer, and every claim its verdict.
	RoundsDecided RoundsUntil = "Decided"
	// RoundsOverallDecided: when each variant has its answer over all points together.
	RoundsOverallDecided RoundsUntil = "OverallDecided"
	// RoundsAll: when all are measured.
	RoundsAll RoundsUntil = "All"
)

// RoundsSpec is how many rounds a run with variants has.
//
// +kubebuilder:validation:XValidation:rule="self.until == 'All' || self.atLeast <= self.atMost",message="rounds.atLeast (6 by default) must not be above rounds.atMost"
type RoundsSpec struct {
	// atMost are the most rounds. Fewer than 6 give no verdict. From 2 to 200; defaults to 20.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=2
	// +kubebuilder:validation:Maximum=200
	AtMost int32 `json:"atMost,omitempty"`

	// atLeast are the fewest rounds. Equal takes 10. From 6 to 200; defaults to 6.
	// +optional
	// +kubebuilder:default=6
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=200
	AtLeast int32 `json:"atLeast,omitempty"`

	// until is Decided (every pair is; rounds leave out what is decided), OverallDecided (each variant is, over all points) or All.
	// Defaults to Decided.
	// +optional
	// +kubebuilder:default=Decided
	// +kubebuilder:validation:Enum=Decided;OverallDecided;All
	Until RoundsUntil `json:"until,omitempty"`
}

// VariantsStatus is what variants say about each other.
type VariantsStatus struct {
	// alternation of the spec or, if that is Automatic, the one chosen.
	// +optional
	// +kubebuilder:validation:Enum=Runs;Trials;Slices
	Alternation Alternation `json:"alternation,omitempty"`

	// alternationReason says why Automatic has not chosen Slices. Absent: it has.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	AlternationReason string `json:"alternationReason,omitempty"`

	// baseline is the variant that the others are compared with.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Baseline string `json:"baseline,omitempty"`

	// pairs compare each variant with the baseline, point by point: at most 64. The results have all.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:MinItems=1
	Pairs []PairStatus `json:"pairs,omitempty"`

	// overall compares variants over all of their points. Its intervals and those of pairs hold together at 95%.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=15
	// +kubebuilder:validation:MinItems=1
	Overall []PairStatus `json:"overall,omitempty"`

	// differences of each variant from the baseline: settings, image, resources, storage, workload.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:MinItems=1
	Differences []string `json:"differences,omitempty"`

	// volumes are the data volumes of the variants, as of their first measured run.
	// +optional
	// +listType=map
	// +listMapKey=variant
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:MinItems=1
	Volumes []VolumeStatus `json:"volumes,omitempty"`
}

// VolumeStatus describes the data volume of a variant. A value that could not be read is "unknown".
type VolumeStatus struct {
	// variant whose runs had this volume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Variant string `json:"variant,omitempty"`

	// filesystem of the data volume, for example xfs.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Filesystem string `json:"filesystem,omitempty"`

	// mountOptions of the data volume.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	MountOptions string `json:"mountOptions,omitempty"`

	// ioScheduler of the data volume's device.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	IOScheduler string `json:"ioScheduler,omitempty"`

	// blockIO is the limit on the data volume's disk, for example "write 100/s on 254:0", or none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	BlockIO string `json:"blockIO,omitempty"`

	// fdatasyncMicros is the median latency of a 4 KiB write with fdatasync on the data volume before the server started.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FdatasyncMicros int64 `json:"fdatasyncMicros,omitempty"`

	// fdatasyncMeanMicros is the mean of that latency.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FdatasyncMeanMicros int64 `json:"fdatasyncMeanMicros,omitempty"`
}

// Verdict is the answer of a pair.
type Verdict string

const (
	// VerdictFaster: the variant is faster than the baseline.
	VerdictFaster Verdict = "Faster"
	// VerdictSlower: the variant is slower than the baseline.
	VerdictSlower Verdict = "Slower"
	// VerdictEqual: the variant differs from the baseline by less than equivalentWithinPercent.
	VerdictEqual Verdict = "Equal"
	// VerdictNoDifferenceShown: neither a difference nor equality is shown, although a difference of equivalentWithinPercent
	// would probably have been seen.
	VerdictNoDifferenceShown Verdict = "NoDifferenceShown"
	// VerdictCannotSay: there is no answer (too few rounds, too much scatter); detail says why.
	VerdictCannotSay Verdict = "CannotSay"
)

// PairStatus compares a variant with the baseline at one point, or at all of them together.
type PairStatus struct {
	// variant that is compared with the baseline.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Variant string `json:"variant,omitempty"`

	// parameters of the point; empty if nothing is swept.
	// +optional
	// +kubebuilder:validation:MaxProperties=6
	// +kubebuilder:validation:MinProperties=1
	Parameters map[string]ParameterValue `json:"parameters,omitempty"`

	// verdict of the pair: Equal is within equivalentWithinPercent.
	// +optional
	// +kubebuilder:validation:Enum=Faster;Slower;Equal;NoDifferenceShown;CannotSay
	Verdict Verdict `json:"verdict,omitempty"`

	RatioStatus `json:",inline"`

	// rounds that the pair is made of.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Rounds int32 `json:"rounds,omitempty"`

	// metric that is compared, for example rowsPerSecond.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Metric string `json:"metric,omitempty"`

	// baselineMedian is the median of the baseline's values in unit.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	BaselineMedian string `json:"baselineMedian,omitempty"`

	// median of the variant's values in unit.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Median string `json:"median,omitempty"`

	// unit of both medians.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Unit string `json:"unit,omitempty"`

	// detail says the verdict in a sentence.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Detail string `json:"detail,omitempty"`
}
