// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	oras "oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	ocifile "oras.land/oras-go/v2/content/file"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/benchrun-dev/benchrun/internal/bundle"
)

const (
	// ociPrefix of the address of a bundle in a registry.
	ociPrefix = "oci://"
	// artifactType and layerType say what the artifact is, and what its one layer is.
	artifactType = "application/vnd.benchrun.bundle.v1"
	layerType    = "application/vnd.benchrun.bundle.v1.tar+gzip"
	// maxLayerBytes of a bundle are fetched.
	maxLayerBytes = 2 << 30
)

// repository at an address like oci://registry/name:tag, with the credentials that `docker login` has stored.
func repository(address string, plainHTTP bool) (*remote.Repository, error) {
	repo, err := remote.NewRepository(strings.TrimPrefix(address, ociPrefix))
	if err != nil {
		return nil, fmt.Errorf("%s: use oci://REGISTRY/NAME:TAG: %w", address, err)
	}
	if repo.Reference.Reference == "" {
		return nil, fmt.Errorf("%s has no tag: use oci://REGISTRY/NAME:TAG", address)
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the credentials of registries: %w", err)
	}
	repo.PlainHTTP = plainHTTP
	repo.Client = &auth.Client{Client: retry.DefaultClient, Cache: auth.NewCache(), Credential: credentials.Credential(store)}
	return repo, nil
}

// push a bundle in a file to a registry. It returns the address with the digest of what was pushed.
func push(ctx context.Context, address, path string, m *bundle.Manifest, plainHTTP bool) (string, error) {
	repo, err := repository(address, plainHTTP)
	if err != nil {
		return "", err
	}
	store, err := ocifile.New(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	defer store.Close() //nolint:errcheck // it was only read
	layer, err := store.Add(ctx, m.Name+".tgz", layerType, path)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	// What is pushed twice is the same artifact: its time is that of the measurement.
	manifest, err := oras.PackManifest(ctx, store, oras.PackManifestVersion1_1, artifactType, oras.PackManifestOptions{
		Layers: []ocispec.Descriptor{layer},
		ManifestAnnotations: map[string]string{
			ocispec.AnnotationCreated: m.Finished.UTC().Format(time.RFC3339), ocispec.AnnotationTitle: m.Name,
			ocispec.AnnotationDescription: m.Answer, ocispec.AnnotationVersion: m.ResultsDigest,
		},
	})
	if err != nil {
		return "", fmt.Errorf("describing the bundle: %w", err)
	}
	tag := repo.Reference.Reference
	if err := store.Tag(ctx, manifest, tag); err != nil {
		return "", fmt.Errorf("describing the bundle: %w", err)
	}
	if _, err := oras.Copy(ctx, store, tag, repo, tag, oras.DefaultCopyOptions); err != nil {
		return "", fmt.Errorf("pushing %s: %w", address, err)
	}
	return fmt.Sprintf("%s%s/%s@%s", ociPrefix, repo.Reference.Registry, repo.Reference.Repository, manifest.Digest), nil
}

// pull reads a bundle from a registry and verifies it.
func pull(ctx context.Context, address string, plainHTTP bool) (*bundle.Bundle, error) {
	repo, err := repository(address, plainHTTP)
	if err != nil {
		return nil, err
	}
	described, text, err := oras.FetchBytes(ctx, repo, repo.Reference.Reference, oras.DefaultFetchBytesOptions)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	if manifest.ArtifactType != artifactType || len(manifest.Layers) != 1 || manifest.Layers[0].Size > maxLayerBytes {
		return nil, fmt.Errorf("%s is not a Benchrun bundle: it is a %s", address, described.MediaType)
	}
	stream, err := repo.Fetch(ctx, manifest.Layers[0])
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	defer stream.Close() //nolint:errcheck // it was only read
	verified := content.NewVerifyReader(stream, manifest.Layers[0])
	b, err := bundle.Read(verified)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	if _, err := io.Copy(io.Discard, verified); err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	if err := verified.Verify(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	return b, nil
}
