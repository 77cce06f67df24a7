// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BenchmarkRun measures one database configuration with one workload, at each point of the workload's sweep.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=brun,categories=benchmarks
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="What the run is doing, or how it ended"
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`,description="Trials measured of those planned; with variants, rounds"
// +kubebuilder:printcolumn:name="Result",type=string,JSONPath=`.status.answer.text`,description="The best point's median, or the answer about the variants"
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.elapsed`,description="From the run's admission to the last result"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Detail",type=string,priority=1,JSONPath=`.status.answer.detail`,description="The result with its interval"
// +kubebuilder:printcolumn:name="Engine",type=string,priority=1,JSONPath=`.status.environment.serverVersion`
// +kubebuilder:printcolumn:name="Workload",type=string,priority=1,JSONPath=`.spec.workload.type`
// +kubebuilder:printcolumn:name="Claims",type=string,priority=1,JSONPath=`.status.claimed`,description="What the numbers say of the claims"
// +kubebuilder:printcolumn:name="Node",type=string,priority=1,JSONPath=`.status.environment.databaseNode`
// +kubebuilder:printcolumn:name="Invalid",type=integer,priority=1,JSONPath=`.status.trials.invalidated`,description="Disturbed attempts, measured again"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a run's name has at most 40 characters: lower case letters, digits and '-'; it begins with a letter and ends with a letter or digit"
type BenchmarkRun struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name has at most 40 characters.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what to measure. Only suspend, the deadlines and ttlSecondsAfterFinished can be changed.
	// +required
	Spec BenchmarkRunSpec `json:"spec,omitzero"`

	// status is the progress and what was measured.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status BenchmarkRunStatus `json:"status,omitzero"`
}

// BenchmarkRunList is a list of BenchmarkRuns.
//
// +kubebuilder:object:root=true
type BenchmarkRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []BenchmarkRun `json:"items"`
}

// BenchmarkRunSpec is what to measure.
//
// +kubebuilder:validation:XValidation:rule="has(self.title) == has(oldSelf.title) && has(self.sweep) == has(oldSelf.sweep) && has(self.podMetadata) == has(oldSelf.podMetadata) && has(self.imagePullSecrets) == has(oldSelf.imagePullSecrets) && has(self.claims) == has(oldSelf.claims) && has(self.metric) == has(oldSelf.metric) && has(self.capacity) == has(oldSelf.capacity)",message="title, sweep, metric, capacity, podMetadata, imagePullSecrets and claims cannot be changed: delete the run, or create one with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.trials) || (self.trials.?server.orValue('Reused') == 'Reused' || self.database.provisioner != 'External') && (self.trials.data != 'Restore' || self.database.provisioner == 'StatefulSet' && (!has(self.database.observer) || self.database.observer == 'Enabled'))",message="trials.server: PerRound and PerTrial need a provisioner that makes servers: an external server exists once; trials.data: Restore needs provisioner StatefulSet and database.observer: Enabled, which makes the copy"
// +kubebuilder:validation:XValidation:rule="!has(self.trials) || self.trials.data == 'Recreate' || has(self.workload.sysbench) && !has(self.workload.sysbench.scriptFrom) && (!has(self.workload.sysbench.script) || self.workload.sysbench.script != 'bulk_insert' && (self.workload.sysbench.script != 'tpcc' || self.trials.data == 'Restore'))",message="trials.data: Keep and Restore are for workload type Sysbench, with all scripts but bulk_insert and your own; tpcc takes Restore, and not Keep"
// +kubebuilder:validation:XValidation:rule="!has(self.loader) || self.loader.pods == 1 || self.workload.type in ['BulkInsert', 'IIBench', 'Sysbench'] && !has(self.workload.dataFrom)",message="loader.pods must be 1: only BulkInsert, IIBench and Sysbench load from several Pods, and one Pod reads a file of dataFrom (set clients for more connections)"
// +kubebuilder:validation:XValidation:rule="!has(self.workload.tprochLoad) || self.workload.tprochLoad.data != 'Staged' || has(self.loader) && has(self.loader.scratch)",message="data: Staged needs a volume for the files: write loader: {scratch: {size: 5Gi}}, with about 1.1Gi for each 1 of scaleFactor"
// +kubebuilder:validation:XValidation:rule="!has(self.workload.sysbench) || !has(self.database.tls) || self.database.tls.mode == 'Disabled'",message="sysbench 1.0 cannot be told which certificates to use: database.tls.mode must be Disabled with workload type Sysbench"
// +kubebuilder:validation:XValidation:rule="!(has(self.database.engine) ? self.database.engine == 'MySQL' : has(self.database.image) && self.database.image.matches('(mysql|percona)[^/]*$')) || !has(self.workload.bulkInsert) || self.workload.bulkInsert.protocol != 'Bulk' && !(has(self.workload.bulkInsert.sweep) && has(self.workload.bulkInsert.sweep.protocol) && 'Bulk' in self.workload.bulkInsert.sweep.protocol)",message="bulkInsert.protocol must be Text or Prepared with engine MySQL: Bulk is a command of MariaDB"
// +kubebuilder:validation:XValidation:rule="!(has(self.database.engine) ? self.database.engine == 'MySQL' : has(self.database.image) && self.database.image.matches('(mysql|percona)[^/]*$')) || !has(self.workload.bulkInsert) || !has(self.workload.bulkInsert.points) || self.workload.bulkInsert.points.all(p, !has(p.protocol) || p.protocol != 'Bulk')",message="bulkInsert.protocol must be Text or Prepared with engine MySQL: Bulk is a command of MariaDB"
// +kubebuilder:validation:XValidation:rule="!has(self.workload.custom) || self.workload.custom.command.all(a, a.split('${').all(part, a.startsWith(part) || part.contains('}') && part.split('}')[0] in (has(self.workload.custom.parameters) ? self.workload.custom.parameters : {})))",message="custom.command has a ${…} that custom.parameters does not name"
// +kubebuilder:validation:XValidation:rule="!self.database.?settings.?bufferPoolSize.hasValue() || !self.database.?resources.?limits[?'memory'].hasValue() || quantity(string(self.database.settings.bufferPoolSize)).isLessThan(quantity(string(self.database.resources.limits['memory'])))",message="settings.bufferPoolSize must be below resources.limits.memory: the server needs memory beside its buffer pool"
// +kubebuilder:validation:XValidation:rule="(!self.database.?settings.?bufferPoolSize.hasValue() || quantity(string(self.database.settings.bufferPoolSize)).compareTo(quantity('5Mi')) >= 0) && (!self.database.?settings.?redoLogSize.hasValue() || quantity(string(self.database.settings.redoLogSize)).compareTo(quantity('4Mi')) >= 0)",message="settings.bufferPoolSize must be at least 5Mi, settings.redoLogSize at least 4Mi"
// +kubebuilder:validation:XValidation:rule="!(has(self.database.engine) ? self.database.engine == 'MySQL' : has(self.database.image) && self.database.image.matches('(mysql|percona)[^/]*$')) || !self.database.?settings.?redoLogSize.hasValue() || quantity(string(self.database.settings.redoLogSize)).compareTo(quantity('8Mi')) >= 0",message="settings.redoLogSize must be at least 8Mi with engine MySQL"
// +kubebuilder:validation:XValidation:rule="!self.database.?storage.?size.hasValue() || quantity(string(self.database.storage.size)).compareTo(quantity('256Mi')) >= 0",message="storage.size must be at least 256Mi"
// +kubebuilder:validation:XValidation:rule="!has(self.loader) || !has(self.loader.transport) || self.loader.transport != 'UnixSocket' || self.database.provisioner == 'StatefulSet' && self.loader.separateFromDatabase == 'None' && (!has(self.database.tls) || self.database.tls.mode == 'Disabled')",message="loader.transport UnixSocket puts the loader beside the server: database.provisioner must be StatefulSet, loader.separateFromDatabase None, and database.tls.mode Disabled"
// +kubebuilder:validation:XValidation:rule="has(self.variants) == has(oldSelf.variants) && has(self.baseline) == has(oldSelf.baseline) && has(self.rounds) == has(oldSelf.rounds) && has(self.alternation) == has(oldSelf.alternation) && has(self.equivalentWithinPercent) == has(oldSelf.equivalentWithinPercent)",message="variants, baseline, rounds, alternation and equivalentWithinPercent cannot be changed: delete the run, or create one with another name"
// +kubebuilder:validation:XValidation:rule="self.?trials.server != optional.of(has(self.variants) ? 'Reused' : 'PerRound') && (has(self.variants) ? !has(self.baseline) || self.variants.exists(v, v.name == self.baseline) : !(has(self.baseline) || has(self.rounds) || has(self.alternation) || has(self.equivalentWithinPercent)))",message="baseline, rounds, alternation and equivalentWithinPercent need variants, and baseline is the name of one of them; trials.server is PerRound or PerTrial with variants, otherwise Reused or PerTrial"
type BenchmarkRunSpec struct {
	// title for reports, in a few words. Unset: the name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="title cannot be changed: delete the run, or create one with another name"
	Title string `json:"title,omitempty"`

	// database is the server to measure.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="database cannot be changed: delete the run, or create one with another name"
	Database DatabaseSpec `json:"database,omitzero"`

	// workload is the load on the database and the parameters to vary.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="workload cannot be changed: delete the run, or create one with another name"
	Workload WorkloadSpec `json:"workload,omitzero"`

	// sweep says how the values of the workload's sweep are combined.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="sweep cannot be changed: delete the run, or create one with another name"
	Sweep *SweepSpec `json:"sweep,omitempty"`

	// metric is what points and variants are compared by: the name of any number of results.csv, for example transactionP99Micros.
	// Unset: the workload's rate or, where all points have a ratePerSecond, transactionP99Micros.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-zA-Z][a-zA-Z0-9]*$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="metric cannot be changed: delete the run, or create one with another name"
	Metric string `json:"metric,omitempty"`

	// capacity asks for the highest offered rate at which a metric stays at or below a bound. Each round looks for it between the
	// lowest and the highest value of a sweep of ratePerSecond alone.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="capacity cannot be changed: delete the run, or create one with another name"
	Capacity *CapacitySpec `json:"capacity,omitempty"`

	// variants are 2 to 16 versions of the run to compare: the run with what each names laid over it.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="variants cannot be changed: delete the run, or create one with another name"
	Variants []Variant `json:"variants,omitempty"`

	// baseline is the name of the variant that the others are compared with. Unset: the first.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="baseline cannot be changed: delete the run, or create one with another name"
	Baseline string `json:"baseline,omitempty"`

	// rounds are how often all variants are measured, with new servers each time. They need variants.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="rounds cannot be changed: delete the run, or create one with another name"
	Rounds *RoundsSpec `json:"rounds,omitempty"`

	// alternation is what takes turns within a round: Slices (half seconds of one trial of all variants), Trials (all servers are
	// up), Runs (one server at a time) or Automatic: the first of these that is possible (status.alternation). Unset: Automatic.
	// +optional
	// +kubebuilder:validation:Enum=Automatic;Runs;Trials;Slices
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="alternation cannot be changed: delete the run, or create one with another name"
	Alternation Alternation `json:"alternation,omitempty"`

	// equivalentWithinPercent is the difference that does not matter: closer variants count as equal. From 1 to 50; unset: 5.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="equivalentWithinPercent cannot be changed: delete the run, or create one with another name"
	EquivalentWithinPercent *int32 `json:"equivalentWithinPercent,omitempty"`

	// trials are the measurements of each point: how many, in which order, under which deadlines.
	// +optional
	// +kubebuilder:default={}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="trials cannot be changed: delete the run, or create one with another name"
	Trials TrialsSpec `json:"trials,omitzero"`

	// claims are statements to test about the numbers.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="claims cannot be changed: delete the run, or create one with another name"
	Claims Claims `json:"claims,omitempty"`

	// loader is where the load is made.
	// +optional
	// +kubebuilder:default={}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="loader cannot be changed: delete the run, or create one with another name"
	Loader LoaderSpec `json:"loader,omitzero"`

	// imagePullSecrets are Secrets in the run's namespace with credentials for registries, besides those of the installation.
	// Missing ones are ignored.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="imagePullSecrets cannot be changed: delete the run, or create one with another name"
	ImagePullSecrets []ImagePullSecret `json:"imagePullSecrets,omitempty"`

	// podMetadata is added to the Pods of the database and of the loader.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="podMetadata cannot be changed: delete the run, or create one with another name"
	PodMetadata PodMetadata `json:"podMetadata,omitzero"`

	// placement is SameNode (all attempts run on the nodes of the first) or Any. Defaults to SameNode.
	// +optional
	// +kubebuilder:default=SameNode
	// +kubebuilder:validation:Enum=SameNode;Any
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="placement cannot be changed: delete the run, or create one with another name"
	Placement Placement `json:"placement,omitempty"`

	// seed of the order of the trials and of the data. From 0 to 9007199254740991; defaults to 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9007199254740991
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="seed cannot be changed: delete the run, or create one with another name"
	Seed *int64 `json:"seed,omitempty"`

	// lane is the queue of the run, across namespaces: one run of a lane measures at a time, the oldest first. A DNS label of at
	// most 40 characters; defaults to default.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="lane cannot be changed: delete the run, or create one with another name"
	Lane string `json:"lane,omitempty"`

	// suspend stops the run, removes its database and releases its lane; measurements are kept. The interrupted trial begins
	// again later. Defaults to false.
	// +optional
	// +kubebuilder:default=false
	Suspend *bool `json:"suspend,omitempty"`

	// deadlineSeconds ends it this long after its start, without the time in which it is suspended or waits for its lane.
	// Unset: it ends without progress for as long as an attempt may take. From 1 to 31536000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31536000
	DeadlineSeconds *int32 `json:"deadlineSeconds,omitempty"`

	// cleanup is when the database of a finished run is removed: Always, OnSuccess (a failed run keeps it) or Never (with the
	// run). Defaults to Always.
	// +optional
	// +kubebuilder:default=Always
	// +kubebuilder:validation:Enum=Always;OnSuccess;Never
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cleanup cannot be changed: delete the run, or create one with another name"
	Cleanup CleanupPolicy `json:"cleanup,omitempty"`

	// ttlSecondsAfterFinished deletes the run this long after its end, with results that are not retained. Unset: the
	// installation's default, 30 days unless changed. From 0 to 31536000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=31536000
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// results is how long the result ConfigMaps are kept.
	// +optional
	// +kubebuilder:default={}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="results cannot be changed: delete the run, or create one with another name"
	Results ResultsSpec `json:"results,omitzero"`
}

// CapacitySpec is a bound that is kept up to some rate.
type CapacitySpec struct {
	// metric of results.csv that is bounded, of which less is better. Unset: that of the run.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[a-zA-Z][a-zA-Z0-9]*$`
	Metric string `json:"metric,omitempty"`

	// atMost is the bound, in the metric's unit.
	// +required
	AtMost ClaimedNumber `json:"atMost,omitempty"`
}

// PullSecrets are the names of imagePullSecrets.
func (s *BenchmarkRunSpec) PullSecrets() []string {
	var names []string
	for _, secret := range s.ImagePullSecrets {
		names = append(names, secret.Name)
	}
	return names
}

// PodMetadata is added to Pods.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.labels) || self.labels.all(k, !k.startsWith('benchrun.dev/') && !k.startsWith('app.kubernetes.io/'))",message="labels of benchrun.dev and app.kubernetes.io are Benchrun's own"
type PodMetadata struct {
	// labels by key, at most 16.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	Labels map[string]string `json:"labels,omitempty"`

	// annotations by key, at most 16, for example {sidecar.istio.io/inject: "false"}.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ImagePullSecret is a Secret with credentials for image registries.
type ImagePullSecret struct {
	// name of the Secret, of type kubernetes.io/dockerconfigjson.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// Placement is whether all attempts of a run share their nodes.
type Placement string

const (
	// PlacementSameNode runs all attempts on the nodes of the first.
	PlacementSameNode Placement = "SameNode"
	// PlacementAny leaves each attempt to the scheduler.
	PlacementAny Placement = "Any"
)

// CleanupPolicy is when a finished run's database is removed.
type CleanupPolicy string

const (
	// CleanupAlways removes it as soon as the run has finished.
	CleanupAlways CleanupPolicy = "Always"
	// CleanupOnSuccess keeps it if the run has failed.
	CleanupOnSuccess CleanupPolicy = "OnSuccess"
	// CleanupNever keeps it until the run is deleted.
	CleanupNever CleanupPolicy = "Never"
)

// Retention is how long result ConfigMaps are kept.
type Retention string

const (
	// RetentionRetain keeps them when the run is deleted.
	RetentionRetain Retention = "Retain"
)

// ResultsSpec is how long the result ConfigMaps are kept.
type ResultsSpec struct {
	// retention is WithRun (the ConfigMaps are deleted with the run) or Retain (they stay). Defaults to WithRun.
	// +optional
	// +kubebuilder:default=WithRun
	// +kubebuilder:validation:Enum=WithRun;Retain
	Retention Retention `json:"retention,omitempty"`
}
