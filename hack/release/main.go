// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release makes what hack/release.sh has no tool for: OCI layouts of the images, and their digests for the chart, in
// FOLDER/build; and FOLDER/install.yaml. The same input gives the same bytes.
//
//	release -version vX.Y.Z -revision COMMIT -created SECONDS [-registry REGISTRY] FOLDER
//
// FOLDER/build has what the script compiled and unpacked.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const source = "https://github.com/benchrun-dev/benchrun"

type release struct {
	// version is vX.Y.Z; revision is the commit, and created its time.
	version, revision string
	created           time.Time
	// registry is where the images are going to be, or empty if the user who installs them says so.
	registry string
	folder   string
}

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "version, as vX.Y.Z")
	flag.StringVar(&r.revision, "revision", "", "commit that is released")
	flag.StringVar(&r.registry, "registry", "", "registry and folder for the images")
	created := flag.Int64("created", 0, "time of the commit, in seconds since 1970")
	flag.Parse()
	r.folder, r.created = flag.Arg(0), time.Unix(*created, 0).UTC()
	if flag.NArg() != 1 || r.version == "" || r.revision == "" || *created == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := r.writeImages(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// built is the path of what the script or an earlier step made for this release.
func (r release) built(path ...string) string {
	return filepath.Join(append([]string{r.folder, "build"}, path...)...)
}

// architectures are those of the images, all on Linux.
var architectures = []string{"amd64", "arm64"}

// image is one that is published. The programs are static: no base image can change what is released.
type image struct {
	name string
	// layers are archives in FOLDER/build, named LAYER-ARCHITECTURE.tar. The last one has the program of that name.
	layers []string
}

var images = []image{
	{"manager", []string{"manager"}},
	{"loader", []string{"ca-certificates", "loader"}},
	{"loader-sysbench", []string{"ca-certificates", "sysbench", "loader"}},
}

// containerdName is the annotation with the name by which ctr and kind know an image.
const containerdName = "io.containerd.image.name"

// writeImages writes a layout of all images, for registries and nodes, one for each architecture, for Docker, and what refers to
// the images by their digests. An image in a node that got it from an archive has a name that no registry has.
func (r release) writeImages() error {
	both, err := layout.Write(r.built("images"), empty.Index)
	if err != nil {
		return err
	}
	one, saved := map[string]layout.Path{}, map[string][]savedImage{}
	for _, arch := range architectures {
		if one[arch], err = layout.Write(r.built("images_linux_"+arch), empty.Index); err != nil {
			return err
		}
	}
	digests := map[string]string{}
	for _, i := range images {
		local := "localhost/benchrun/" + i.name
		tag := local + ":" + r.version
		names := layout.WithAnnotations(map[string]string{ocispec.AnnotationRefName: i.name, containerdName: tag})
		index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		for _, arch := range architectures {
			built, err := r.buildImage(i, arch)
			if err != nil {
				return fmt.Errorf("building the image %s for %s: %w", i.name, arch, err)
			}
			index = mutate.AppendManifests(index, mutate.IndexAddendum{
				Add: plain{built}, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}},
			})
			s, err := forDocker(built, tag)
			if err := errors.Join(err, one[arch].AppendImage(built, names)); err != nil {
				return err
			}
			saved[arch] = append(saved[arch], s)
		}
		index = mutate.Annotations(index, r.labels(i.name)).(v1.ImageIndex)
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		digests[i.name] = digest.String()
		pinned := layout.WithAnnotations(map[string]string{containerdName: local + "@" + digests[i.name]})
		if err := errors.Join(both.AppendIndex(index, names), both.AppendIndex(index, pinned)); err != nil {
			return err
		}
	}
	for _, arch := range architectures {
		text, err := json.Marshal(saved[arch])
		if err := errors.Join(err, os.WriteFile(r.built("images_linux_"+arch, "manifest.json"), text, 0o644)); err != nil {
			return err
		}
	}
	text, err := yaml.Marshal(chartRelease{r.registry, digests})
	return errors.Join(err, os.WriteFile(r.built("release.yaml"), text, 0o644), r.writeInstall(digests))
}

// plain is an image whose entry in an index has no artifact type. go-containerregistry would give every image one, and skopeo 1.9
// (Debian 12) drops it, which makes another index with another digest.
type plain struct{ v1.Image }

// ArtifactType is asked for by go-containerregistry.
func (plain) ArtifactType() (string, error) { return "", nil }

func (r release) buildImage(i image, arch string) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	built, err := mutate.ConfigFile(base, &v1.ConfigFile{
		OS: "linux", Architecture: arch, Created: v1.Time{Time: r.created}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: "65532:65532", Entrypoint: []string{"/" + i.layers[len(i.layers)-1]}, Labels: r.labels(i.name),
			Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		},
	})
	if err != nil {
		return nil, err
	}
	options := []tarball.LayerOption{tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching}
	for _, name := range i.layers {
		files, err := tarball.LayerFromFile(r.built(name+"-"+arch+".tar"), options...)
		if err != nil {
			return nil, err
		}
		history := v1.History{Created: v1.Time{Time: r.created}, CreatedBy: "make release VERSION=" + r.version, Comment: name}
		if built, err = mutate.Append(built, mutate.Addendum{Layer: files, History: history}); err != nil {
			return nil, err
		}
	}
	return mutate.Annotations(built, r.labels(i.name)).(v1.Image), nil
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

// savedImage is an element of manifest.json, which makes a layout an archive for `docker load`. go-containerregistry's own writer
// of such archives puts several images into a random order.
type savedImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func forDocker(built v1.Image, tag string) (savedImage, error) {
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	m, err := built.Manifest()
	if err != nil {
		return savedImage{}, err
	}
	s := savedImage{Config: blob(m.Config), RepoTags: []string{tag}}
	for _, l := range m.Layers {
		s.Layers = append(s.Layers, blob(l))
	}
	return s, nil
}

// chartRelease is files/release.yaml in a published chart: which images are its own. See benchrun.image in _helpers.tpl.
type chartRelease struct {
	Registry string            `json:"registry,omitempty"`
	Digests  map[string]string `json:"digests"`
}

// overlay of config/default names the images by digest: the owner of a registry cannot replace them.
const overlay = `resources: [config/default]
images:
- {name: unset.invalid/manager, newName: %[1]s/manager, digest: "%[2]s"}
labels:
- {pairs: {app.kubernetes.io/version: %[5]s}, includeTemplates: true}
patches:
- target: {kind: Deployment, name: benchrun-manager}
  patch: |
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--loader-image=%[1]s/loader@%[3]s"}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--sysbench-image=%[1]s/loader-sysbench@%[4]s"}
`

// writeInstall renders the kustomization into one file for `kubectl apply -f`.
func (r release) writeInstall(digests map[string]string) error {
	dir, err := os.MkdirTemp("", "benchrun-install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	registry := cmp.Or(r.registry, "unset.invalid") // which cannot exist (RFC 2606): the user who installs replaces it
	text := fmt.Sprintf(overlay, registry, digests["manager"], digests["loader"], digests["loader-sysbench"], r.version)
	if err := errors.Join(
		os.CopyFS(filepath.Join(dir, "config"), os.DirFS("config")),
		os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600),
	); err != nil {
		return err
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // the namespace and the kinds first
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return fmt.Errorf("rendering config/default: %w", err)
	}
	rendered, err := objects.AsYaml()
	return errors.Join(err, os.WriteFile(filepath.Join(r.folder, "install.yaml"), rendered, 0o644))
}
