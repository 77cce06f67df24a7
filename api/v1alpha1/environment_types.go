// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ImageName is the name of a container image, or the beginning of such names.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=512
type ImageName string

// ImagesStatus are the images that an installation gives its runs.
type ImagesStatus struct {
	// loader has the loader, probe and observer.
	// +optional
	Loader ImageName `json:"loader,omitempty"`

	// sysbench has the loader and sysbench.
	// +optional
	Sysbench ImageName `json:"sysbench,omitempty"`

	// databases are the servers of runs that name no image, by engine.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=8
	Databases map[string]ImageName `json:"databases,omitempty"`

	// registry completes names of images without one. Unset: the node does.
	// +optional
	Registry ImageName `json:"registry,omitempty"`
}

// Environment is where a run took place. A value that could not be read is "unknown", never empty.
type Environment struct {
	// serverVersion is VERSION().
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	ServerVersion string `json:"serverVersion,omitempty"`

	// settingsDigest is the SHA-256 of all server variables that are configuration.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	SettingsDigest string `json:"settingsDigest,omitempty"`

	// databaseImage is the digest of the server's image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	DatabaseImage string `json:"databaseImage,omitempty"`

	// loaderImage is the digest of the loader's image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	LoaderImage string `json:"loaderImage,omitempty"`

	// databaseNode is the database's node.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	DatabaseNode string `json:"databaseNode,omitempty"`

	// loaderNode is the loader's node, or those of all loader Pods.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	LoaderNode string `json:"loaderNode,omitempty"`

	// kernel release of the database's node.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Kernel string `json:"kernel,omitempty"`

	// cpuModel of the database's node.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	CPUModel string `json:"cpuModel,omitempty"`

	// cpus are the logical CPUs of the database's node.
	// +optional
	// +kubebuilder:validation:Minimum=1
	CPUs int32 `json:"cpus,omitempty"`

	// memoryBytes is the memory of the database's node.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MemoryBytes int64 `json:"memoryBytes,omitempty"`

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

	// swappiness of the database's node.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Swappiness string `json:"swappiness,omitempty"`

	// transparentHugePages of the database's node.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	TransparentHugePages string `json:"transparentHugePages,omitempty"`

	// fdatasyncMicros is the median latency of a 4 KiB write with fdatasync on the data volume before the server started.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FdatasyncMicros int64 `json:"fdatasyncMicros,omitempty"`

	// fdatasyncMeanMicros is the mean of that latency.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FdatasyncMeanMicros int64 `json:"fdatasyncMeanMicros,omitempty"`

	// trialProbe has medians of what was probed before the trials.
	// +optional
	TrialProbe TrialProbe `json:"trialProbe,omitzero"`
}

// TrialProbe is the state of the database's node in the quiet time before a trial.
type TrialProbe struct {
	// fdatasyncMicros is the median latency of a 4 KiB write with fdatasync on the data volume.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FdatasyncMicros int64 `json:"fdatasyncMicros,omitempty"`

	// fdatasyncP95Micros is the 95th percentile of that latency.
	// +optional
	// +kubebuilder:validation:Minimum=1
	FdatasyncP95Micros int64 `json:"fdatasyncP95Micros,omitempty"`

	// workNanos is the CPU time of a fixed piece of work.
	// +optional
	// +kubebuilder:validation:Minimum=1
	WorkNanos int64 `json:"workNanos,omitempty"`
}

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
