// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Digest is the SHA-256 of data in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// NamedDigest is the SHA-256 of data with the name of the algorithm, as the status of a run and manifests have it.
func NamedDigest(data []byte) string { return "sha256:" + Digest(data) }

// SumsFile has the checksums of the other files of a folder; "sha256sum -c SHA256SUMS" verifies them.
const SumsFile = "SHA256SUMS"

// Sums are the SHA-256 digests of files in hexadecimal, by the names of the files.
type Sums map[string]string

// Text is what sha256sum prints, sorted by name.
func (s Sums) Text() []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		b.WriteString(sumLine(s[name], name))
	}
	return []byte(b.String())
}

func sumLine(sha256, name string) string { return sha256 + "  " + name + "\n" }

// ParseSums reads what Text has written.
func ParseSums(text []byte) (Sums, error) {
	sums := Sums{}
	for line := range strings.Lines(string(text)) {
		line, ended := strings.CutSuffix(line, "\n")
		digest, name, found := strings.Cut(line, "  ")
		if raw, err := hex.DecodeString(digest); !ended || !found || name == "" || err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("%q in %s is not a checksum and a file name", Truncate(line, 200), SumsFile)
		}
		if _, twice := sums[name]; twice {
			return nil, fmt.Errorf("%s names %s twice", SumsFile, name)
		}
		sums[name] = digest
	}
	return sums, nil
}

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
