// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// SweepMode is how the values of a workload's sweep are combined into points.
type SweepMode string

const (
	// SweepGrid measures every combination of the values.
	SweepGrid SweepMode = "Grid"
	// SweepOneFactor varies one parameter at a time around the workload's own values.
	SweepOneFactor SweepMode = "OneFactor"
)

// SweepSpec combines the values of the workload's sweep: at most 6 parameters and 1000 points.
type SweepSpec struct {
	// mode is Grid (every combination) or OneFactor (one parameter at a time; the others keep the workload's values). Defaults to
	// Grid.
	// +optional
	// +kubebuilder:default=Grid
	// +kubebuilder:validation:Enum=Grid;OneFactor
	Mode SweepMode `json:"mode,omitempty"`
}

// SweptValue is a value of a parameter that has no type of its own.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
type SweptValue string

// SweptValues are values to measure, each once.
//
// +listType=set
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=100
type SweptValues []SweptValue

// TrialOrder is the order in which trials are measured.
type TrialOrder string

const (
	// OrderInterleaved measures round after round; each round visits every point once, in a new seeded order.
	OrderInterleaved TrialOrder = "Interleaved"
	// OrderShuffled measures all trials in one seeded order.
	OrderShuffled TrialOrder = "Shuffled"
	// OrderSequential measures point after point, as listed. A slow drift of the machine then looks like a difference.
	OrderSequential TrialOrder = "Sequential"
)

// ServerLifetime is how long one database instance is used.
type ServerLifetime string

const (
	// ServerReused keeps one instance; between trials the tables are recreated and the server is quiesced.
	ServerReused ServerLifetime = "Reused"
	// ServerPerRound gives each variant a new instance on a new volume in each round, which is kept like one that is reused.
	ServerPerRound ServerLifetime = "PerRound"
	// ServerPerTrial gives each attempt a new instance on a new volume.
	ServerPerTrial ServerLifetime = "PerTrial"
)

// DataLifetime is how long the workload's data is used.
type DataLifetime string

const (
	// DataKeep keeps the data until a trial writes to them.
	DataKeep DataLifetime = "Keep"
	// DataRestore keeps the data like DataKeep, and starts each further server with a copy of them.
	DataRestore DataLifetime = "Restore"
)

// TrialsSpec is how often, in which order and under which deadlines points are measured.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.repetitions) && has(self.precision))",message="set repetitions or precision, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.precision) || self.order == 'Interleaved'",message="precision goes with order Interleaved: it is checked after whole rounds"
type TrialsSpec struct {
	// repetitions of each point. From 1 to 100. Unset, and without precision: 6, the fewest with a 95% interval.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Repetitions *int32 `json:"repetitions,omitempty"`

	// precision repeats each point until its median is precise enough.
	// +optional
	Precision *PrecisionSpec `json:"precision,omitempty"`

	// order is Interleaved (rounds visit every point once, each in a new seeded order), Shuffled or Sequential. Defaults to
	// Interleaved.
	// +optional
	// +kubebuilder:default=Interleaved
	// +kubebuilder:validation:Enum=Interleaved;Shuffled;Sequential
	Order TrialOrder `json:"order,omitempty"`

	// server is Reused (one instance; tables are recreated between trials), PerRound (of each variant a new instance on a new volume
	// in each round) or PerTrial (for each attempt). Unset: PerRound with variants, otherwise Reused.
	// +optional
	// +kubebuilder:validation:Enum=Reused;PerRound;PerTrial
	Server ServerLifetime `json:"server,omitempty"`

	// primeSeconds is how long a new instance makes the first trial's load unmeasured, at most. For CommitSize, BulkInsert and
	// IIBench, unless server is PerTrial. From 0 to 3600; defaults to 30.
	// +optional
	// +kubebuilder:default=30
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	PrimeSeconds *int32 `json:"primeSeconds,omitempty"`

	// data is Recreate (for each trial), Keep (until a trial has written to them; for Sysbench scripts that share tables) or
	// Restore (for Sysbench: each new server begins with a copy of the prepared data). Defaults to Recreate.
	// +optional
	// +kubebuilder:default=Recreate
	// +kubebuilder:validation:Enum=Recreate;Keep;Restore
	Data DataLifetime `json:"data,omitempty"`

	// startDeadlineSeconds is how long the database, and each loader Pod, may take to start. From 10 to 86400; defaults to 300.
	// +optional
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	StartDeadlineSeconds int32 `json:"startDeadlineSeconds,omitempty"`

	// deadlineSeconds is how long an attempt may take, with preparation; the first on an instance has twice primeSeconds more.
	// From 10 to 15552000; defaults to 3600.
	// +optional
	// +kubebuilder:default=3600
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=15552000
	DeadlineSeconds int32 `json:"deadlineSeconds,omitempty"`

	// maxInvalid is how many attempts may be invalidated before the run fails. From 0 to 1000; defaults to 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	MaxInvalid *int32 `json:"maxInvalid,omitempty"`

	// maxThrottledPercent of the measured phase in which a CPU limit may throttle the server; beyond it, the attempt is
	// invalidated. Unset: 100 at the limit that the run sets, 1 at a lower limit from elsewhere. From 0 to 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxThrottledPercent *int32 `json:"maxThrottledPercent,omitempty"`
}

// PrecisionSpec stops measuring a point, after a whole round, by the 95% interval of its median.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="precision.min must not be above precision.max"
type PrecisionSpec struct {
	// targetRelativeCIPercent is half the interval's width relative to the median, in percent. From 1 to 50.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	TargetRelativeCIPercent int32 `json:"targetRelativeCIPercent,omitempty"`

	// min are the fewest repetitions. From 6 to 100; defaults to 6.
	// +optional
	// +kubebuilder:default=6
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=100
	Min int32 `json:"min,omitempty"`

	// max are the most repetitions. From 6 to 100; defaults to 12.
	// +optional
	// +kubebuilder:default=12
	// +kubebuilder:validation:Minimum=6
	// +kubebuilder:validation:Maximum=100
	Max int32 `json:"max,omitempty"`
}

// Separation is whether loaders avoid the database's node.
type Separation string

const (
	// SeparationRequired never schedules them on the database's node.
	SeparationRequired Separation = "Required"
	// SeparationNone lets the scheduler choose.
	SeparationNone Separation = "None"
)

// Transport is how the loader reaches the server.
type Transport string

const (
	// TransportTCP is a connection over the network.
	TransportTCP Transport = "TCP"
	// TransportUnixSocket is a connection within one node.
	TransportUnixSocket Transport = "UnixSocket"
)

// LoaderSpec is where the loader runs, and with which resources.
type LoaderSpec struct {
	// pods that make the load of BulkInsert, IIBench or Sysbench, and share its connections. They start at the same moment;
	// resources and scratch apply to each. From 1 to 64; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Pods int32 `json:"pods,omitempty"`

	// resources of the loader's container. Unset: one CPU and 256Mi, requests equal to limits.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// nodeSelector has labels of the nodes that may have loaders.
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

	// separateFromDatabase is Preferred (another node than the database's if there is room), Required or None. Defaults to
	// Preferred.
	// +optional
	// +kubebuilder:default=Preferred
	// +kubebuilder:validation:Enum=Preferred;Required;None
	SeparateFromDatabase Separation `json:"separateFromDatabase,omitempty"`

	// transport is TCP or UnixSocket (mysqld.sock in the server's /run/mysqld), which needs provisioner StatefulSet, no TLS, and
	// separateFromDatabase None. Unset: TCP.
	// +optional
	// +kubebuilder:validation:Enum=TCP;UnixSocket
	Transport Transport `json:"transport,omitempty"`

	// scratch adds an empty volume at /scratch for files of workloads.
	// +optional
	Scratch *ScratchSpec `json:"scratch,omitempty"`
}

// ScratchSpec is a loader's scratch volume.
type ScratchSpec struct {
	// size of the volume; a Pod that writes more is evicted. Defaults to 5Gi.
	// +optional
	// +kubebuilder:default="5Gi"
	Size resource.Quantity `json:"size,omitzero"`
}
