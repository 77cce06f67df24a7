// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// krewPlugin is the part of krew's manifest (krew.googlecontainertools.github.com/v1alpha2) that is used.
type krewPlugin struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       krewSpec          `json:"spec"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector krewSelector `json:"selector"`
	URI      string       `json:"uri"`
	SHA256   string       `json:"sha256"`
	Bin      string       `json:"bin"`
}

type krewSelector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// releases is where the archives of a version can be downloaded.
const releases = source + "/releases/download"

func writeKrew(version string, platforms []platform, path string) error {
	plugin := krewPlugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "benchrun"},
		Spec: krewSpec{
			Version: version, Homepage: source,
			ShortDescription: "Run, watch and compare database benchmarks",
			Description: "Creates BenchmarkRuns and BenchmarkComparisons, shows their progress, prints and compares their results,\n" +
				"and packs them so that others can measure the same. Needs the Benchrun operator in the cluster.\n",
		},
	}
	for _, p := range platforms {
		plugin.Spec.Platforms = append(plugin.Spec.Platforms, krewPlatform{
			Selector: krewSelector{map[string]string{"os": p.OS, "arch": p.Arch}},
			URI:      fmt.Sprintf("%s/%s/%s", releases, version, p.Archive), SHA256: p.SHA256, Bin: p.Program,
		})
	}
	text, err := yaml.Marshal(plugin)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
