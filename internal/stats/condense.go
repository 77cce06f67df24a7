// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Said is what several texts say.
type Said struct {
	Text string
	// From are the indexes of the texts.
	From []int
}

// Condense says each text once, in the order in which they first come. Texts that differ only in what they measured are one,
// with the range of each measure:
//
//	after 5s it had 1940 dirty pages (the goal is 0)
//	after 6s it had 1200 dirty pages (the goal is 0)
//	after 5–6s it had 1200–1940 dirty pages (the goal is 0)
//
// Numbers that may be names, as in "Pod 2" and "sync_binlog is 0", are kept apart, and so are numbers within words. What was
// condensed can be condensed again, with other texts.
func Condense(texts []string) []Said {
	var list []Said
	var forms []measured
	known := map[string]int{}
	for i, text := range texts {
		form := measuredIn(text)
		key := fmt.Sprintf("%q", form.words)
		at, seen := known[key]
		if !seen {
			at = len(list)
			known[key], list, forms = at, append(list, Said{}), append(forms, form)
		}
		list[at].From = append(list[at].From, i)
		for n, r := range form.ranges {
			forms[at].ranges[n].widen(r)
		}
	}
	for i := range list {
		list[i].Text = forms[i].String()
	}
	return list
}

// measured is a text in parts: words, and what was measured between each and the next.
type measured struct {
	words  []string
	ranges []textRange
}

// number in a text, or the range of several; measure says whether it is one by what is before and after it.
var number = regexp.MustCompile(`(\d+(?:\.\d+)?)(?:–(\d+(?:\.\d+)?))?`)

func measuredIn(text string) measured {
	var m measured
	rest := 0
	for _, at := range number.FindAllStringSubmatchIndex(text, -1) {
		if !measure(text[:at[0]], text[at[1]:]) {
			continue
		}
		r := textRange{text[at[2]:at[3]], text[at[2]:at[3]]}
		if at[4] >= 0 {
			r.high = text[at[4]:at[5]]
		}
		m.words, m.ranges, rest = append(m.words, text[rest:at[0]]), append(m.ranges, r), at[1]
	}
	m.words = append(m.words, text[rest:])
	return m
}

var (
	alone = regexp.MustCompile(`(?:^|[ (])$`)
	unit  = regexp.MustCompile(`^ ?(?:%|(?:s|ms|µs)\b)`)
	// counting is what is before a number that counts what follows it. After a noun, a number may be a name; after a
	// number and a comma, it may be one of several names.
	counting = regexp.MustCompile(`(?:^|\(|[^\d], |[:;] |\b(?:of|about|after|had|than|anew) )$`)
	counted  = regexp.MustCompile(`^ [a-z]`)
)

// measure says whether a number was measured: it has a unit, or it counts something.
func measure(before, after string) bool {
	return alone.MatchString(before) && unit.MatchString(after) || counting.MatchString(before) && counted.MatchString(after)
}

func (m measured) String() string {
	var b strings.Builder
	for i, r := range m.ranges {
		b.WriteString(m.words[i] + r.String())
	}
	return b.String() + m.words[len(m.words)-1]
}

// textRange has two numbers as they are written in texts, which are the same if all texts have the same one.
type textRange struct{ low, high string }

func (r *textRange) widen(by textRange) {
	if valueOf(by.low) < valueOf(r.low) {
		r.low = by.low
	}
	if valueOf(by.high) > valueOf(r.high) {
		r.high = by.high
	}
}

func (r textRange) String() string {
	if r.low == r.high {
		return r.low
	}
	return r.low + "–" + r.high
}

// valueOf a number in a text; one that is too large for a float64 is infinite.
func valueOf(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}
