// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import "strings"

// Arrived are Pods that came to the database's node during an attempt: names of those that may be named, and how many there are
// of other namespaces.
func Arrived(names string, others int) Finding { return ofPods(PodsArrived, names, others) }

// Departed are Pods that left it.
func Departed(names string, others int) Finding { return ofPods(PodsDeparted, names, others) }

func ofPods(code Code, names string, unnamed int) Finding {
	var where map[string]string
	if names != "" {
		where = map[string]string{"pods": names}
	}
	if unnamed == 0 {
		return made(code, where)
	}
	return made(code, where, measure("of other namespaces", unnamed, ""))
}

// NotAllRead are more Pods on the database's node than the operator reads of others; so many were read.
func NotAllRead(read int) Finding { return made(PodsUnread, nil, measure("read", read, "")) }

// OnNodeConditions is a node with conditions under which it should not be measured.
func OnNodeConditions(conditions []string) Finding {
	return made(NodeConditions, map[string]string{"conditions": strings.Join(conditions, ", ")})
}

// Unguaranteed are Pods with their classes of service.
func Unguaranteed(pods []string) Finding {
	return made(PodsNotGuaranteed, map[string]string{"pods": strings.Join(pods, ", ")})
}

// BesideOthers are containers that a third party has added to Pods.
func BesideOthers(containers []string) Finding {
	return made(ForeignContainers, map[string]string{"containers": strings.Join(containers, ", ")})
}

// Retained are volumes of a storage class that stay after their claims.
func Retained(class string) Finding { return made(VolumesRetained, map[string]string{"class": class}) }

// HeldBack is a server that its CPU limit held back for so many percent of the measured phase.
func HeldBack(share float64) Finding {
	return made(ServerThrottled, nil, measure("share", share, percent))
}

// Shortened is a record for which the summary of its document, in a file, is too large.
func Shortened(file string, bytes, most int) Finding {
	return made(SummaryTooLarge, map[string]string{"file": file}, measure("bytes", bytes, "bytes"), measure("most", most, "bytes"))
}

// Spread is a range of values above so many percent of their median.
func Spread(bound float64) Finding { return made(WideSpread, nil, measure("bound", bound, percent)) }

const micros = "µs"

// Fdatasync is what a probe of a disk has: median and 95th percentile in microseconds.
type Fdatasync struct{ Median, P95 int64 }

// DiskDrift is a disk that was not as fast before one trial as before another.
func DiskDrift(fast, slow Fdatasync, before, after int) Finding {
	return made(DiskVaried, nil, measure("fast", fast.Median, micros), measure("fastP95", fast.P95, micros),
		measure("first", before, ""), measure("slow", slow.Median, micros), measure("slowP95", slow.P95, micros),
		measure("last", after, ""))
}

// CPUDrift is a CPU that was not as fast before one trial as before another, by the microseconds of a fixed piece of work.
func CPUDrift(fast, slow float64, before, after int) Finding {
	return made(CPUVaried, nil, measure("fast", fast, micros), measure("first", before, ""), measure("slow", slow, micros),
		measure("last", after, ""))
}

// Changed is an input of which trials had several versions.
func Changed(input, versions string) Finding {
	return made(InputChanged, map[string]string{"input": input, "versions": versions})
}

// FewRounds are too few for any verdict.
func FewRounds(rounds, first, pairs int) Finding {
	return made(TooFewRounds, nil, measure("rounds", rounds, ""), measure("first", first, "rounds"),
		measure("pairs", pairs, ""))
}

// Differ are runs that had different values of a property although they should not, or although the same was asked for.
func Differ(code Code, runs, property string, values []string) Finding {
	return made(code, map[string]string{"runs": runs, "property": property, "values": strings.Join(values, ", ")})
}

// OtherLog are variants of which one writes a binary log and the other does not.
func OtherLog(with, without string) Finding {
	return made(BinaryLogDiffers, map[string]string{"with": with, "without": without})
}

// NotExercised is a variable for a size of which two variants have other values, and of which neither used more than the smaller.
func NotExercised(variable, variant, baseline string, used, smaller int64) Finding {
	return made(SettingNotExercised, map[string]string{"variable": variable, "variant": variant, "baseline": baseline},
		measure("used", float64(used)/(1<<20), "MiB"), measure("smaller", float64(smaller)/(1<<20), "MiB"))
}

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
	SettingNotExercised: {
		Warning, "{variant} and {baseline} differ in {variable}, and the load used at most {used:0} MiB of it: the smaller one has " +
			"{smaller:0} MiB",
		"A buffer pool that holds all data, or a redo log that a measured phase does not fill, is as good as a larger one. That " +
			"such variants are equally fast says nothing about another load, and is no answer.",
		"measure with more data than the smaller buffer pool holds, or for so long that the log is written several times over.",
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
		Warning, "rounds.atMost ({rounds}) is too small for a verdict: the first is possible after {first} rounds (pairs: {pairs})",
		"With so few rounds no difference can be told from chance.",
		"raise `rounds.atMost`, or compare fewer variants and points.",
	},
	EnvironmentsDiffer: {
		Warning, "{runs} had different {property}: {values}",
		"The measurements should have differed in their variants only. This difference is part of the result.",
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
