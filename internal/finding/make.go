// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"strconv"
	"strings"
)

// Units of measures.
const percent, micros = "%", "µs"

// Short is a measured phase of less than a second, of the loader's own work or of a program's.
func Short(byProgram bool) Finding {
	if byProgram {
		return made(ShortProgram, nil)
	}
	return made(ShortMeasurement, nil)
}

// Retried are transactions that were rolled back and tried again, as a number and in percent of all.
func Retried(n int64, share float64) Finding {
	return made(TransactionsRetried, nil, measure("retried", n, "transactions"), measure("share", share, percent))
}

// GivenUp are events of sysbench that met an error which it ignores, as a number and in percent of all.
func GivenUp(n int64, share float64) Finding {
	return made(EventsGivenUp, nil, measure("events", n, "events"), measure("share", share, percent))
}

// Dropped is a schema that a program has dropped although it is the run's.
func Dropped(schema string) Finding { return made(SchemaDropped, names{"schema": schema}) }

// Client is who made load: the only Pod, or one of several by its number.
type Client struct {
	Pod  int
	Many bool
}

func (c Client) where() names {
	if !c.Many {
		return nil
	}
	return names{"pod": strconv.Itoa(c.Pod)}
}

// CPUBound is what bounds the CPU that a client can use: one that is not 0.
type CPUBound struct{ Connections, NodeCPUs, LimitMillis int64 }

// Busy is a client that used so many percent of the CPU that it could use.
func (c Client) Busy(share float64, bound CPUBound) Finding {
	used := measure("share", share, percent)
	switch {
	case bound.LimitMillis > 0:
		return made(ClientBusy, c.where(), used, measure("limitMillis", bound.LimitMillis, "mCPU"))
	case bound.NodeCPUs > 0:
		return made(ClientBusy, c.where(), used, measure("cpus", bound.NodeCPUs, ""))
	case bound.Connections > 1:
		return made(ClientBusy, c.where(), used, measure("connections", bound.Connections, ""))
	}
	return made(ClientBusyOneConnection, c.where(), used)
}

// Throttled is a client that its CPU limit held back for so many percent of the time.
func (c Client) Throttled(share float64) Finding {
	return made(ClientThrottled, c.where(), measure("share", share, percent))
}

// Late are latencies that last until the client had made its next statement.
func Late(latencies int64) Finding {
	return made(LateAnswers, nil, measure("latencies", latencies, ""))
}

// FlushedLate is a variable whose value makes commits not durable.
func FlushedLate(variable, value string) Finding {
	return made(CommitsNotDurable, names{"variable": variable, "value": value})
}

// SyncedLate is a variable whose value makes the binary log not durable.
func SyncedLate(variable, value string) Finding {
	return made(BinaryLogNotDurable, names{"variable": variable, "value": value})
}

// Rounded is a setting of which the server has made another value, which differs by so many percent.
func Rounded(variable, requested, effective string, share float64) Finding {
	return made(SettingRounded, names{"variable": variable, "requested": requested, "effective": effective},
		measure("share", share, percent))
}

// Unverified is a setting that the server was started with, and that none of its variables shows.
func Unverified(option, value string) Finding {
	return made(SettingNotVerifiable, names{"option": option, "value": value})
}

// Debt is what a server had not finished after so many seconds, above its goal.
func Debt(what string, seconds float64, amount, goal int64) Finding {
	return made(ServerNotAtRest, names{"debt": what}, measure("seconds", seconds, "s"), measure("amount", amount, ""),
		measure("goal", goal, ""))
}

// CaughtUp is a server that wrote so many pages back in the pauses between its slices, of so many in all.
func CaughtUp(pages, all int64) Finding {
	return made(WrittenInPauses, nil, measure("pages", pages, "pages"), measure("share", 100*float64(pages)/float64(all), percent))
}

// BusyWhileIdle is a server that used such a part of its machine's CPUs while others were measured.
func BusyWhileIdle(share float64) Finding {
	return made(BusyInPauses, nil, measure("share", share, percent))
}

// Outlasting are transactions that took so long to end after a slice.
func Outlasting(seconds float64) Finding {
	return made(LongTransactions, nil, measure("seconds", seconds, "s"))
}

// Unobserved is an observer that did not answer.
func Unobserved() Finding { return made(ObserverSilent, nil) }

// Left is a schema that could not be removed from a server, and why.
func Left(schema, why string) Finding { return made(SchemaLeft, names{"schema": schema, "error": why}) }

// NotCopied are prepared data of which no copy could be put aside, and why.
func NotCopied(why string) Finding { return made(DataNotCopied, names{"error": why}) }

// Stopped is a load that its limit ended.
type Stopped struct {
	Limit int64
	// Rows of Planned that were written; Planned is 0 if that is not known.
	Rows, Planned int64
	// Estimate is how many seconds all rows would take; 0 if that is not known.
	Estimate float64
}

// Finding says it.
func (s Stopped) Finding() Finding {
	measures := []Measure{measure("seconds", s.Limit, "s")}
	if s.Planned > 0 {
		measures = append(measures, measure("rows", s.Rows, "rows"), measure("planned", s.Planned, "rows"))
		if s.Estimate > 0 {
			measures = append(measures, measure("estimate", s.Estimate, "s"))
		}
	}
	return made(StoppedByLimit, nil, measures...)
}

// Missed is an offered rate that was not reached: Share percent of what was due. Waiting is what was due and had not begun.
type Missed struct {
	Rate           int64
	Reached, Share float64
	Waiting        int64
	// Unit is rows/s or transactions/s.
	Unit string
}

// Finding says it.
func (m Missed) Finding() Finding {
	measures := []Measure{measure("rate", m.Rate, m.Unit), measure("reached", m.Reached, m.Unit), measure("share", m.Share, percent)}
	if m.Waiting > 0 {
		measures = append(measures, measure("waiting", m.Waiting, ""))
	}
	return made(RateNotReached, names{"unit": m.Unit}, measures...)
}

// Anew is a program that connected again while it measured.
func Anew(program string, times int64) Finding {
	return made(Reconnected, names{"program": program}, measure("times", times, ""))
}

// PartOf is a file of which only the first rows were asked for.
func PartOf(file string, available, rows int64) Finding {
	return made(InputNotUsedWhole, names{"file": file}, measure("available", available, "rows"), measure("rows", rows, "rows"))
}

// OtherRows is another number of rows than the contest's.
func OtherRows(contest string, rows, required int64) Finding {
	return made(ContestRows, names{"contest": contest}, measure("rows", rows, "rows"), measure("required", required, "rows"))
}

// OtherServer is another version than the contest's.
func OtherServer(contest, version, required string) Finding {
	return made(ContestServer, names{"contest": contest, "version": version, "required": required})
}

// OtherHardware is hardware that was not limited to the contest's.
func OtherHardware(contest string) Finding { return made(ContestHardware, names{"contest": contest}) }

// OfProgram is what a program of the user's has reported, in its own words.
func OfProgram(text string) Finding { return made(ProgramWarning, names{"text": text}) }

// Arrived are Pods that came to the database's node during an attempt: names of those that may be named, and how many there are
// of other namespaces.
func Arrived(pods string, others int) Finding { return ofPods(PodsArrived, pods, others) }

// Departed are Pods that left it.
func Departed(pods string, others int) Finding { return ofPods(PodsDeparted, pods, others) }

func ofPods(code Code, pods string, unnamed int) Finding {
	var where names
	if pods != "" {
		where = names{"pods": pods}
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
	return made(NodeConditions, names{"conditions": strings.Join(conditions, ", ")})
}

// Unguaranteed are Pods with their classes of service.
func Unguaranteed(pods []string) Finding {
	return made(PodsNotGuaranteed, names{"pods": strings.Join(pods, ", ")})
}

// BesideOthers are containers that a third party has added to Pods.
func BesideOthers(containers []string) Finding {
	return made(ForeignContainers, names{"containers": strings.Join(containers, ", ")})
}

// Retained are volumes of a storage class that stay after their claims.
func Retained(class string) Finding { return made(VolumesRetained, names{"class": class}) }

// HeldBack is a server that its CPU limit held back for so many percent of the measured phase.
func HeldBack(share float64) Finding {
	return made(ServerThrottled, nil, measure("share", share, percent))
}

// Shortened is a record for which the summary of its document, in a file, is too large.
func Shortened(file string, bytes, most int) Finding {
	return made(SummaryTooLarge, names{"file": file}, measure("bytes", bytes, "bytes"), measure("most", most, "bytes"))
}

// Spread is a range of values above so many percent of their median.
func Spread(bound float64) Finding { return made(WideSpread, nil, measure("bound", bound, percent)) }

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
	return made(InputChanged, names{"input": input, "versions": versions})
}

// FewRounds are too few for any verdict.
func FewRounds(rounds, first, pairs int) Finding {
	return made(TooFewRounds, nil, measure("rounds", rounds, ""), measure("first", first, "rounds"), measure("pairs", pairs, ""))
}

// OutsideRates is a capacity, of a variant if there are any, that lies above or below all rates that may be offered.
func OutsideRates(variant, where string, lowest, highest float64, unit string, rounds, of int) Finding {
	about := names{"where": where, "unit": unit}
	if variant != "" {
		about["variant"] = variant
	}
	return made(CapacityOutsideRates, about, measure("lowest", lowest, unit), measure("highest", highest, unit),
		measure("rounds", rounds, ""), measure("of", of, "rounds"))
}

// Differ are runs that had different values of a property although they should not, or although the same was asked for.
func Differ(code Code, runs, property string, values []string) Finding {
	return made(code, names{"runs": runs, "property": property, "values": strings.Join(values, ", ")})
}

// OtherLog are variants of which one writes a binary log and the other does not.
func OtherLog(with, without string) Finding {
	return made(BinaryLogDiffers, names{"with": with, "without": without})
}

// NotExercised is a variable for a size of which two variants have other values, and of which neither used more than the smaller.
func NotExercised(variable, variant, baseline string, used, smaller int64) Finding {
	return made(SettingNotExercised, names{"variable": variable, "variant": variant, "baseline": baseline},
		measure("used", float64(used)/(1<<20), "MiB"), measure("smaller", float64(smaller)/(1<<20), "MiB"))
}
