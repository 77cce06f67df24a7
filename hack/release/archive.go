// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// platform is an archive of the plugin.
type platform struct {
	OS, Arch, Archive, SHA256, Program string
}

// archive packs a program and the license: as zip for Windows, and otherwise as a compressed tar archive.
func archive(program, folder string) (platform, error) {
	system, arch, _ := strings.Cut(filepath.Base(filepath.Dir(program)), "-")
	p := platform{OS: system, Arch: arch, Program: filepath.Base(program)}
	write := writeTar
	p.Archive = fmt.Sprintf("kubectl-benchrun_%s_%s.tar.gz", system, arch)
	if system == "windows" {
		write, p.Archive = writeZip, strings.TrimSuffix(p.Archive, ".tar.gz")+".zip"
	}
	path := filepath.Join(folder, p.Archive)
	f, err := os.Create(path)
	if err != nil {
		return p, err
	}
	if err := errors.Join(write(f, program, "LICENSE"), f.Close()); err != nil {
		return p, fmt.Errorf("writing %s: %w", p.Archive, err)
	}
	p.SHA256, err = digest(path)
	return p, err
}

func writeTar(to io.Writer, paths ...string) error {
	zw, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := tw.WriteHeader(&tar.Header{Name: filepath.Base(path), Mode: mode(path), Size: int64(len(data))}); err != nil {
			return err
		}
		if _, err := tw.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(tw.Close(), zw.Close())
}

func writeZip(to io.Writer, paths ...string) error {
	zw := zip.NewWriter(to)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: filepath.Base(path), Method: zip.Deflate}
		header.SetMode(os.FileMode(mode(path)))
		w, err := zw.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return zw.Close()
}

// mode of a file: programs can be executed.
func mode(path string) int64 {
	if filepath.Base(path) == "LICENSE" {
		return 0o644
	}
	return 0o755
}
