// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

// ofOperator are the findings that the operator makes, of an attempt's place and of several trials.
var ofOperator = map[Code]Entry{
	PodsArrived: {
		Warning, "Pods came to the database's node during the attempt: {pods:+}",
		"What they used of the node, the server did not have.",
		"keep other Pods off the node: a taint, or an affinity rule.",
	},
	PodsDeparted: {
		Warning, "Pods left the database's node during the attempt: {pods:+}",
		"The server had less of the node before they left than afterwards.",
		"keep other Pods off the node: a taint, or an affinity rule.",
	},
	NodeConditions: {
		Warning, "the database's node had conditions that disturb: {conditions}",
		"The kubelet reported a shortage on the node during the attempt.",
		"free what the node lacks, or use another node.",
	},
	PodsNotGuaranteed: {
		Warning, "Pods are not Guaranteed ({pods}): others on their nodes may take CPU and memory from them",
		"Without equal requests and limits, the kubelet gives the Pods what others leave.",
		"set requests equal to limits, or leave `resources` out.",
	},
	ServerThrottled: {
		Warning, "the server was held back at its CPU limit for {share:0} % of the measured phase: the number is " +
			"also that of the limit",
		"The kernel stopped the server at its CPU limit.",
		"raise `database.resources.limits.cpu`, unless the limit is what you measure.",
	},
	SummaryTooLarge: {
		Notice, "the summary of the result document has {bytes} bytes, at most {most} are kept: see {file} for all " +
			"warnings, settings " +
			"and latencies",
		"The record of the attempt has only what fitted. The document beside it has everything.", "",
	},
	WideSpread: {
		Warning, "the values differ by more than {bound} % of their median",
		"Something other than the configuration had a large effect on these trials.",
		"look at the values in the order of measuring; measure more trials, or a quieter machine.",
	},
	SpreadFollowsDisk: {
		Warning, "the values differ by more than {bound} % of their median, and follow fdatasync's latency before each trial (rank " +
			"correlation {correlation:2}): the node explains it",
		"Trials were slower when the disk was slower.",
		"use storage with a stable latency.",
	},
	SpreadFollowsCPU: {
		Warning, "the values differ by more than {bound} % of their median, and follow the speed of the node's CPU before each trial " +
			"(rank correlation {correlation:2}): the node explains it",
		"Trials were slower when the CPU was slower.",
		"use a node whose CPU has a constant speed: no neighbors, a fixed frequency.",
	},
	DiskVaried: {
		Warning, "fdatasync took from {fast} µs (p95 {fastP95}) before trial {first} to {slow} µs (p95 {slowP95}) " +
			"before trial {last}: " +
			"the disk was not the same for all trials",
		"The disk's latency changed during the run, and with it every commit.",
		"use storage that nobody shares.",
	},
	CPUVaried: {
		Warning, "a fixed piece of work took from {fast:g} µs of the node's CPU before trial {first} to {slow:g} µs before trial " +
			"{last}: the CPU was not as fast for all trials",
		"The speed of the CPU changed during the run: another frequency, or a neighbor on the same core.",
		"use a node whose CPU has a constant speed.",
	},
	DiskUnlikeEarlier: {
		Warning, "fdatasync took {now} µs on the data volume (p95 {nowP95}); in run {run}, the last that asked for " +
			"the same, {then} µs " +
			"(p95 {thenP95})",
		"The disk is not what it was for the earlier run: a difference between the two may be that of the disks.",
		"compare the variants in one comparison, which measures both on the same disk.",
	},
	CPUUnlikeEarlier: {
		Warning, "a fixed piece of work took {now:g} µs of the node's CPU; in run {run}, the last that asked for the same, {then:g} µs",
		"The CPU is not as fast as it was for the earlier run: a difference between the two may be that of the CPUs.",
		"compare the variants in one comparison, which measures both on the same CPU.",
	},
	InputChanged: {
		Warning, "input {input} was not the same for all trials: {versions}",
		"A ConfigMap or volume with an input was changed during the run: the trials have not done the same work.",
		"repeat the run, and do not change its inputs.",
	},
	TooFewRounds: {
		Warning, "rounds ({rounds}) is too small for any verdict: the first is possible after {first} rounds " +
			"(pairs: {pairs})",
		"With so few rounds no difference can be told from chance.",
		"raise `maxRounds`, or compare fewer variants and points.",
	},
	EnvironmentsDiffer: {
		Warning, "{runs} had different {property}: {values}",
		"The runs were to differ in their variants only. This difference is part of the result.",
		"pin images by digest, and nodes with `nodeSelector`.",
	},
	Unrequested: {
		Warning, "{runs} had different {property}: {values}, although the same is asked for",
		"The variants were to have this in common.",
		"pin the image by digest, or ask for the difference.",
	},
	BinaryLogDiffers: {
		Notice, "{with} writes a binary log and {without} does not: what the log costs is part of the difference",
		"The variants differ in the binary log besides what they were meant to differ in.",
		"set `database.settings.binaryLog` to the same value for both.",
	},
}
