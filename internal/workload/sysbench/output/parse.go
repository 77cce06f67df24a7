// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

const (
	maxErrors = 20
	maxCounts = 64
	// maxCountDigits keeps sums from overflowing.
	maxCountDigits = 15
)

// Parser reads output line by line. The zero value is ready.
type Parser struct {
	report    Report
	section   section
	current   *Summary
	histogram []Bucket
}

type section int

const (
	noSection section = iota
	optionsSection
	histogramSection
	sqlSection
	generalSection
	latencySection
	// Sections that are not read, whose labels could be taken for others.
	foreignSection
)

var headings = map[string]section{
	"Running the test with following options:":       optionsSection,
	"Latency histogram (values are in milliseconds)": histogramSection,
	"SQL statistics:":     sqlSection,
	"General statistics:": generalSection, // 1.0
	"Throughput:":         generalSection, // 1.1
	"Latency (ms):":       latencySection,
	"Threads fairness:":   foreignSection,
	"CPU speed:":          foreignSection,
	"File operations:":    foreignSection,
}

var (
	bannerLine     = regexp.MustCompile(`^sysbench (\S+) \(using (?:system|bundled) LuaJIT `)
	checkpointLine = regexp.MustCompile(`^\[ \d+s \] Checkpoint report:`)
	bucketLine     = regexp.MustCompile(`^(\d+\.\d{3}) \|\**\s+(\d+)$`)
	errorLine      = regexp.MustCompile(`^(FATAL: |ALERT: |CRITICAL: |PANIC: |error: |Error in |invalid option: |Invalid value |` +
		`Unrecognized command line |Cannot find benchmark |unexpected EOL |PASSWORD |ERROR )`)
	// counted is how a script's thread reports what it counted: "benchrun: name=1 other=2". All of them are added up. Lua's
	// print writes the end of a line by itself: two threads may stand on one line, and an empty line follow.
	counted = regexp.MustCompile(`benchrun:((?: [a-z][a-z0-9_]{0,39}=\d+)+)`)
)

// Parse reads a whole output.
func Parse(output string) *Report {
	var p Parser
	for line := range workload.Lines(output) {
		p.Line(line)
	}
	return p.Report()
}

// Report is what was read so far.
func (p *Parser) Report() *Report {
	p.finish()
	return &p.report
}

// Line reads the next line, with or without its end. The interval is not nil if the line has one.
func (p *Parser) Line(line string) *Interval {
	line = strings.TrimSpace(line)
	if i := parseInterval(line); i != nil {
		p.section = noSection
		p.report.Intervals = append(p.report.Intervals, *i)
		return i
	}
	if line == "" || p.heading(line) || p.about(line) {
		return nil
	}
	label, value, found := strings.Cut(line, ":")
	label, value = strings.TrimSpace(label), strings.TrimSpace(value)
	switch s := p.section; {
	case s == optionsSection && label == "Number of threads":
		p.report.Threads = integer(value)
	case s == histogramSection:
		if m := bucketLine.FindStringSubmatch(line); m != nil {
			p.histogram = append(p.histogram, Bucket{Millis: *cmp.Or(decimal(m[1]), new(float64)), Count: integer(m[2])})
		}
	case !found:
	case s == sqlSection:
		p.start().sql(label, value)
	case s == generalSection:
		p.start().general(label, value)
	case s == latencySection:
		p.start().Latency.read(label, value)
	}
	return nil
}

func (p *Parser) heading(line string) bool {
	if checkpointLine.MatchString(line) {
		p.finish()
		p.current = &Summary{checkpoint: true}
		return true
	}
	s, found := headings[line]
	if !found {
		return false
	}
	if c := p.current; c != nil && (c.hasEvents || c.SQL != nil) &&
		(s == histogramSection || s == sqlSection || s == generalSection && c.hasEvents) {
		p.finish()
	}
	p.section = s
	switch s {
	case histogramSection:
		p.histogram = nil
	case sqlSection:
		p.start().SQL = &SQL{}
	case generalSection, latencySection:
		p.start()
	case noSection, optionsSection, foreignSection:
	}
	return true
}

func (p *Parser) about(line string) bool {
	if m := bannerLine.FindStringSubmatch(line); m != nil {
		p.report.Version = m[1]
		return true
	}
	if m := queueLine.FindStringSubmatch(line); m != nil {
		n := integer(m[1])
		p.report.Queue = &n
		return true
	}
	if errorLine.MatchString(line) {
		if len(p.report.Errors) < maxErrors {
			p.report.Errors = append(p.report.Errors, line)
		}
		return true
	}
	if !strings.HasPrefix(line, "benchrun:") {
		return false
	}
	for _, m := range counted.FindAllStringSubmatch(line, -1) {
		p.count(m[1])
	}
	return true
}

// count adds up pairs of names and numbers; those of more than 15 digits cannot be counts.
func (p *Parser) count(pairs string) {
	for pair := range strings.FieldsSeq(pairs) {
		name, n, _ := strings.Cut(pair, "=")
		if len(n) > maxCountDigits {
			continue
		}
		if p.report.Counts == nil {
			p.report.Counts = map[string]int64{}
		}
		if _, known := p.report.Counts[name]; known || len(p.report.Counts) < maxCounts {
			p.report.Counts[name] += integer(n)
		}
	}
}

func (p *Parser) start() *Summary {
	if p.current == nil {
		p.current = &Summary{}
	}
	return p.current
}

func (p *Parser) finish() {
	s := p.current
	p.current, p.section = nil, noSection
	if s == nil || !s.hasSeconds || !s.hasEvents {
		return
	}
	s.Histogram, p.histogram = p.histogram, nil
	if !s.checkpoint {
		p.report.Final = s
	}
}

func integer(s string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(s), 10, 64) // the largest number, if it is out of range
	return n
}

func decimal(s string) *float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
