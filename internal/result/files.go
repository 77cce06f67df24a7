// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Digest is the SHA-256 of data in hexadecimal.
func Digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

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

// MaxConfigMapBytes is how much one ConfigMap is given: the limit of Kubernetes is 1 MiB with everything.
const MaxConfigMapBytes = 900 << 10

// File is a named piece of data on its way into a ConfigMap.
type File struct {
	Name string
	Data []byte
	// Binary data goes into binaryData.
	Binary bool
}

// Compressed is the file with the suffix .gz, which UnpackFile reads under its own name.
func (f File) Compressed() (File, error) {
	gz, err := compress(f.Data)
	if err != nil {
		return File{}, fmt.Errorf("compressing %s: %w", f.Name, err)
	}
	return File{Name: f.Name + ".gz", Data: gz, Binary: true}, nil
}

// Pack distributes files over as many ConfigMaps as they take; nearly always that is one. If together they are too large,
// text is compressed first and gets the suffix .gz; what is still too large for one ConfigMap is cut into pieces with the
// suffixes .1, .2 and so on, which are joined by writing them one after the other.
func Pack(files []File) ([][]File, error) {
	total := 0
	for _, f := range files {
		total += len(f.Data)
	}
	bins := [][]File{nil}
	free := MaxConfigMapBytes
	put := func(f File) {
		if len(f.Data) > free {
			bins, free = append(bins, nil), MaxConfigMapBytes
		}
		last := len(bins) - 1
		bins[last] = append(bins[last], f)
		free -= len(f.Data)
	}
	for i, f := range files {
		// The first file is what is looked at first: it stays text.
		if total > MaxConfigMapBytes && !f.Binary && i > 0 {
			var err error
			if f, err = f.Compressed(); err != nil {
				return nil, err
			}
		}
		if len(f.Data) <= MaxConfigMapBytes {
			put(f)
			continue
		}
		for n, rest := 1, f.Data; len(rest) > 0; n++ {
			size := min(len(rest), MaxConfigMapBytes)
			for !f.Binary && size < len(rest) && size > MaxConfigMapBytes-utf8.UTFMax && !utf8.RuneStart(rest[size]) {
				size-- // a ConfigMap takes whole characters only
			}
			put(File{Name: fmt.Sprintf("%s.%d", f.Name, n), Data: rest[:size], Binary: f.Binary})
			rest = rest[size:]
		}
	}
	return bins, nil
}

// compress gives the same bytes for the same data.
func compress(data []byte) ([]byte, error) {
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = zw.Write(data)
	err = errors.Join(err, zw.Close())
	return buf.Bytes(), err
}

// maxUnpacked bounds a file that was compressed: what is read may not be what Pack wrote.
const maxUnpacked = 64 << 20

// UnpackFile is a file that Pack has distributed, from the contents of all its ConfigMaps by key; nil if it is not among them.
func UnpackFile(name string, contents map[string][]byte) ([]byte, error) {
	if data := joined(name, contents); data != nil {
		return data, nil
	}
	name += ".gz"
	compressed := joined(name, contents)
	if compressed == nil {
		return nil, nil
	}
	zr, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(zr, maxUnpacked+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case len(data) > maxUnpacked:
		return nil, fmt.Errorf("%s has more than %d bytes when it is unpacked", name, maxUnpacked)
	}
	return data, nil
}

// joined is a file from its pieces, or whole; nil if there is none.
func joined(name string, contents map[string][]byte) []byte {
	if data, found := contents[name]; found {
		return data
	}
	var data []byte
	for n := 1; ; n++ {
		piece, found := contents[fmt.Sprintf("%s.%d", name, n)]
		if !found {
			return data
		}
		data = append(data, piece...)
	}
}
