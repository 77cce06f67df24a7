// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package bundle packs what a run has measured, and everything that another laboratory needs to measure it again, into one
// archive: the specification, the results, the record and document of each attempt, and the variables of the servers.
//
// A bundle is a compressed tar archive with one folder, named after the run:
//
//	README.md               what this is, and how to measure it again
//	manifest.json           Manifest
//	benchmark.yaml          the resource to apply
//	results/                the files of the results ConfigMap
//	attempts/NAME/          attempt.json and document.json.gz of each attempt
//	server-variables.txt    all variables of the server in the first attempt that counts
//	SHA256SUMS              checksums of all files above, for sha256sum -c
//
// The same contents give the same bytes. Reading checks every file against SHA256SUMS, and the documents against the checksums in
// the records.
package bundle

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Writer writes a bundle, file by file, and keeps none of them in memory.
type Writer struct {
	manifest *Manifest
	zip      *gzip.Writer
	tar      *tar.Writer
	sums     result.Sums
	err      error
}

// NewWriter begins a bundle; the benchmark is the resource to apply, as YAML.
func NewWriter(to io.Writer, m *Manifest, benchmark []byte) (*Writer, error) {
	zw, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	w := &Writer{manifest: m, zip: zw, tar: tar.NewWriter(zw), sums: result.Sums{}}
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", ManifestFile, err)
	}
	w.Add(ReadmeFile, readme(m))
	w.Add(ManifestFile, append(text, '\n'))
	w.Add(BenchmarkFile, benchmark)
	return w, nil
}

// Add writes a file. Its name is a path within the bundle. Nothing is written after an error, which Close returns.
func (w *Writer) Add(name string, data []byte) {
	if w.err != nil {
		return
	}
	if !inside(name) {
		w.err = fmt.Errorf("%q is not a valid file name in a bundle", name)
		return
	}
	w.sums[name] = result.Digest(data)
	w.err = w.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: path.Join(w.manifest.Name, name), Size: int64(len(data)), Mode: 0o644, Format: tar.FormatPAX,
		ModTime: w.manifest.Finished,
	})
	if w.err == nil {
		_, w.err = w.tar.Write(data)
	}
	if w.err != nil {
		w.err = fmt.Errorf("writing %s: %w", name, w.err)
	}
}

// inside says whether a name is a plain path below the folder of a bundle.
func inside(name string) bool {
	return name != "" && !strings.ContainsAny(name, "\\\n") && !path.IsAbs(name) && path.Clean(name) == name && name != "." &&
		name != ".." && !strings.HasPrefix(name, "../")
}

// Close writes the checksums of the files, and ends the archive.
func (w *Writer) Close() error {
	w.Add(SumsFile, w.sums.Text())
	if w.err != nil {
		return w.err
	}
	if err := cmp.Or(w.tar.Close(), w.zip.Close()); err != nil {
		return fmt.Errorf("ending the archive: %w", err)
	}
	return nil
}

// Version of the layout of a bundle.
const Version = 1

// Names of files that every bundle has.
const (
	ManifestFile  = "manifest.json"
	BenchmarkFile = "benchmark.yaml"
	ReadmeFile    = "README.md"
	SumsFile      = result.SumsFile
	// ResultsFolder has the files of the results ConfigMap, AttemptsFolder a folder for each attempt.
	ResultsFolder  = "results/"
	AttemptsFolder = "attempts/"
	// VariablesFile has the variables of the server, a line each; of variants, a section for each.
	VariablesFile = "server-variables.txt"
)

// Manifest says what a bundle is of.
type Manifest struct {
	Version int `json:"version"`
	// Kind is BenchmarkRun.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// SpecDigest is the same for runs that ask for the same; empty if the results have none.
	SpecDigest string `json:"specDigest,omitempty"`
	// ResultsDigest is that of results.json as the operator has written it to the status.
	ResultsDigest string    `json:"resultsDigest"`
	Started       time.Time `json:"started"`
	Finished      time.Time `json:"finished"`
	// Answer is the headline of the run.
	Answer string `json:"answer,omitempty"`
	// Program is the version of the program that has written the bundle.
	Program string `json:"program"`
}

// readme is what a person reads who was given the archive and nothing else.
func readme(m *Manifest) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", m.Name)
	if m.Answer != "" {
		fmt.Fprintf(&b, "%s\n\n", m.Answer)
	}
	const layout = "2006-01-02 15:04:05 MST"
	fmt.Fprintf(&b, "This is a %s of Benchrun, measured from %s to %s.\n\n", m.Kind, m.Started.UTC().Format(layout),
		m.Finished.UTC().Format(layout))
	fmt.Fprintf(&b, `Measure it again in a cluster where Benchrun is installed, and compare point by point:

    kubectl benchrun reproduce %s.tgz

Without the plugin, apply the resource and read the results yourself:

    kubectl apply -f benchmark.yaml

| file | content |
|---|---|
| results/summary.md | the results for people |
| results/results.csv | the results for spreadsheets |
| results/results.json | the results for programs: the specification, the plan, the environment and every attempt |
| attempts/ | each attempt: its record, and everything the loader knows about it (series, histograms, counters, variables) |
| server-variables.txt | all variables of the server |
| SHA256SUMS | checksums; "sha256sum -c SHA256SUMS" verifies them |
`, m.Name)
	return []byte(b.String())
}
