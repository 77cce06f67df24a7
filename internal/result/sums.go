// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"crypto/sha256"
	"encoding/hex"
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
