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
	return made(TooFewRounds, nil, measure("rounds", rounds, ""), measure("first", first, "rounds"), measure("pairs", pairs, ""))
}

// OutsideRates is a capacity, of a variant if there are any, that lies above or below all rates that may be offered.
func OutsideRates(variant, where string, lowest, highest float64, unit string, rounds, of int) Finding {
	names := map[string]string{"where": where, "unit": unit}
	if variant != "" {
		names["variant"] = variant
	}
	return made(CapacityOutsideRates, names, measure("lowest", lowest, unit), measure("highest", highest, unit),
		measure("rounds", rounds, ""), measure("of", of, "rounds"))
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
