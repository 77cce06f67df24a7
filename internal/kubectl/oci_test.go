// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/registry"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"

	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// registryAt is the address of a registry, whose requests pass through a handler.
func registryAt(t *testing.T, through func(http.Handler) http.Handler) string {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewServer(through(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func untouched(h http.Handler) http.Handler { return h }

// pushed is the address of a run's bundle in a registry.
func pushed(t *testing.T, host string) (string, error) {
	t.Helper()
	cl := clusterWith(finishedRun(t, "commit-size", 1)...)
	s, err := find(t.Context(), cl, "bench", "commit-size")
	if err != nil {
		t.Fatal(err)
	}
	return export(t.Context(), cl, s, nil, "oci://"+host+"/benchmarks/commit-size:v1", true)
}

// What other tools see of an artifact, and what older versions of the plugin look for, does not change.
func TestArtifact(t *testing.T) {
	address, err := pushed(t, registryAt(t, untouched))
	if err != nil {
		t.Fatal(err)
	}
	repo, err := repository(address, true)
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := oras.FetchBytes(t.Context(), repo, "v1", oras.DefaultFetchBytesOptions)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(address, "@"+result.NamedDigest(text)) {
		t.Errorf("%s does not end in the digest of %s", address, text)
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if m.ArtifactType != "application/vnd.benchrun.bundle.v1" || len(m.Layers) != 1 ||
		m.Layers[0].MediaType != "application/vnd.benchrun.bundle.v1.tar+gzip" ||
		m.Layers[0].Annotations["org.opencontainers.image.title"] != "commit-size.tgz" {
		t.Errorf("the manifest is %s", text)
	}
	b, err := openBundle(t.Context(), address, true)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"org.opencontainers.image.created": "2026-01-02T03:09:00Z", "org.opencontainers.image.title": "commit-size",
		"org.opencontainers.image.description": "4040 rows/s at rowsPerCommit=16",
		"org.opencontainers.image.version":     b.Manifest.ResultsDigest,
	}
	if diff := cmp.Diff(want, m.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

// The archive that is pushed is in no folder afterwards, whether the registry takes it or not.
func TestPushLeavesNothing(t *testing.T) {
	host := registryAt(t, untouched)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, at := range []string{host, "127.0.0.1:1"} {
		if _, err := pushed(t, at); (err == nil) != (at == host) {
			t.Errorf("%s: %v", at, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v are left, %v", at, left, err)
		}
	}
}

// damage changes a byte in the header of archives that a registry gives. The files in them and their checksums stay.
type damage struct{ http.ResponseWriter }

func (d damage) Write(data []byte) (int, error) {
	if data = bytes.Clone(data); len(data) > 9 && data[0] == 0x1f && data[1] == 0x8b {
		data[9] ^= 1 // the operating system
	}
	return d.ResponseWriter.Write(data)
}

// What a registry gives is what the manifest names, to the byte, or it is refused.
func TestRegistryGivesAnotherBundle(t *testing.T) {
	address, err := pushed(t, registryAt(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(damage{w}, r) })
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openBundle(t.Context(), address, true); err == nil || !strings.Contains(err.Error(), "mismatch") {
		t.Errorf("the error is %v", err)
	}
}

// A bundle in a registry is the same as in a file; a tag and a digest lead to it.
func TestExportToARegistry(t *testing.T) {
	host := registryAt(t, untouched)
	cl := clusterWith(finishedRun(t, "commit-size", 1)...)
	s, err := find(t.Context(), cl, "bench", "commit-size")
	if err != nil {
		t.Fatal(err)
	}
	tagged := "oci://" + host + "/benchmarks/commit-size:v1"
	address, err := export(t.Context(), cl, s, nil, tagged, true)
	if err != nil {
		t.Fatal(err)
	}
	again, err := export(t.Context(), cl, s, nil, tagged, true)
	if err != nil || again != address {
		t.Errorf("a second push gave %s, %v; the first %s", again, err, address)
	}
	for _, from := range []string{tagged, address} {
		b, err := openBundle(t.Context(), from, true)
		if err != nil {
			t.Fatal(err)
		}
		if b.Manifest.Name != "commit-size" || len(b.Results) == 0 {
			t.Errorf("%s: %+v", from, b.Manifest)
		}
	}
	for from, want := range map[string]string{
		"oci://" + host + "/benchmarks/commit-size":    "has no tag",
		"oci://" + host + "/benchmarks/commit-size:v2": "not found",
		"oci://":           "use oci://REGISTRY/NAME:TAG",
		"no-such-file.tgz": "no such file",
		"oci_test.go":      bundle.ErrInvalid.Error(),
	} {
		if _, err := openBundle(t.Context(), from, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", from, err, want)
		}
	}
	if _, err := export(t.Context(), cl, s, nil, "s3://bucket/x", false); err == nil {
		t.Error("s3:// is taken")
	}
}

// An artifact that is no bundle is refused by its manifest: its layers are not read.
func TestRegistryHasNoBundle(t *testing.T) {
	address := "oci://" + registryAt(t, untouched) + "/others/x:v1"
	repo, err := repository(address, true)
	if err != nil {
		t.Fatal(err)
	}
	layer := ocispec.Descriptor{MediaType: layerType, Digest: ocispec.DescriptorEmptyJSON.Digest, Size: 2}
	large := layer
	large.Size = maxLayerBytes + 1
	for name, m := range map[string]ocispec.Manifest{
		"another type": {ArtifactType: "application/vnd.other", Layers: []ocispec.Descriptor{layer}},
		"no layer":     {ArtifactType: artifactType},
		"two layers":   {ArtifactType: artifactType, Layers: []ocispec.Descriptor{layer, layer}},
		"too large":    {ArtifactType: artifactType, Layers: []ocispec.Descriptor{large}},
	} {
		m.MediaType, m.Config = ocispec.MediaTypeImageManifest, ocispec.DescriptorEmptyJSON
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := repo.PushReference(t.Context(), content.NewDescriptorFromBytes(m.MediaType, text), bytes.NewReader(text), "v1"); err != nil {
			t.Fatal(err)
		}
		if _, err := openBundle(t.Context(), address, true); err == nil || !strings.Contains(err.Error(), "is not a Benchrun bundle") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
