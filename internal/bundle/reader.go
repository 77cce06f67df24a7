// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// ErrInvalid is wrapped by every error about an archive that is not a complete, unchanged bundle.
var ErrInvalid = errors.New("this is not a complete, unchanged bundle")

func invalid(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, values...))
}

// Bundle is one that was read, and whose files all have their checksums.
type Bundle struct {
	Manifest *Manifest
	// Benchmark is the resource to apply, as YAML.
	Benchmark []byte
	// Results is the file results.json.
	Results []byte
}

const resultsFile = ResultsFolder + "results.json"

// Read reads a bundle and verifies it. What is not in a Bundle is verified and not kept.
func Read(from io.Reader) (*Bundle, error) { return read(from, defaultBounds) }

func read(from io.Reader, within bounds) (*Bundle, error) {
	all := &unpacked{bounds: within, read: counter{from: from}}
	var err error
	if all.zip, err = gzip.NewReader(&all.read); err != nil {
		return nil, invalid("%v", err)
	}
	r := &reading{bounds: within, kept: map[string][]byte{}, sums: result.Sums{}, documents: result.Sums{}}
	archive := tar.NewReader(all)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, invalid("after %s: %v", r.last, err)
		}
		if err := r.add(header, archive); err != nil {
			return nil, err
		}
	}
	// What follows the archive counts for the checksum of the compression.
	if _, err := io.Copy(io.Discard, all); err != nil {
		return nil, invalid("after %s: %v", r.last, err)
	}
	return r.finish()
}

type reading struct {
	bounds
	folder, last string
	kept         map[string][]byte
	// sums of what was read, by name; documents has those that the records of accepted attempts name.
	sums, documents result.Sums
}

func (r *reading) add(header *tar.Header, from io.Reader) error {
	folder, name, _ := strings.Cut(header.Name, "/")
	switch {
	case header.Typeflag != tar.TypeReg || !inside(header.Name) || name == "":
		return invalid("%q is not a plain file in a folder", header.Name)
	case r.folder != "" && folder != r.folder:
		return invalid("%q is not in the folder %s", header.Name, r.folder)
	case r.sums[name] != "":
		return invalid("%s is listed twice", name)
	case len(r.sums) >= r.files:
		return invalid("%s is one file too many: a bundle may have at most %d files", name, r.files)
	}
	r.folder, r.last = folder, name
	sum := sha256.New()
	var err error
	switch within := r.keptWithin(name); {
	case within == 0:
		_, err = io.Copy(sum, from)
	case header.Size > within:
		return invalid("%s is too large: at most %d bytes are allowed", name, within)
	default:
		var data []byte
		if data, err = io.ReadAll(io.TeeReader(from, sum)); err == nil {
			err = r.keep(name, data)
		}
	}
	if err != nil {
		return invalid("%s: %v", name, err)
	}
	r.sums[name] = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// keptWithin is how many bytes a file may have that is looked at; 0 is one whose checksum is enough.
func (r *reading) keptWithin(name string) int64 {
	switch {
	case name == SumsFile || name == resultsFile:
		return r.keptBytes
	case name == ManifestFile || name == BenchmarkFile || path.Base(name) == result.RecordKey:
		return r.objectBytes
	}
	return 0
}

func (r *reading) keep(name string, data []byte) error {
	if path.Base(name) != result.RecordKey {
		r.kept[name] = data
		if name == resultsFile && result.Values(data) > r.values {
			return fmt.Errorf("it is too large: at most %d values are allowed", r.values)
		}
		return nil
	}
	record, err := result.DecodeRecord(string(data))
	if err == nil && record.Outcome == result.OutcomeAccepted {
		r.documents[name] = record.Summary.DocumentSHA256
	}
	return err
}

func (r *reading) finish() (*Bundle, error) {
	if err := r.verify(); err != nil {
		return nil, err
	}
	m, err := result.Versioned(r.kept[ManifestFile], ManifestFile, func(m *Manifest) int { return m.Version }, Version)
	if err != nil {
		return nil, invalid("%v", err)
	}
	b := &Bundle{Manifest: m, Benchmark: r.kept[BenchmarkFile], Results: r.kept[resultsFile]}
	switch {
	case r.folder != m.Name:
		return nil, invalid("the folder %s is not that of %s", r.folder, m.Name)
	case b.Benchmark == nil:
		return nil, invalid("%s is missing", BenchmarkFile)
	case b.Results == nil:
		return nil, invalid("%s is missing", resultsFile)
	case result.NamedDigest(b.Results) != m.ResultsDigest:
		return nil, invalid("%s is not what %s says", resultsFile, ManifestFile)
	}
	for name, sum := range r.documents {
		if document := path.Join(path.Dir(name), result.DocumentKey); r.sums[document] != sum {
			return nil, invalid("%s is not the document that %s names", document, name)
		}
	}
	return b, nil
}

func (r *reading) verify() error {
	text := r.kept[SumsFile]
	if text == nil {
		return invalid("%s is missing", SumsFile)
	}
	listed, err := result.ParseSums(text)
	if err != nil {
		return invalid("%v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		switch r.sums[name] {
		case listed[name]:
		case "":
			return invalid("%s is missing", name)
		default:
			return invalid("%s was changed: its checksum is not that in %s", name, SumsFile)
		}
	}
	for name := range r.sums {
		if listed[name] == "" && name != SumsFile {
			return invalid("%s was added: %s does not list it", name, SumsFile)
		}
	}
	return nil
}

// bounds of an archive: a bundle is what a stranger sends.
type bounds struct {
	// files in the archive; bytes of what was an object in a cluster, of another file that is kept in memory, and of all that is
	// unpacked.
	files                              int
	objectBytes, keptBytes, totalBytes int64
	// values in the results: each may take much more in memory than it has bytes.
	values int
	// ratio of what was unpacked to what was read of the archive, from freeBytes on. Documents are compressed already, so that a
	// bundle does not shrink to a tenth.
	ratio, freeBytes int64
}

var defaultBounds = bounds{
	files: 200_000, objectBytes: 2 << 20, keptBytes: 64 << 20, totalBytes: 2 << 30, values: 4_000_000, ratio: 100,
	freeBytes: 16 << 20,
}

// unpacked reads a compressed archive, within bounds.
type unpacked struct {
	bounds
	zip   *gzip.Reader
	read  counter
	bytes int64
}

type counter struct {
	from  io.Reader
	bytes int64
}

func (c *counter) Read(into []byte) (int, error) {
	n, err := c.from.Read(into)
	c.bytes += int64(n)
	return n, err
}

func (u *unpacked) Read(into []byte) (int, error) {
	n, err := u.zip.Read(into)
	u.bytes += int64(n)
	switch {
	case u.bytes > u.totalBytes:
		return n, fmt.Errorf("the unpacked content is too large: a bundle may have at most %d bytes", u.totalBytes)
	case u.bytes > u.freeBytes+u.ratio*u.read.bytes:
		return n, fmt.Errorf("the unpacked content is too large: %d bytes of the archive expand to more than %d times as many",
			u.read.bytes, u.ratio)
	}
	return n, err
}
