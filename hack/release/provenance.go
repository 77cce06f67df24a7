// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// provenanceFile says of what and how the other files were made.
const provenanceFile = "provenance.intoto.json"

// statement is an in-toto statement (v1) with a SLSA provenance (v1), as far as it is used. It is as good as the signature of
// SHA256SUMS, which lists it: only the maker of the release says so.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []artifact `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

// artifact is something with a digest: a file that was made, or what it was made of.
type artifact struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type provenance struct {
	BuildDefinition struct {
		BuildType            string            `json:"buildType"`
		ExternalParameters   map[string]string `json:"externalParameters"`
		ResolvedDependencies []artifact        `json:"resolvedDependencies"`
	} `json:"buildDefinition"`
	RunDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	} `json:"runDetails"`
}

// writeProvenance of all files that are there so far.
func (r release) writeProvenance(packages []debian) error {
	sums, err := sumsOf(r.folder)
	if err != nil {
		return err
	}
	delete(sums, provenanceFile) // of an earlier time
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s.Subject = append(s.Subject, artifact{Name: name, Digest: map[string]string{"sha256": sums[name]}})
	}
	const script = source + "/blob/main/hack/release.sh"
	build := &s.Predicate.BuildDefinition
	build.BuildType = script
	build.ExternalParameters = map[string]string{"VERSION": r.version, "REGISTRY": r.registry}
	build.ResolvedDependencies = []artifact{{URI: "git+" + source, Digest: map[string]string{"gitCommit": r.revision}}}
	for _, p := range packages {
		deb := artifact{URI: p.url(), Digest: map[string]string{"sha256": p.sha256}}
		build.ResolvedDependencies = append(build.ResolvedDependencies, deb)
	}
	s.Predicate.RunDetails.Builder.ID = script
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, provenanceFile), append(text, '\n'), 0o644)
}

// sumsOf all files in a folder, but not of those in its folders, nor of the sums and their signature.
func sumsOf(folder string) (result.Sums, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	sums := result.Sums{}
	for _, e := range entries {
		if e.IsDir() || e.Name() == result.SumsFile || e.Name() == signatureFile {
			continue
		}
		if sums[e.Name()], err = digest(filepath.Join(folder, e.Name())); err != nil {
			return nil, err
		}
	}
	return sums, nil
}
