// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// debian is a package of Debian's in an image.
type debian struct {
	name, version, arch, sha256 string
}

// url of a package (purl).
func (d debian) url() string {
	return fmt.Sprintf("pkg:deb/debian/%s@%s?arch=%s", d.name, strings.ReplaceAll(d.version, "+", "%2B"), d.arch)
}

// packages in an image, for all architectures: each once.
func (r release) packages(i image) ([]debian, error) {
	var all []debian
	for _, name := range i.layers {
		for _, arch := range architectures {
			some, err := readPackages(r.built(name + "-" + arch + ".packages"))
			if err != nil {
				return nil, err
			}
			all = appendNew(all, some...)
		}
	}
	return all, nil
}

// readPackages reads lines of NAME VERSION ARCHITECTURE SHA256.
func readPackages(path string) ([]debian, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []debian
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 4 {
			return nil, fmt.Errorf("%s: a line is not NAME VERSION ARCHITECTURE SHA256: %q", path, line)
		}
		all = append(all, debian{fields[0], fields[1], fields[2], fields[3]})
	}
	return all, nil
}

// appendNew appends those that are not there yet.
func appendNew(all []debian, some ...debian) []debian {
	for _, d := range some {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// unset is a registry that cannot exist (RFC 2606). It stands in install.yaml where the registry is to be filled in.
const unset = "unset.invalid"

// overlay of config/default names the images: by digest, so that who owns a registry does not own the cluster.
const overlay = `resources: [%[1]s]
images:
- {name: unset.invalid/manager, newName: %[2]s/manager, digest: "%[3]s"}
labels:
- {pairs: {app.kubernetes.io/version: %[6]s}, includeTemplates: true}
patches:
- target: {kind: Deployment, name: benchrun-manager}
  patch: |
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--loader-image=%[2]s/loader@%[4]s"}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--sysbench-image=%[2]s/loader-sysbench@%[5]s"}
`

// writeInstall renders the kustomization into one file for `kubectl apply -f`.
func (r release) writeInstall(all []built) error {
	dir, err := os.MkdirTemp(r.folder, "install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	base, err := relative(dir, "config/default")
	if err != nil {
		return err
	}
	registry := r.registry
	if registry == "" {
		registry = unset
	}
	text := fmt.Sprintf(overlay, base, registry, all[0].digest, all[1].digest, all[2].digest, r.version)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // the namespace and the kinds first
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return fmt.Errorf("rendering config/default: %w", err)
	}
	rendered, err := objects.AsYaml()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.folder, "install.yaml"), rendered, 0o644)
}

// relative is the path from a folder to another one, as a kustomization needs it.
func relative(from, to string) (string, error) {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return "", err
	}
	if from, err = filepath.Abs(from); err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

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
