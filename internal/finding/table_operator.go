// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

// ofOperator are the findings that the operator makes, of an attempt's place and of several trials.
var ofOperator = map[Code]Entry{
	PodsArrived: {
		Warning, "Pods started on the database node during the attempt: {pods:+}",
		"They may have used CPU, memory or I/O that the server then lacked.",
		"keep other Pods off the node with a taint or an affinity rule.",
	},
	PodsDeparted: {
		Warning, "Pods left the database node during the attempt: {pods:+}",
		"Until they left, they may have used CPU, memory or I/O that the server then lacked.",
		"keep other Pods off the node with a taint or an affinity rule.",
	},
	PodsUnread: {
		Warning, "more Pods are on the database node than the operator reads: which came or left is not known ({read} were read)",
		"The Pods there are too many, or carry too many labels and annotations: the operator reads at most 32 MB of what others made.",
		"keep other Pods off the node with a taint or an affinity rule.",
	},
	NodeConditions: {
		Warning, "the database node was short of resources: {conditions}",
		"The kubelet reported a shortage on the node during the attempt.",
		"free the resource that the node lacks, or use another node.",
	},
	PodsNotGuaranteed: {
		Warning, "Pods are not Guaranteed ({pods}): other Pods on their nodes may take CPU and memory from them",
		"Unless its requests equal its limits, a Pod gets only what the others leave.",
		"set requests equal to limits, or leave out `resources`.",
	},
	ForeignContainers: {
		Warning, "other containers ran in the Pods: {containers}",
		"An admission policy added them, for example a service mesh. They use CPU and memory beside the loader or the server.",
		"exclude the Pods from the policy, for example by an annotation in `podMetadata`.",
	},
	VolumesRetained: {
		Notice, "the database's volumes were not deleted: the reclaim policy of storage class {class} is Retain",
		"Deleting a claim of this class leaves its PersistentVolume and its data, which somebody may pay for.",
		"delete the released PersistentVolumes, or use a class whose reclaim policy is Delete.",
	},
	ServerThrottled: {
		Warning, "the server was throttled at its CPU limit for {share:0}% of the measured phase: the number depends on that " +
			"limit",
		"The kernel throttled the server at its CPU limit.",
		"raise `database.resources.limits.cpu`, unless the limit is what you want to measure.",
	},
	SummaryTooLarge: {
		Notice, "the summary of the result document has {bytes} bytes, of which at most {most} are kept: see {file} for all " +
			"findings, settings and latencies",
		"The record of the attempt has only what fitted. The document beside it has everything.", "",
	},
	WideSpread: {
		Warning, "the values span more than {bound}% of their median",
		"Something other than the configuration had a large effect on these trials.",
		"look at the values in the order in which they were measured; measure more trials, or use a quieter machine.",
	},
	DiskVaried: {
		Warning, "disk probe: fdatasync took {fast:µs} (p95 {fastP95:µs}) before trial {first} and {slow:µs} (p95 " +
			"{slowP95:µs}) before trial {last}",
		"Before each trial a probe times fdatasync on the data volume. The disk's latency changed during the run, and so did " +
			"the cost of a durable commit.",
		"use storage that nothing else uses.",
	},
	CPUVaried: {
		Warning, "CPU probe: {fast–slow:µs} (fastest before trial {first}, slowest before trial {last})",
		"Before each trial a probe times a fixed computation on the node's CPU. The CPU's speed changed during the run: " +
			"another frequency, or a neighbor on the same core.",
		"use a node whose CPU has a constant speed.",
	},
	InputChanged: {
		Warning, "input {input} changed between trials: {versions}",
		"A ConfigMap or volume with an input changed during the run: the trials did not all do the same work.",
		"repeat the run without changing its inputs.",
	},
	TooFewRounds: {
		Warning, "maxRounds ({rounds}) is too small for a verdict: the first is possible after {first} rounds (pairs: {pairs})",
		"With so few rounds no difference can be told from chance.",
		"raise `maxRounds`, or compare fewer variants and points.",
	},
	EnvironmentsDiffer: {
		Warning, "{runs} had different {property}: {values}",
		"The runs should have differed in their variants only. This difference is part of the result.",
		"pin images by digest, and nodes with `nodeSelector`.",
	},
	Unrequested: {
		Warning, "{runs} had different {property} although the specification is the same: {values}",
		"The variants should have had this in common.",
		"pin the image by digest, or make the difference part of a variant.",
	},
	BinaryLogDiffers: {
		Notice, "{with} writes a binary log and {without} does not: the difference includes the cost of the log",
		"The variants differ in the binary log and in something else.",
		"set `database.settings.binaryLog` to the same value for both.",
	},
}
