// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output

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
	case noSection, optionsSection, histogramSection, foreignSection:
	}
}

func (s *Summary) sql(label, value string) {
	switch label {
	case "total":
		s.SQL.Queries = integer(value)
	case "transactions":
		s.SQL.Transactions = count(value)
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
	}
}

// count reads a number without the rate that follows in parentheses.
func count(value string) int64 {
	total, _, _ := strings.Cut(value, "(")
	return integer(total)
}
