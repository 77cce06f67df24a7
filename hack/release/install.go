// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// unset is a registry that nobody can have (RFC 2606). It stands in install.yaml where the registry is to be filled in.
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
