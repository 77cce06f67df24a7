// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/memory"

	"github.com/benchrun-dev/benchrun/internal/bundle"
)

// A bundle in a registry is the same as in a file; a tag and a digest lead to it.
func TestExportToARegistry(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	cl := clusterWith(finishedRun(t, "commit-size", 1)...)
	s, err := find(t.Context(), cl, "bench", "commit-size")
	if err != nil {
		t.Fatal(err)
	}
	tagged := "oci://" + host + "/benchmarks/commit-size:v1"
	address, err := export(t.Context(), cl, s, tagged, true)
	if err != nil {
		t.Fatal(err)
	}
	again, err := export(t.Context(), cl, s, tagged, true)
	if err != nil || again != address {
		t.Errorf("a second push gave %s, %v; the first %s", again, err, address)
	}
	for _, from := range []string{tagged, address} {
		b, err := openBundle(t.Context(), from, true)
		if err != nil {
			t.Fatal(err)
		}
		if b.Manifest.Name != "commit-size" || len(b.Results()) == 0 {
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
	if _, err := export(t.Context(), cl, s, "s3://bucket/x", false); err == nil {
		t.Error("s3:// is taken")
	}
}

// An artifact that is no bundle is refused before it is read.
func TestRegistryHasNoBundle(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	address := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/others/x:v1"
	repo, err := repository(address, true)
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	layer, err := oras.PushBytes(t.Context(), store, layerType, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := oras.PackManifest(t.Context(), store, oras.PackManifestVersion1_1, "application/vnd.other",
		oras.PackManifestOptions{Layers: []ocispec.Descriptor{layer}})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Tag(t.Context(), other, "v1"); err != nil {
		t.Fatal(err)
	}
	if _, err := oras.Copy(t.Context(), store, "v1", repo, "v1", oras.DefaultCopyOptions); err != nil {
		t.Fatal(err)
	}
	if _, err := openBundle(t.Context(), address, true); err == nil || !strings.Contains(err.Error(), "is no bundle of Benchrun") {
		t.Errorf("the error is %v", err)
	}
}
