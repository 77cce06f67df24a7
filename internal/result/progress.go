// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"encoding/json"
	"fmt"
)

// progressKind marks a line of a loader's log as Progress: programs that make a load may print JSON, too.
const progressKind = "benchrun-progress"

// Progress is what a loader does, as it stands on a line of its log.
type Progress struct {
	// Seconds since the loader started.
	Seconds int64 `json:"seconds"`
	// Phase of the attempt, by the name that the document has for it.
	Phase string `json:"phase"`
	// Rows written so far; nil before the workload counts any.
	Rows *int64 `json:"rows,omitempty"`
	// Note is what the phase says of itself, for people.
	Note string `json:"note,omitempty"`
}

// progressLine is Progress as it is written.
type progressLine struct {
	Kind string `json:"kind"`
	Progress
}

// Line is the line of the log, without its end.
func (p Progress) Line() string {
	data, err := json.Marshal(progressLine{progressKind, p})
	if err != nil { // strings and numbers always have JSON
		return ""
	}
	return string(data)
}

// ParseProgress reads a line of a log, and says whether it is one about progress.
func ParseProgress(line string) (Progress, bool) {
	if line == "" || line[0] != '{' {
		return Progress{}, false
	}
	var read progressLine
	if json.Unmarshal([]byte(line), &read) != nil || read.Kind != progressKind || read.Phase == "" {
		return Progress{}, false
	}
	return read.Progress, true
}

// Where is the phase and how far it is, for people.
func (p Progress) Where() string {
	text := p.Phase
	if p.Rows != nil {
		text += fmt.Sprintf(", %d rows", *p.Rows)
	}
	if p.Note != "" {
		text += ", " + p.Note
	}
	return text
}

// String is the line for people.
func (p Progress) String() string { return fmt.Sprintf("%4d s: %s", p.Seconds, p.Where()) }
