// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package custom

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// matched takes the numbers of the pattern's last match.
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
					b = lastOf(re.Sub[i-1], none)
				}
				if i < len(re.Sub)-1 {
					a = firstOf(re.Sub[i+1], none)
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

func firstOf(re *syntax.Regexp, none rune) rune {
	if re.Op == syntax.OpLiteral {
		return re.Rune[0]
	}
	return none
}

func lastOf(re *syntax.Regexp, none rune) rune {
	if re.Op == syntax.OpLiteral {
		return re.Rune[len(re.Rune)-1]
	}
	return none
}
