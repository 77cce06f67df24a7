// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
)

// junitSuites is the root of a JUnit report, in the layout that Jenkins, GitLab and others read.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     junitTime    `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      junitTime   `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

// junitCase passed if it has neither a failure nor an error, and was not skipped.
type junitCase struct {
	Name      string `xml:"name,attr"`
	ClassName string `xml:"classname,attr"`
	// Time is in seconds, for which something was measured.
	Time      junitTime    `xml:"time,attr"`
	Skipped   *junitReason `xml:"skipped"`
	Error     *junitReason `xml:"error"`
	Failure   *junitReason `xml:"failure"`
	SystemOut string       `xml:"system-out,omitempty"`
}

// junitTime is a duration in seconds; the format knows three decimals.
type junitTime float64

func (t junitTime) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%.3f", float64(t)), nil }

type junitReason struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func reason(kind, message string) *junitReason {
	return &junitReason{Message: message, Type: kind, Text: message}
}

// JUnit writes a test case for the run, which has an error if it has failed and is skipped if it has not finished, one for each
// point or pair, and one for each claim, which has failed if the claim does not hold and is skipped if nothing can be said.
func JUnit(w io.Writer, r *Report) error {
	class := r.Namespace + "." + r.Name
	cases := []junitCase{r.ended(class)}
	for i := range r.Points {
		if !r.HasVariants() {
			cases = append(cases, r.pointCase(class, &r.Points[i]))
		}
	}
	for i := range r.Pairs {
		of := Fine // whichever variant is faster
		if r.Pairs[i].Verdict == stats.CannotSay {
			of = Undecided
		}
		cases = append(cases, pairCase(class+".comparisons", &r.Pairs[i], of))
	}
	return writeJUnit(w, r.Name, r.Started, append(cases, claimCases(class, r.Claims)...))
}

func (r *Report) pointCase(class string, p *stats.Point) junitCase {
	c := junitCase{Name: cmp.Or(stats.Label(p.Parameters), r.Workload), ClassName: class + ".points"}
	micros := int64(0)
	for _, record := range p.Records {
		micros += record.Summary.Totals.Micros
	}
	c.Time = junitTime(float64(micros) / 1e6)
	switch {
	case p.Summary.N > 0:
		c.SystemOut = fmt.Sprintf("%s %s, %d trials", stats.Format(p.Summary.Median), p.Metric.Unit, p.Summary.N)
		if interval := p.Summary.RangeIn(stats.Format); interval != "" {
			c.SystemOut += ", " + interval
		}
	case r.Outcome == Unfinished:
		c.Skipped = reason("", "not measured yet")
	default:
		c.Error = reason("NotMeasured", "no trial of this point counts")
	}
	return c
}

// pairCase has failed for a regression or a difference, and is skipped if nothing can be said.
func pairCase(class string, p *stats.Paired, of Ruling) junitCase {
	c := junitCase{Name: pairName(p), ClassName: class}
	switch of {
	case Regression, Different:
		c.Failure = reason(string(of), p.String())
	case Undecided:
		c.Skipped = reason("", p.String())
	case Fine, Reproduced:
		c.SystemOut = p.String()
	}
	return c
}

// pairName names the comparison of a variant with the baseline at one point.
func pairName(p *stats.Paired) string { return p.Variant + " / " + p.Baseline + stats.At(p.Parameters) }

func (r *Report) ended(class string) junitCase {
	c := junitCase{Name: "finished", ClassName: class}
	switch {
	case r.Outcome == v1alpha1.ConditionFailed:
		c.Error = reason(r.Outcome, r.Message)
	case r.Outcome == Unfinished:
		c.Skipped = reason("", r.Message)
	case r.HasVariants():
		c.SystemOut = r.headline()
	default:
		c.SystemOut = r.state()
	}
	return c
}

func claimCases(class string, list []claims.Judgement) []junitCase {
	var cases []junitCase
	for _, j := range list {
		c := junitCase{Name: j.Name, ClassName: class + ".claims"}
		switch j.Verdict {
		case claims.DoesNotHold:
			c.Failure = reason(string(j.Verdict), j.Detail)
		case claims.CannotSay, claims.PremiseMissing:
			c.Skipped = reason("", j.Detail)
		case claims.Holds:
			c.SystemOut = j.Detail
		}
		cases = append(cases, c)
	}
	return cases
}

func writeJUnit(w io.Writer, name string, started time.Time, cases []junitCase) error {
	suite := junitSuite{Name: name, Tests: len(cases), Cases: cases}
	if !started.IsZero() {
		suite.Timestamp = started.UTC().Format("2006-01-02T15:04:05")
	}
	for _, c := range cases {
		suite.Time += c.Time
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{
		Name: "benchrun", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Time: suite.Time,
		Suites: []junitSuite{suite},
	}); err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}
