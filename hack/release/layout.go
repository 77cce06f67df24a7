// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// entry is an image for one architecture or for several in a layout.
type entry struct {
	image v1.Image
	index v1.ImageIndex
	// annotations of it in the layout's index, which have its names.
	annotations map[string]string
	// tag is its name for Docker; empty in a layout that is not for Docker.
	tag string
}

// writeLayout writes an OCI image layout as an archive. If the entries have tags, it is also what Docker saves and loads: the two
// need not know of each other.
func writeLayout(archive string, entries []entry) error {
	dir, err := os.MkdirTemp("", "benchrun-layout-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	var saved []savedImage
	for _, e := range entries {
		if e.index != nil {
			err = path.AppendIndex(e.index, layout.WithAnnotations(e.annotations))
		} else {
			err = path.AppendImage(e.image, layout.WithAnnotations(e.annotations))
		}
		if err != nil {
			return err
		}
		if e.tag == "" {
			continue
		}
		s, err := forDocker(e)
		if err != nil {
			return err
		}
		saved = append(saved, s)
	}
	if saved != nil {
		text, err := json.Marshal(saved)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
			return err
		}
	}
	return tarFolder(archive, dir)
}

// savedImage is an element of manifest.json in what Docker saves.
type savedImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func forDocker(e entry) (savedImage, error) {
	m, err := e.image.Manifest()
	if err != nil {
		return savedImage{}, err
	}
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	s := savedImage{Config: blob(m.Config), RepoTags: []string{e.tag}}
	for _, l := range m.Layers {
		s.Layers = append(s.Layers, blob(l))
	}
	return s, nil
}

// tarFolder packs the files of a folder in the order of their names, without times and owners.
func tarFolder(archive, dir string) error {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	return errors.Join(packFolder(f, dir), f.Close())
}

// gzipFolder does the same, compressed.
func gzipFolder(archive, dir string) error {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	zw, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(packFolder(zw, dir), zw.Close(), f.Close())
}

func packFolder(to io.Writer, dir string) error {
	tw := tar.NewWriter(to)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return packFile(tw, path, filepath.ToSlash(name))
	})
	return errors.Join(err, tw.Close())
}

func packFile(tw *tar.Writer, path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(tw, f)
	return err
}
