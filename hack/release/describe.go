// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	krewFile = "benchrun.krew.yaml"
	// provenanceFile says from what and how the other files were made.
	provenanceFile = "provenance.intoto.json"
)

// describe writes the files that have the digests of others: each of them lists those that were written before it.
func (r release) describe() error {
	sums := result.Sums{}
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains([]string{krewFile, provenanceFile, result.SumsFile}, e.Name()) || e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.folder, e.Name()))
		if err != nil {
			return err
		}
		sums[e.Name()] = result.Digest(data)
	}
	write := func(name string, text []byte) error {
		sums[name] = result.Digest(text)
		return os.WriteFile(filepath.Join(r.folder, name), text, 0o644)
	}
	krew, err := r.krew(sums)
	if err := errors.Join(err, write(krewFile, krew)); err != nil {
		return err
	}
	provenance, err := r.provenance(sums)
	if err := errors.Join(err, write(provenanceFile, provenance)); err != nil {
		return err
	}
	return write(result.SumsFile, sums.Text())
}

// object is one of JSON or YAML.
type object = map[string]any

// krew is the manifest of the plugin for krew, with each platform that has an archive.
func (r release) krew(sums result.Sums) ([]byte, error) {
	var platforms []object
	for _, archive := range slices.Sorted(maps.Keys(sums)) {
		name, isArchive := strings.CutSuffix(archive, ".tar.gz")
		parts := strings.Split(name, "_")
		if !isArchive || len(parts) != 3 {
			continue
		}
		program := parts[0]
		if parts[1] == "windows" {
			program += ".exe"
		}
		platforms = append(platforms, object{
			"selector": object{"matchLabels": object{"os": parts[1], "arch": parts[2]}},
			"uri":      fmt.Sprintf("%s/releases/download/%s/%s", source, r.version, archive), "sha256": sums[archive], "bin": program,
		})
	}
	if platforms == nil {
		return nil, fmt.Errorf("%s has no archive of the plugin", r.folder)
	}
	return yaml.Marshal(object{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin", "metadata": object{"name": "benchrun"},
		"spec": object{
			"version": r.version, "homepage": source, "platforms": platforms,
			"shortDescription": "Run, watch and compare database benchmarks",
			"description": "Creates BenchmarkRuns, shows their progress, prints and compares their results,\n" +
				"and packs them so that others can measure the same. Needs the Benchrun operator in the cluster.\n",
		},
	})
}

// provenance is an in-toto statement (v1) with a SLSA provenance (v1). It is as good as the signature of SHA256SUMS, which lists
// it: only the maker of the release vouches for it.
func (r release) provenance(sums result.Sums) ([]byte, error) {
	var subjects []object
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		subjects = append(subjects, object{"name": name, "digest": object{"sha256": sums[name]}})
	}
	text, err := os.ReadFile(r.built("packages")) // of Debian in the images, by their package URLs
	if err != nil {
		return nil, err
	}
	packages, err := result.ParseSums(text)
	if err != nil {
		return nil, err
	}
	sources := []object{{"uri": "git+" + source, "digest": object{"gitCommit": r.revision}}}
	for _, url := range slices.Sorted(maps.Keys(packages)) {
		sources = append(sources, object{"uri": url, "digest": object{"sha256": packages[url]}})
	}
	const script = source + "/blob/main/hack/release.sh"
	text, err = json.MarshalIndent(object{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://slsa.dev/provenance/v1", "subject": subjects,
		"predicate": object{
			"buildDefinition": object{
				"buildType": script, "externalParameters": object{"VERSION": r.version, "REGISTRY": r.registry},
				"resolvedDependencies": sources,
			},
			"runDetails": object{"builder": object{"id": script}},
		},
	}, "", "  ")
	return append(text, '\n'), err
}
