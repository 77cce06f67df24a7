// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package custom

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Definition of the workload.
var Definition = workload.Definition{
	Type: "Custom", Validate: workload.Checked(parameters), Pod: pod, NewTool: NewTool,
}

// Parameters are those of the API's member custom at one point.
type Parameters struct {
	// Image, User and FilesFrom are for the code that makes the Pod.
	Image     string `json:"image"`
	User      int64  `json:"user,omitempty"`
	FilesFrom string `json:"filesFrom,omitempty"`
	// Command, Prepare, Cleanup and Env may have ${name} of Parameters.
	Command []string          `json:"command"`
	Prepare []string          `json:"prepare,omitempty"`
	Cleanup []string          `json:"cleanup,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Parameters with their values at this point.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Result is nil if the program writes a result file.
	Result *Result `json:"result,omitempty"`
}

// Result finds numbers in the program's output.
type Result struct {
	Pattern string   `json:"pattern"`
	Metrics []Metric `json:"metrics"`
}

// Metric is a group of a pattern.
type Metric struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Better is Higher or Lower.
	Better string `json:"better"`
}

// parameters reads and checks them, and puts the values of Parameters in their places.
func parameters(cfg *result.Config) (*Parameters, error) {
	p, err := workload.Decode[Parameters](cfg)
	switch {
	case err != nil:
		return nil, err
	case len(p.Command) == 0 || p.Command[0] == "":
		return nil, errors.New("command is empty")
	}
	if err := p.substitute(); err != nil {
		return nil, err
	}
	if p.Result == nil {
		return p, nil
	}
	pattern, err := regexp.Compile(p.Result.Pattern)
	if err != nil {
		return nil, fmt.Errorf("result.pattern: %w", err)
	}
	for _, m := range p.Result.Metrics {
		if pattern.SubexpIndex(m.Name) < 0 {
			return nil, fmt.Errorf("result.pattern has no group named %s", m.Name)
		}
	}
	return p, nil
}

// substitute replaces each ${name} with the parameter's value.
func (p *Parameters) substitute() (err error) {
	for _, list := range []struct {
		name string
		args []string
	}{{"command", p.Command}, {"prepare", p.Prepare}, {"cleanup", p.Cleanup}} {
		for i, text := range list.args {
			if list.args[i], err = substituted(text, p.Parameters); err != nil {
				return fmt.Errorf("%s[%d]: %w", list.name, i, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		if p.Env[name], err = substituted(p.Env[name], p.Parameters); err != nil {
			return fmt.Errorf("env.%s: %w", name, err)
		}
	}
	return nil
}

// substituted is a text with the parameters' values. A value is not substituted again.
func substituted(text string, parameters map[string]string) (string, error) {
	var out strings.Builder
	for rest := text; ; {
		before, behind, found := strings.Cut(rest, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(behind, "}")
		value, known := parameters[name]
		if !closed || !known {
			return "", fmt.Errorf("%q has a ${…} that parameters does not name", text)
		}
		out.WriteString(value)
		rest = after
	}
}

// pod is one of the user's image, in which the loader starts the program.
func pod(cfg *result.Config) (workload.Pod, error) {
	p, err := workload.Decode[Parameters](cfg)
	if err != nil {
		return workload.Pod{}, err
	}
	return workload.Pod{Image: p.Image, User: p.User, Work: true, Files: p.FilesFrom}, nil
}

func (t *customTool) matched(e *workload.Execution) (*customReport, error) {
	line, groups := "", []int(nil)
	for one := range workload.Lines(e.Output) {
		if m := t.pattern.FindStringSubmatchIndex(one); m != nil {
			line, groups = one, m
		}
	}
	if groups == nil {
		return nil, fmt.Errorf("%s ended with exit code 0 but printed no line that matches "+
			"result.pattern; %s", e.Args[0], lastLines(e))
	}
	report := &customReport{}
	for _, m := range t.params.Result.Metrics {
		group := 2 * t.pattern.SubexpIndex(m.Name)
		value, err := numberAt(line, groups[group], groups[group+1], t.pattern, m.Name)
		if err != nil {
			return nil, fmt.Errorf("the group %s of result.pattern matches %w", m.Name, err)
		}
		report.Metrics = append(report.Metrics, result.Metric{
			Name: m.Name, Value: value, Unit: m.Unit, Better: strings.ToLower(m.Better),
		})
	}
	return report, nil
}

// numberAt reads the part of a line that a group matches, which must be a whole number.
func numberAt(line string, from, to int, pattern *regexp.Regexp, group string) (float64, error) {
	if from < 0 {
		return 0, errors.New("nothing: each metric needs a number")
	}
	text := line[from:to]
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%q, which is not a number", result.Truncate(text, 64))
	}
	before, after := besides(pattern, group)
	if whole := wholeNumber(line, from, to, before, after); whole != text {
		return 0, fmt.Errorf("%q, which is a part of %q: a number has a decimal point, an exponent like e+04 and no separators "+
			"between its digits. Let the group match all of it, let the program print it so, or name the character beside the group "+
			"in the pattern",
			text, whole)
	}
	return value, nil
}

// besideAtMost is how far a number is looked for beside a group.
const besideAtMost = 32

// aNumber is one number in any of the ways that programs print them: in groups of three, with a decimal comma, with an exponent,
// in hexadecimal, or in thousands and millions.
var aNumber = regexp.MustCompile(
	"^-?(?:0[xX][0-9a-fA-F]+|(?:(?:[0-9]+|[0-9]{1,3}(?:[.,'’_\u00a0\u202f][0-9]{3})+)(?:[.,][0-9]+)?|[.,][0-9]+)" +
		"(?:[eE][+-]?[0-9]+)?(?:[kKMGTP]i?)?)$")

// wholeNumber is the longest number of which a part of a line is a part. A character that the pattern names beside its group does
// not belong to the number.
func wholeNumber(line string, from, to int, before, after rune) string {
	whole := line[from:to]
	for left := from; left >= max(0, from-besideAtMost); left-- {
		for right := to; right <= min(len(line), to+besideAtMost); right++ {
			one := line[left:right]
			if len(one) > len(whole) && utf8.ValidString(one) && aNumber.MatchString(one) && separate(line, left, right) {
				whole = one
			}
			if next, _ := utf8.DecodeRuneInString(line[to:]); next == after {
				break
			}
		}
		if last, _ := utf8.DecodeLastRuneInString(line[:from]); last == before {
			break
		}
	}
	return whole
}

// separate says whether what begins with a sign or ends with a letter is not a part of a word.
func separate(line string, from, to int) bool {
	previous, _ := utf8.DecodeLastRuneInString(line[:from])
	next, _ := utf8.DecodeRuneInString(line[to:])
	last, _ := utf8.DecodeLastRuneInString(line[from:to])
	return (line[from] != '-' || !unicode.IsLetter(previous) && !unicode.IsDigit(previous)) &&
		(!unicode.IsLetter(last) || !unicode.IsLetter(next))
}

// besides are the characters that a pattern names right before and after a group; unicode.MaxRune+1 is none.
func besides(pattern *regexp.Regexp, group string) (before, after rune) {
	const none = unicode.MaxRune + 1
	parsed, err := syntax.Parse(pattern.String(), syntax.Perl)
	if err != nil { // it was compiled
		return none, none
	}
	literal := func(re *syntax.Regexp) []rune {
		if re.Op == syntax.OpLiteral {
			return re.Rune
		}
		return []rune{none}
	}
	var look func(*syntax.Regexp, rune, rune) (rune, rune, bool)
	look = func(re *syntax.Regexp, before, after rune) (rune, rune, bool) {
		if re.Op == syntax.OpCapture && re.Name == group {
			return before, after, true
		}
		for i, sub := range re.Sub {
			b, a := none, none
			if re.Op == syntax.OpConcat || re.Op == syntax.OpCapture {
				b, a = before, after
				if i > 0 {
					text := literal(re.Sub[i-1])
					b = text[len(text)-1]
				}
				if i < len(re.Sub)-1 {
					a = literal(re.Sub[i+1])[0]
				}
			}
			if b, a, found := look(sub, b, a); found {
				return b, a, true
			}
		}
		return none, none, false
	}
	before, after, _ = look(parsed, none, none)
	return before, after
}
