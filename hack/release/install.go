// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

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
