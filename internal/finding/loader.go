// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import "strconv"

const percent = "%"

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
func Dropped(schema string) Finding { return made(SchemaDropped, map[string]string{"schema": schema}) }

// Client is who made load: the only Pod, or one of several by its number.
type Client struct {
	Pod  int
	Many bool
}

func (c Client) where() map[string]string {
	if !c.Many {
		return nil
	}
	return map[string]string{"pod": strconv.Itoa(c.Pod)}
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
	return made(CommitsNotDurable, map[string]string{"variable": variable, "value": value})
}

// SyncedLate is a variable whose value makes the binary log not durable.
func SyncedLate(variable, value string) Finding {
	return made(BinaryLogNotDurable, map[string]string{"variable": variable, "value": value})
}

// Rounded is a setting of which the server has made another value, which differs by so many percent.
func Rounded(variable, requested, effective string, share float64) Finding {
	return made(SettingRounded, map[string]string{"variable": variable, "requested": requested, "effective": effective},
		measure("share", share, percent))
}

// Unverified is a setting that the server was started with, and that none of its variables shows.
func Unverified(option, value string) Finding {
	return made(SettingNotVerifiable, map[string]string{"option": option, "value": value})
}

// Debt is what a server had not finished after so many seconds, above its goal.
func Debt(what string, seconds float64, amount, goal int64) Finding {
	return made(ServerNotAtRest, map[string]string{"debt": what}, measure("seconds", seconds, "s"), measure("amount", amount, ""),
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
func Left(schema, why string) Finding {
	return made(SchemaLeft, map[string]string{"schema": schema, "error": why})
}

// NotCopied are prepared data of which no copy could be put aside, and why.
func NotCopied(why string) Finding { return made(DataNotCopied, map[string]string{"error": why}) }

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
	return made(RateNotReached, map[string]string{"unit": m.Unit}, measures...)
}

// Anew is a program that connected again while it measured.
func Anew(program string, times int64) Finding {
	return made(Reconnected, map[string]string{"program": program}, measure("times", times, ""))
}

// PartOf is a file of which only the first rows were asked for.
func PartOf(file string, available, rows int64) Finding {
	return made(InputNotUsedWhole, map[string]string{"file": file}, measure("available", available, "rows"),
		measure("rows", rows, "rows"))
}

// OtherRows is another number of rows than the contest's.
func OtherRows(contest string, rows, required int64) Finding {
	return made(ContestRows, map[string]string{"contest": contest}, measure("rows", rows, "rows"),
		measure("required", required, "rows"))
}

// OtherServer is another version than the contest's.
func OtherServer(contest, version, required string) Finding {
	return made(ContestServer, map[string]string{"contest": contest, "version": version, "required": required})
}

// OtherHardware is hardware that was not limited to the contest's.
func OtherHardware(contest string) Finding {
	return made(ContestHardware, map[string]string{"contest": contest})
}

// OfProgram is what a program of the user's has reported, in its own words.
func OfProgram(text string) Finding { return made(ProgramWarning, map[string]string{"text": text}) }
