// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// SweepMode says how the axes of a sweep make points.
type SweepMode string

const (
	// SweepGrid visits every combination of the axes' values.
	SweepGrid SweepMode = "Grid"
	// SweepOneFactor varies one axis at a time around the values that the workload names.
	SweepOneFactor SweepMode = "OneFactor"
	// SweepList visits the points that are listed.
	SweepList SweepMode = "List"
)

// SweepSpec says at which points the workload is measured. The points' product (Grid), sum (OneFactor) or number (List) is
// at most 1,000.
//
// +kubebuilder:validation:XValidation:rule="self.mode == 'List' ? has(self.points) && !has(self.axes) : has(self.axes) && !has(self.points)",message="mode List takes points; Grid and OneFactor take axes"
// +kubebuilder:validation:XValidation:rule="self.mode != 'Grid' || !has(self.axes) || (size(self.axes) > 0 ? size(self.axes[0].values) : 1) * (size(self.axes) > 1 ? size(self.axes[1].values) : 1) * (size(self.axes) > 2 ? size(self.axes[2].values) : 1) * (size(self.axes) > 3 ? size(self.axes[3].values) : 1) * (size(self.axes) > 4 ? size(self.axes[4].values) : 1) * (size(self.axes) > 5 ? size(self.axes[5].values) : 1) <= 1000",message="a sweep has at most 1000 points: the product of the numbers of values is above that"
// +kubebuilder:validation:XValidation:rule="self.mode != 'OneFactor' || !has(self.axes) || (size(self.axes) > 0 ? size(self.axes[0].values) : 0) + (size(self.axes) > 1 ? size(self.axes[1].values) : 0) + (size(self.axes) > 2 ? size(self.axes[2].values) : 0) + (size(self.axes) > 3 ? size(self.axes[3].values) : 0) + (size(self.axes) > 4 ? size(self.axes[4].values) : 0) + (size(self.axes) > 5 ? size(self.axes[5].values) : 0) <= 1000",message="a sweep has at most 1000 points: the sum of the numbers of values is above that"
type SweepSpec struct {
	// mode is Grid (every combination of the axes' values), OneFactor (one axis at a time; the others keep the values that
	// the workload names) or List (the points below). Defaults to Grid.
	// +optional
	// +kubebuilder:default=Grid
	// +kubebuilder:validation:Enum=Grid;OneFactor;List
	Mode SweepMode `json:"mode,omitempty"`

	// axes are the parameters to vary and their values, for Grid and OneFactor.
	// +optional
	// +listType=map
	// +listMapKey=parameter
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=6
	Axes []SweepAxis `json:"axes,omitempty"`

	// points are the combinations to visit, for List.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Points []SweepPoint `json:"points,omitempty"`
}

// SweepAxis is one parameter and the values it takes.
type SweepAxis struct {
	// parameter of the workload, for example rowsPerCommit. What may be swept depends on the workload.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Parameter string `json:"parameter,omitempty"`

	// values that the parameter takes, each once.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	Values []ParameterValue `json:"values,omitempty"`
}

// ParameterValue is the value of a swept parameter, written as a string.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
type ParameterValue string

// SweepPoint is one combination of parameter values.
type SweepPoint struct {
	// parameters of this point; those left out keep the values that the workload names.
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=6
	Parameters map[string]ParameterValue `json:"parameters,omitempty"`
}

// TrialOrder is the order in which trials are measured.
type TrialOrder string

const (
	// OrderInterleaved measures round after round; each visits every point once, in a new seeded order.
	OrderInterleaved TrialOrder = "Interleaved"
	// OrderShuffled measures all trials in one seeded order.
	OrderShuffled TrialOrder = "Shuffled"
	// OrderSequential measures point after point, as listed. Slow drift of a machine then looks like a difference.
	OrderSequential TrialOrder = "Sequential"
)

// DatabaseLifetime says for how many trials one database instance serves.
type DatabaseLifetime string

const (
	// DatabaseReused keeps one instance; between trials the tables are made again and the server comes to rest.
	DatabaseReused DatabaseLifetime = "Reused"
	// DatabaseFresh gives each attempt a new instance on a new volume.
	DatabaseFresh DatabaseLifetime = "Fresh"
)

// DataLifetime says for how many trials the workload's data serves.
type DataLifetime string

const (
	// DataRecreate makes the data anew for each trial.
	DataRecreate DataLifetime = "Recreate"
	// DataKeep keeps it, for workloads that only read.
	DataKeep DataLifetime = "Keep"
)

// TrialsSpec says how often, in which order and under which deadlines points are measured.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.repetitions) && has(self.precision))",message="say repetitions or precision, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.precision) || self.order == 'Interleaved'",message="precision goes with order Interleaved: it is looked at after whole rounds"
type TrialsSpec struct {
	// repetitions is how often each point is measured. From 1 to 100. Unset, and without precision: 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Repetitions *int32 `json:"repetitions,omitempty"`

	// precision measures each point until its median is known precisely enough, in place of a fixed number of repetitions.
	// +optional
	Precision *PrecisionSpec `json:"precision,omitempty"`

	// order is Interleaved (rounds that visit every point once, each in a new seeded order, so that drift of the machine
	// spreads over all points), Shuffled, or Sequential. Defaults to Interleaved.
	// +optional
	// +kubebuilder:default=Interleaved
	// +kubebuilder:validation:Enum=Interleaved;Shuffled;Sequential
	Order TrialOrder `json:"order,omitempty"`

	// database is Reused (one instance; between trials the tables are made again and the server comes to rest) or Fresh (a
	// new instance on a new volume for each attempt). Defaults to Reused.
	// +optional
	// +kubebuilder:default=Reused
	// +kubebuilder:validation:Enum=Reused;Fresh
	Database DatabaseLifetime `json:"database,omitempty"`

	// data is Recreate (made anew for each trial) or Keep (only for workloads that only read). Defaults to Recreate.
	// +optional
	// +kubebuilder:default=Recreate
	// +kubebuilder:validation:Enum=Recreate;Keep
	Data DataLifetime `json:"data,omitempty"`

	// startDeadlineSeconds is how long the database, and each loader Pod, may take until it runs: images, volumes and
	// scheduling included. From 10 to 86400; defaults to 300.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	StartDeadlineSeconds int32 `json:"startDeadlineSeconds,omitempty"`

	// deadlineSeconds is how long one attempt may take, preparation included. From 10 to 604800; defaults to 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=604800
	DeadlineSeconds int32 `json:"deadlineSeconds,omitempty"`

	// maxInvalid is how many attempts of the whole run may be invalidated (evicted, out of memory, restarted and the like)
	// before the run ends Failed; it keeps what it has. From 0 to 1000; defaults to 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MaxInvalid *int32 `json:"maxInvalid,omitempty"`
}

// PrecisionSpec stops measuring a point when the 95 % confidence interval of its median is narrow enough. It is looked at
// after whole rounds only.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="precision.min must not be above precision.max"
type PrecisionSpec struct {
	// targetRelativeCIPercent is half the width of the interval relative to the median, in percent. From 1 to 50.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	TargetRelativeCIPercent int32 `json:"targetRelativeCIPercent,omitempty"`

	// min is the smallest number of repetitions: below 6 there is no 95 % interval of a median. From 6 to 100; defaults to 6.
	// +optional
	// +kubebuilder:default=6
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=100
	Min int32 `json:"min,omitempty"`

	// max is the largest number of repetitions. From 6 to 100; defaults to 12.
	// +optional
	// +kubebuilder:default=12
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=100
	Max int32 `json:"max,omitempty"`
}

// Separation says whether loaders keep away from the database's node.
type Separation string

const (
	// SeparationPreferred puts them on another node if there is room.
	SeparationPreferred Separation = "Preferred"
	// SeparationRequired never puts them on the database's node.
	SeparationRequired Separation = "Required"
	// SeparationNone lets the scheduler choose.
	SeparationNone Separation = "None"
)

// LoaderSpec says where and with what the load is made.
type LoaderSpec struct {
	// pods that make the load together: BulkInsert, IIBench and Sysbench. They share its connections (concurrency,
	// insertThreads, threads) and start at the same moment; the data are the same, however many they are. resources and scratch
	// are each one's. From 1 to 64; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Pods int32 `json:"pods,omitempty"`

	// resources of the loader's container. Unset: one CPU and 256Mi, requests equal to limits.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// nodeSelector restricts the nodes that loaders may run on.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations of the loader's Pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// separateFromDatabase is Preferred (another node than the database's, if there is room), Required or None. Defaults to
	// Preferred.
	// +optional
	// +kubebuilder:default=Preferred
	// +kubebuilder:validation:Enum=Preferred;Required;None
	SeparateFromDatabase Separation `json:"separateFromDatabase,omitempty"`

	// scratch is an empty volume at /scratch for workloads that write files before they load them.
	// +optional
	Scratch *ScratchSpec `json:"scratch,omitempty"`
}

// ScratchSpec is a loader's scratch volume.
type ScratchSpec struct {
	// size above which the Pod is evicted. Defaults to 5Gi.
	// +optional
	// +kubebuilder:default="5Gi"
	Size resource.Quantity `json:"size,omitzero"`
}
