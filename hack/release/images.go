// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// architectures are those of the images, all on Linux.
var architectures = []string{"amd64", "arm64"}

// image is one that is published. The programs are static: they are put on nothing, so that no base can be another one tomorrow.
type image struct {
	name, program string
	// layers of Debian's packages below the program, by the names of their archives without the architecture.
	layers []string
}

var images = []image{
	{name: "manager", program: "manager"},
	{name: "loader", program: "loader", layers: []string{"ca-certificates"}},
	{name: "loader-sysbench", program: "loader", layers: []string{"ca-certificates", "sysbench"}},
}

// built is an image for all architectures.
type built struct {
	image
	index  v1.ImageIndex
	digest v1.Hash
	per    map[string]v1.Image
}

func (r release) buildImages() ([]built, error) {
	var all []built
	for _, i := range images {
		b := built{image: i, per: map[string]v1.Image{}}
		b.index = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		for _, arch := range architectures {
			one, err := r.buildImage(i, arch)
			if err != nil {
				return nil, fmt.Errorf("building the image %s for %s: %w", i.name, arch, err)
			}
			b.per[arch] = one
			b.index = mutate.AppendManifests(b.index, mutate.IndexAddendum{
				Add: plain{one}, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
			})
		}
		b.index = mutate.Annotations(b.index, r.labels(i.name)).(v1.ImageIndex)
		var err error
		if b.digest, err = b.index.Digest(); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// plain is an image whose entry in an index has no artifact type. It would be that of every image, and skopeo 1.9 (Debian 12)
// drops it, which makes another index with another digest.
type plain struct{ v1.Image }

// ArtifactType is asked for by go-containerregistry.
func (plain) ArtifactType() (string, error) { return "", nil }

func (r release) buildImage(i image, arch string) (v1.Image, error) {
	var layers []mutate.Addendum
	config := v1.Config{
		User: "65532:65532", Entrypoint: []string{"/" + i.program}, Labels: r.labels(i.name),
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}
	add := func(layer v1.Layer, what string) {
		layers = append(layers, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.created}, CreatedBy: what}})
	}
	for _, name := range i.layers {
		path := r.built(name + "-" + arch + ".tar")
		files, err := tarball.LayerFromFile(path, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		add(files, "Debian's packages of "+name)
	}
	var program bytes.Buffer
	if err := writeTar(&program, r.built("linux-"+arch, i.program), "LICENSE"); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(program.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	add(layer, "make release VERSION="+r.version)
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	base, err = mutate.ConfigFile(base, &v1.ConfigFile{
		OS: "linux", Architecture: arch, Created: v1.Time{Time: r.created}, RootFS: v1.RootFS{Type: "layers"},
		Config: config,
	})
	if err != nil {
		return nil, err
	}
	full, err := mutate.Append(base, layers...)
	if err != nil {
		return nil, err
	}
	return mutate.Annotations(full, r.labels(i.name)).(v1.Image), nil
}

// labels of what is published as an OCI artifact.
func (r release) labels(name string) map[string]string {
	return map[string]string{
		ocispec.AnnotationTitle:       "benchrun " + name,
		ocispec.AnnotationDescription: "Reproducible database benchmarks on Kubernetes",
		ocispec.AnnotationSource:      source,
		ocispec.AnnotationRevision:    r.revision,
		ocispec.AnnotationVersion:     r.version,
		ocispec.AnnotationLicenses:    "Apache-2.0",
		ocispec.AnnotationCreated:     r.created.Format(time.RFC3339),
	}
}

// local is how an image is called in a node that got it from an archive. No registry has that name.
func (r release) local(name string) string { return "localhost/benchrun/" + name }

// containerdName is what ctr and kind call an image by.
const containerdName = "io.containerd.image.name"

// writeImages of all architectures in one archive, which is for registries and for nodes; and one for each architecture, which
// Docker can load too. Docker makes another manifest of an image, so that it is not known by its digest there.
func (r release) writeImages(all []built) error {
	var both []entry
	for _, b := range all {
		tagged := r.local(b.name) + ":" + r.version
		both = append(both,
			entry{index: b.index, annotations: map[string]string{ocispec.AnnotationRefName: b.name, containerdName: tagged}},
			entry{index: b.index, annotations: map[string]string{containerdName: r.local(b.name) + "@" + b.digest.String()}})
	}
	if err := writeLayout(filepath.Join(r.folder, "benchrun-images.tar"), both); err != nil {
		return err
	}
	for _, arch := range architectures {
		var one []entry
		for _, b := range all {
			tagged := r.local(b.name) + ":" + r.version
			one = append(one, entry{
				image: b.per[arch], tag: tagged,
				annotations: map[string]string{ocispec.AnnotationRefName: b.name, containerdName: tagged},
			})
		}
		if err := writeLayout(filepath.Join(r.folder, "benchrun-images_linux_"+arch+".tar"), one); err != nil {
			return err
		}
	}
	return nil
}

// built is the path of what was compiled or unpacked for this release.
func (r release) built(path ...string) string {
	return filepath.Join(append([]string{r.folder, "build"}, path...)...)
}
