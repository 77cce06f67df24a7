// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// bounds of an archive: a bundle is what a stranger sends.
type bounds struct {
	fileBytes, totalBytes int64
	files                 int
}

var defaultBounds = bounds{fileBytes: 128 << 20, totalBytes: 2 << 30, files: 200_000}

// ErrInvalid is wrapped by every error about an archive that is not a whole, unchanged bundle.
var ErrInvalid = errors.New("this is not a whole, unchanged bundle")

func invalid(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, values...))
}

// Bundle is one that was read, and whose files all have their checksums.
type Bundle struct {
	Manifest *Manifest
	// Benchmark is the resource to apply, as YAML.
	Benchmark []byte
	// results are the files of the results, of the runs of a suite too, by their paths.
	results map[string][]byte
}

// Results is the file results.json.
func (b *Bundle) Results() []byte { return b.results[ResultsFolder+"results.json"] }

// ResultsOf a run of a suite: its results.json, or nil.
func (b *Bundle) ResultsOf(run string) []byte {
	return b.results[RunsFolder+run+"/"+ResultsFolder+"results.json"]
}

// Read reads a bundle and verifies it. Documents of attempts are verified and not kept.
func Read(from io.Reader) (*Bundle, error) { return read(from, defaultBounds) }

func read(from io.Reader, within bounds) (*Bundle, error) {
	zr, err := gzip.NewReader(from)
	if err != nil {
		return nil, invalid("%v", err)
	}
	r := &reading{bounds: within, kept: map[string][]byte{}, sums: result.Sums{}}
	archive := tar.NewReader(zr)
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
	if _, err := io.Copy(io.Discard, io.LimitReader(zr, within.fileBytes)); err != nil {
		return nil, invalid("after %s: %v", r.last, err)
	}
	return r.finish()
}

// reading is the state of Read.
type reading struct {
	bounds
	folder, last string
	total        int64
	kept         map[string][]byte
	// sums of what was read, by name.
	sums result.Sums
}

func (r *reading) add(header *tar.Header, from io.Reader) error {
	folder, name, _ := strings.Cut(header.Name, "/")
	switch {
	case header.Typeflag != tar.TypeReg || !inside(header.Name) || name == "":
		return invalid("%q is not a plain file in a folder", header.Name)
	case r.folder != "" && folder != r.folder:
		return invalid("%q is not in the folder %s", header.Name, r.folder)
	case r.sums[name] != "":
		return invalid("%s is there twice", name)
	case header.Size > r.fileBytes || r.total+header.Size > r.totalBytes || len(r.sums) >= r.files:
		return invalid("%s is too much: a file may have %d bytes, all %d files together %d", name, r.fileBytes,
			r.files, r.totalBytes)
	}
	data, err := io.ReadAll(io.LimitReader(from, r.fileBytes+1))
	if err != nil {
		return invalid("%s: %v", name, err)
	}
	r.folder, r.last, r.total = folder, name, r.total+header.Size
	r.sums[name] = result.Digest(data)
	if keep(name) {
		r.kept[name] = data
	}
	return nil
}

// keep says which files are needed after they were verified.
func keep(name string) bool {
	switch path.Base(name) {
	case ManifestFile, BenchmarkFile, SumsFile, "results.json", result.RecordKey:
		return true
	}
	return false
}

// finish verifies what was read.
func (r *reading) finish() (*Bundle, error) {
	if err := r.verify(); err != nil {
		return nil, err
	}
	m, err := decodeManifest(r.kept[ManifestFile])
	if err != nil {
		return nil, invalid("%v", err)
	}
	b := &Bundle{Manifest: m, Benchmark: r.kept[BenchmarkFile], results: r.kept}
	switch {
	case r.folder != m.Name:
		return nil, invalid("the folder %s is not that of %s", r.folder, m.Name)
	case b.Benchmark == nil:
		return nil, invalid("%s is missing", BenchmarkFile)
	case b.Results() == nil:
		return nil, invalid("%sresults.json is missing", ResultsFolder)
	case result.NamedDigest(b.Results()) != m.ResultsDigest:
		return nil, invalid("%sresults.json is not what %s says", ResultsFolder, ManifestFile)
	}
	return b, r.verifyDocuments()
}

// verify compares the files with the checksums.
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

// verifyDocuments compares the documents of accepted attempts with the checksums in their records.
func (r *reading) verifyDocuments() error {
	for name, text := range r.kept {
		if path.Base(name) != result.RecordKey {
			continue
		}
		record, err := result.DecodeRecord(string(text))
		if err != nil {
			return invalid("%s: %v", name, err)
		}
		document := path.Join(path.Dir(name), result.DocumentKey)
		if record.Outcome == result.OutcomeAccepted && r.sums[document] != record.Summary.DocumentSHA256 {
			return invalid("%s is not the document that %s names", document, name)
		}
	}
	return nil
}
