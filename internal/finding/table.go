// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"maps"
	"slices"
	"strings"
)

// Entry is what the table says of a code.
type Entry struct {
	Severity Severity
	// Text is the template of the line: see fill.
	Text string
	// Means is what the finding means for the number, Do what to do; Do is empty if there is nothing to be done.
	Means, Do string
}

// Lookup is the entry of a code; false if there is none.
func Lookup(code Code) (Entry, bool) {
	e, known := table[code]
	return e, known
}

// Codes are all of them, in alphabetical order.
func Codes() []Code { return slices.Sorted(maps.Keys(table)) }

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

var table = func() map[Code]Entry {
	all := maps.Clone(ofLoader)
	maps.Copy(all, ofOperator)
	return all
}()
