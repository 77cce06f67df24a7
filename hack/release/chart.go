// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"sigs.k8s.io/yaml"
)

// Media types by which Helm knows a chart in a registry (HIP 6).
const (
	chartConfig = "application/vnd.cncf.helm.config.v1+json"
	chartLayer  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// chartRelease is files/release.yaml in a chart that is published: which images are its own. See benchrun.image in _helpers.tpl.
type chartRelease struct {
	Registry string            `json:"registry,omitempty"`
	Digests  map[string]string `json:"digests"`
}

// writeChart packs the chart as `helm package` does, but for the times of its files, and as an OCI image layout.
func (r release) writeChart(ctx context.Context, all []built) error {
	work, err := os.MkdirTemp("", "benchrun-chart-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	dir := filepath.Join(work, "benchrun")
	if err := os.CopyFS(dir, os.DirFS("charts/benchrun")); err != nil {
		return err
	}
	of := chartRelease{Registry: r.registry, Digests: map[string]string{}}
	for _, b := range all {
		of.Digests[b.name] = b.digest.String()
	}
	text, err := yaml.Marshal(of)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "files", "release.yaml"), text, 0o600); err != nil {
		return err
	}
	metadata, err := r.versionChart(filepath.Join(dir, "Chart.yaml"))
	if err != nil {
		return err
	}
	packed := filepath.Join(r.folder, "benchrun-"+strings.TrimPrefix(r.version, "v")+".tgz")
	if err := gzipFolder(packed, work); err != nil {
		return err
	}
	return r.writeChartLayout(ctx, packed, metadata)
}

// versionChart sets the version of a chart and of what it installs, and returns the chart's metadata.
func (r release) versionChart(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{}
	if err := yaml.Unmarshal(text, &metadata); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	metadata["version"], metadata["appVersion"] = strings.TrimPrefix(r.version, "v"), r.version
	if text, err = yaml.Marshal(metadata); err != nil {
		return nil, err
	}
	return metadata, os.WriteFile(path, text, 0o600)
}

// writeChartLayout writes the artifact that `helm push` would make of a packed chart, for registries.
func (r release) writeChartLayout(ctx context.Context, packed string, metadata map[string]any) error {
	config, err := json.Marshal(metadata)
	if err != nil {
		return err
	}
	chart, err := os.ReadFile(packed)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "benchrun-layout-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := oci.New(dir)
	if err != nil {
		return err
	}
	about, err := oras.PushBytes(ctx, store, chartConfig, config)
	if err != nil {
		return err
	}
	layer, err := oras.PushBytes(ctx, store, chartLayer, chart)
	if err != nil {
		return err
	}
	manifest, err := oras.PackManifest(ctx, store, oras.PackManifestVersion1_1, "", oras.PackManifestOptions{
		ConfigDescriptor: &about, Layers: []ocispec.Descriptor{layer}, ManifestAnnotations: r.labels("chart"),
	})
	if err != nil {
		return err
	}
	if err := store.Tag(ctx, manifest, "chart"); err != nil {
		return err
	}
	return tarFolder(filepath.Join(r.folder, "benchrun-chart.tar"), dir)
}
