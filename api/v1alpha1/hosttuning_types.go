// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// HostTuningSpec is what a run changes in the kernel of its database's node. It affects everything that runs there.
//
// +kubebuilder:validation:MinProperties=1
type HostTuningSpec struct {
	// swappiness is vm.swappiness. From 0 to 200.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=200
	Swappiness *int32 `json:"swappiness,omitempty"`

	// ioScheduler of the disk below the data volume. The run ends SettingNotEffective if the kernel does not offer it.
	// +optional
	// +kubebuilder:validation:Enum=none;mq-deadline;kyber;bfq
	IOScheduler string `json:"ioScheduler,omitempty"`

	// transparentHugePages is /sys/kernel/mm/transparent_hugepage/enabled.
	// +optional
	// +kubebuilder:validation:Enum=always;madvise;never
	TransparentHugePages string `json:"transparentHugePages,omitempty"`
}

// HostSettings are kernel settings of a node.
type HostSettings struct {
	// swappiness is vm.swappiness.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Swappiness string `json:"swappiness,omitempty"`

	// ioScheduler of the disk below the data volume.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	IOScheduler string `json:"ioScheduler,omitempty"`

	// transparentHugePages is /sys/kernel/mm/transparent_hugepage/enabled.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	TransparentHugePages string `json:"transparentHugePages,omitempty"`
}

// HostTuningStatus is what a run has changed on a node, and whether that was restored.
type HostTuningStatus struct {
	// node that was tuned.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// disk whose I/O scheduler was changed, for example sda.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Disk string `json:"disk,omitempty"`

	// before has the values that the node had.
	// +optional
	Before HostSettings `json:"before,omitzero"`

	// after has the values read back after the change.
	// +optional
	After HostSettings `json:"after,omitzero"`

	// restored says whether the values of before were read back at the end. Unset: still tuned.
	// +optional
	Restored *bool `json:"restored,omitempty"`

	// message says why the node was not restored.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
