// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Version of the layout of a bundle.
const Version = 1

// Names of files that every bundle has.
const (
	ManifestFile  = "manifest.json"
	BenchmarkFile = "benchmark.yaml"
	ReadmeFile    = "README.md"
	SumsFile      = result.SumsFile
	// ResultsFolder has the files of the results ConfigMap, AttemptsFolder a folder for each attempt, and RunsFolder one for each
	// run of a comparison.
	ResultsFolder  = "results/"
	AttemptsFolder = "attempts/"
	RunsFolder     = "runs/"
	// VariablesFile has the variables of the server, a line each.
	VariablesFile = "server-variables.txt"
)

// Manifest says what a bundle is of.
type Manifest struct {
	Version int `json:"version"`
	// Kind is BenchmarkRun or BenchmarkComparison.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// SpecDigest is the same for runs that ask for the same; empty for a comparison, whose results have one for each variant.
	SpecDigest string `json:"specDigest,omitempty"`
	// ResultsDigest is that of results.json as the operator has written it to the status.
	ResultsDigest string    `json:"resultsDigest"`
	Started       time.Time `json:"started"`
	Finished      time.Time `json:"finished"`
	// Answer is the headline of a run or the answer of a comparison.
	Answer string `json:"answer,omitempty"`
	// Program is the version of the program that has written the bundle.
	Program string `json:"program"`
}

func (m *Manifest) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", ManifestFile, err)
	}
	return append(text, '\n'), nil
}

func decodeManifest(text []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("reading %s: %w", ManifestFile, err)
	}
	if m.Version != Version {
		return nil, fmt.Errorf("%s has version %d, this program reads %d", ManifestFile, m.Version, Version)
	}
	return m, nil
}
