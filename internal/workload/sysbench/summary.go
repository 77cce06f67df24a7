// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import "strings"

// summary reads a line of a cumulative report.
func (p *Parser) summary(label, value string) {
	s := p.start()
	switch p.section {
	case sqlSection:
		s.sql(label, value)
	case generalSection:
		s.general(label, value)
	case latencySection:
		s.Latency.read(label, value)
	case fairnessSection:
		s.Fairness.read(label, value)
	case noSection, optionsSection, histogramSection, foreignSection:
	}
}

func (s *Summary) sql(label, value string) {
	switch label {
	case "read":
		s.SQL.Reads = integer(value)
	case "write":
		s.SQL.Writes = integer(value)
	case "other":
		s.SQL.Others = integer(value)
	case "total":
		s.SQL.Queries = integer(value)
	case "transactions":
		s.SQL.Transactions = count(value)
	case "queries":
		s.SQL.QueryRate = count(value)
	case "ignored errors":
		s.SQL.IgnoredErrors = count(value)
	case "reconnects":
		s.SQL.Reconnects = count(value)
	case "Number of unfinished transactions on forced shutdown":
		s.Unfinished = integer(value)
	}
}

func (s *Summary) general(label, value string) {
	switch label {
	case "total time", "time elapsed":
		s.Seconds, s.hasSeconds = decimal(strings.TrimSuffix(value, "s")), true
	case "total number of events":
		s.Events, s.hasEvents = integer(value), true
	case "events/s (eps)":
		s.EventsPerSecond = decimal(value)
	}
}

func (l *Latency) read(label, value string) {
	switch label {
	case "min":
		l.Min = decimal(value)
	case "avg":
		l.Avg = decimal(value)
	case "max":
		l.Max = decimal(value)
	case "sum":
		l.Sum = decimal(value)
	default:
		if m := percentileName.FindStringSubmatch(label); m != nil {
			l.Percentile, l.Value = integer(m[1]), decimal(value)
		}
	}
}

func (f *Fairness) read(label, value string) {
	avg, stddev, _ := strings.Cut(value, "/")
	switch label {
	case "events (avg/stddev)":
		f.EventsAvg, f.EventsStddev = decimal(avg), decimal(stddev)
	case "execution time (avg/stddev)":
		f.SecondsAvg, f.SecondsStddev = decimal(avg), decimal(stddev)
	}
}

// count reads a number with its rate in parentheses.
func count(value string) Count {
	m := countedRate.FindStringSubmatch(value)
	if m == nil {
		return Count{Total: integer(value)}
	}
	return Count{Total: integer(m[1]), PerSecond: decimal(m[2])}
}
