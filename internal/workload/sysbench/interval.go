// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"encoding/json"
	"regexp"
	"strings"
)

// number is padded to four characters, which nan is not.
const number = ` *(-?[\d.]+|-?nan|-?inf)`

var (
	intervalLine = regexp.MustCompile(`^\[ (\d+)s \] thds: (\d+) (?:tps|eps): ` + number +
		`(?: qps: ` + number + ` \(r/w/o: ` + number + `/` + number + `/` + number + `\))?` +
		` lat \(ms,(\d+)%\): ` + number + `(?: err/s:? ` + number + ` reconn/s:? ` + number + `)?$`)
	queueLine = regexp.MustCompile(`^\[ (\d+)s \] queue length: (\d+),? concurrency: (\d+)$`)
	csvLine   = regexp.MustCompile(`^\d+,\d+(?:,` + number + `){8}$`)
	notFinite = regexp.MustCompile(`:\s*-?(nan|inf)`)
)

// parseInterval reads a line of intermediate results in sysbench's own format or as its hook for CSV writes it; nil if it
// is none.
func parseInterval(line string) *Interval {
	if m := intervalLine.FindStringSubmatch(line); m != nil {
		i := &Interval{
			Second: integer(m[1]), Threads: integer(m[2]), Events: decimal(m[3]),
			Queries: decimal(m[4]), Reads: decimal(m[5]), Writes: decimal(m[6]), Others: decimal(m[7]),
			Percentile: integer(m[8]), LatencyMillis: decimal(m[9]), Errors: decimal(m[10]), Reconnects: decimal(m[11]),
		}
		if i.Percentile == 0 {
			i.LatencyMillis = nil // percentiles are switched off, and it prints 0.00
		}
		return i.withoutStall()
	}
	if !csvLine.MatchString(line) {
		return nil
	}
	f := strings.Split(line, ",")
	i := &Interval{
		Second: integer(f[0]), Threads: integer(f[1]), Events: decimal(f[2]),
		Queries: decimal(f[3]), Reads: decimal(f[4]), Writes: decimal(f[5]), Others: decimal(f[6]),
		LatencyMillis: decimal(f[7]), Errors: decimal(f[8]), Reconnects: decimal(f[9]),
	}
	return i.withoutStall()
}

// withoutStall takes the latency away where no event finished: sysbench prints 0.00 then.
func (i *Interval) withoutStall() *Interval {
	if i.Events == nil || *i.Events == 0 {
		i.LatencyMillis = nil
	}
	return i
}

// jsonInterval gathers the lines of an object of sysbench's hook for JSON, which writes an array over many lines.
type jsonInterval struct {
	text  strings.Builder
	depth int
}

// maxJSONInterval bounds an object: one of sysbench's has some 300 bytes.
const maxJSONInterval = 4096

// line takes a line; part says whether it belongs to an object, and the interval is not nil if it ends one.
func (j *jsonInterval) line(line string) (i *Interval, part bool) {
	if j.depth == 0 && line != "{" {
		return nil, false
	}
	j.depth += strings.Count(line, "{") - strings.Count(line, "}")
	j.text.WriteString(line)
	if j.depth > 0 && j.text.Len() < maxJSONInterval {
		return nil, true
	}
	text := strings.TrimSuffix(j.text.String(), ",")
	j.text.Reset()
	j.depth = 0
	return decodeInterval(notFinite.ReplaceAllString(text, ": null")), true
}

func decodeInterval(text string) *Interval {
	var o struct {
		Time    *float64 `json:"time"`
		Threads int64    `json:"threads"`
		TPS     *float64 `json:"tps"`
		QPS     struct {
			Total  *float64 `json:"total"`
			Reads  *float64 `json:"reads"`
			Writes *float64 `json:"writes"`
			Other  *float64 `json:"other"`
		} `json:"qps"`
		Latency    *float64 `json:"latency"`
		Errors     *float64 `json:"errors"`
		Reconnects *float64 `json:"reconnects"`
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil || o.Time == nil {
		return nil
	}
	i := &Interval{
		Second: int64(*o.Time), Threads: o.Threads, Events: o.TPS,
		Queries: o.QPS.Total, Reads: o.QPS.Reads, Writes: o.QPS.Writes, Others: o.QPS.Other,
		LatencyMillis: o.Latency, Errors: o.Errors, Reconnects: o.Reconnects,
	}
	return i.withoutStall()
}
