// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import "regexp"

// number is padded to four characters, which nan is not.
const number = ` *(-?[\d.]+|-?nan|-?inf)`

var intervalLine = regexp.MustCompile(`^\[ (\d+)s \] thds: \d+ (?:tps|eps): ` + number + `(?: qps: .+)? lat \(ms,(\d+)%\): ` +
	number + `(?: err/s.+)?$`)

// queueLine follows the line of an interval if events are due at a given rate.
var queueLine = regexp.MustCompile(`^\[ \d+s \] queue length: (\d+),? concurrency: \d+$`)

// parseInterval reads a line of intermediate results; nil if it is none.
func parseInterval(line string) *Interval {
	m := intervalLine.FindStringSubmatch(line)
	if m == nil {
		return nil
	}
	i := &Interval{Second: integer(m[1]), Events: decimal(m[2]), LatencyMillis: decimal(m[4])}
	// Where no event finished, and where percentiles are switched off, sysbench prints 0.00.
	if i.Events == nil || *i.Events == 0 || integer(m[3]) == 0 {
		i.LatencyMillis = nil
	}
	return i
}
