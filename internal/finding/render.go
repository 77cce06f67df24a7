// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// String is the finding for people, in a line.
func (f Finding) String() string {
	e, known := table[f.Code]
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
		parts = append(parts, strings.TrimSpace(m.Name+" "+m.text("g")+" "+m.Unit))
	}
	if len(parts) == 0 {
		return string(f.Code)
	}
	return fmt.Sprintf("%s (%s)", f.Code, strings.Join(parts, ", "))
}

// fill a template: {name} is a name or a measure, {name:1} a measure with one decimal place, and {name:+} a name and all measures
// after it: a/x, 3 from Jobs. What is between brackets is left out unless the finding has all that is in it. ok says that it has
// all that is outside of brackets.
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
	for _, m := range f.Measures {
		if m.Name == name {
			return m.text(format), true
		}
	}
	return unknown, false
}

// list is a name, if there is one, and what was counted besides.
func (f Finding) list(name string) (text string, found bool) {
	var parts []string
	if where, is := f.Where[name]; is {
		parts = append(parts, where)
	}
	for _, m := range f.Measures {
		parts = append(parts, m.text("")+" "+m.Name)
	}
	return strings.Join(parts, ", "), len(parts) > 0
}

// text is the number, or the two ends of the range.
func (m Measure) text(format string) string {
	low, high := written(m.Low, format), written(m.High, format)
	if low == high {
		return low
	}
	return low + "–" + high
}

// written is a number with so many decimal places, none by default, or with four significant digits.
func written(v float64, format string) string {
	if format != "g" {
		places, _ := strconv.Atoi(format) // empty is none
		return strconv.FormatFloat(v, 'f', places, 64)
	}
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64) // it was just written
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
