// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// String is the finding for people, in a line. It says how many trials and measurements it is about, if not about all of them.
func (f Finding) String() string {
	text := f.Text()
	if f.Trials != f.Of {
		text += fmt.Sprintf(" (%d of %d trials)", f.Trials, f.Of)
	}
	if f.Runs != f.OfRuns {
		text += fmt.Sprintf(" (%d of %d measurements)", f.Runs, f.OfRuns)
	}
	return text
}

// Text is the finding for people, whatever it is about.
func (f Finding) Text() string {
	e, known := Table[f.Code]
	if !known {
		return f.bare()
	}
	text, _ := f.fill(e.Text)
	return text
}

// Texts are findings for people, a line for each.
func Texts(list []Finding) []string {
	var texts []string
	for _, f := range list {
		texts = append(texts, f.String())
	}
	return texts
}

// bare is a finding that has no text here: a later release has made it.
func (f Finding) bare() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f.Where)) {
		parts = append(parts, name+" "+f.Where[name])
	}
	for _, m := range f.Measures {
		unit := m.Unit
		if unit != "" && unit != percent {
			unit = " " + unit
		}
		parts = append(parts, m.Name+" "+m.text(significant)+unit)
	}
	code := cmp.Or(string(f.Code), unknown) // a text is never empty: a status with an empty warning would be refused
	if len(parts) == 0 {
		return code
	}
	return fmt.Sprintf("%s (%s)", code, strings.Join(parts, ", "))
}

// fill a template: {name} is a name or a measure, {name:1} a measure with one decimal place, {name:µs} one in microseconds with
// its unit, {low–high} the range from one measure to another, and {name:+} a name and all measures after it: a/x, 3 from Jobs.
// What is between brackets is left out unless the finding has all that is in it. ok says that it has all that is outside of
// brackets.
func (f Finding) fill(template string) (text string, ok bool) {
	var b strings.Builder
	ok = true
	for template != "" {
		at := strings.IndexAny(template, "{[")
		if at < 0 {
			b.WriteString(template)
			break
		}
		b.WriteString(template[:at])
		end := at + strings.IndexByte(template[at:], closing[template[at]])
		inside := template[at+1 : end]
		if template[at] == '[' {
			if part, whole := f.fill(inside); whole {
				b.WriteString(part)
			}
		} else {
			value, found := f.value(inside)
			b.WriteString(value)
			ok = ok && found
		}
		template = template[end+1:]
	}
	return b.String(), ok
}

var closing = map[byte]byte{'{': '}', '[': ']'}

// unknown stands where a finding lacks a name or a measure, as one whose measure was not a number does.
const unknown = "unknown"

// value of a placeholder.
func (f Finding) value(placeholder string) (text string, found bool) {
	name, format, _ := strings.Cut(placeholder, ":")
	if format == "+" {
		return f.list(name)
	}
	if where, is := f.Where[name]; is {
		return where, true
	}
	from, to, ranges := strings.Cut(name, "–")
	low, found := f.measure(from)
	if high, second := f.measure(to); ranges {
		low.High, found = high.High, found && second
	}
	if !found {
		return unknown, false
	}
	return low.text(format), true
}

// measure of that name.
func (f Finding) measure(name string) (m Measure, found bool) {
	i := slices.IndexFunc(f.Measures, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return m, false
	}
	return f.Measures[i], true
}

// list is a name, if there is one, and what was counted besides.
func (f Finding) list(name string) (text string, found bool) {
	var parts []string
	if where, is := f.Where[name]; is {
		parts = append(parts, where)
	}
	if _, are := f.Where[others]; are {
		parts = append(parts, "and others")
	}
	for _, m := range f.Measures {
		parts = append(parts, m.text("")+" "+m.Name)
	}
	return strings.Join(parts, ", "), len(parts) > 0
}

// text is the number, or the two ends of the range.
func (m Measure) text(format string) string {
	if format == micros {
		return Micros(m.Low, m.High)
	}
	low, high := written(m.Low, format), written(m.High, format)
	if low == high {
		return low
	}
	return low + "–" + high
}

// significant is the format of a number with four significant digits.
const significant = "g"

// Micros is a time, or the range of it, given in microseconds: from 100000 on it is written in milliseconds, from a million on
// in seconds.
func Micros(low, high float64) string {
	unit, scale := MicrosUnit(high)
	return Measure{Low: low / scale, High: high / scale}.text(significant) + " " + unit
}

// MicrosUnit is the unit in which times of up to so many microseconds are written, and how many of them it is.
func MicrosUnit(most float64) (unit string, scale float64) {
	const milli, second, rounded = 1e3, 1e6, 0.99995 // four significant digits
	switch {
	case most < rounded*100*milli:
		return micros, 1
	case most < rounded*second:
		return "ms", milli
	}
	return "s", second
}

// written is a number with so many decimal places, none by default, or with four significant digits.
func written(v float64, format string) string {
	if format != significant {
		places, _ := strconv.Atoi(format) // empty is none
		return strconv.FormatFloat(v, 'f', places, 64)
	}
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64) // it was just written
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Entry is what the table says of a code. docs/reference/findings.md has what it means for the number, and what to do.
type Entry struct {
	Severity Severity
	// Text is the template of the line: see fill.
	Text string
}

// Pattern is the text of a code with names in capital letters in place of what is measured or named. What is between brackets
// is not always there.
func (e Entry) Pattern() string {
	var b strings.Builder
	for i, part := range strings.Split(e.Text, "{") {
		if i > 0 {
			inside, after, _ := strings.Cut(part, "}")
			name, _, _ := strings.Cut(inside, ":")
			part = strings.ToUpper(name) + after
		}
		b.WriteString(part)
	}
	return b.String()
}

// Table has every code.
var Table = func() map[Code]Entry {
	all := maps.Clone(ofLoader)
	maps.Copy(all, ofOperator)
	return all
}()
