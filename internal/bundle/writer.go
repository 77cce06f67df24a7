// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Writer writes a bundle, file by file, and keeps none of them in memory.
type Writer struct {
	manifest *Manifest
	zip      *gzip.Writer
	tar      *tar.Writer
	files    []file
}

// file that was written.
type file struct {
	name, sha256 string
	size         int
}

// NewWriter begins a bundle; the benchmark is the resource to apply, as YAML.
func NewWriter(to io.Writer, m *Manifest, benchmark []byte) (*Writer, error) {
	zw, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	w := &Writer{manifest: m, zip: zw, tar: tar.NewWriter(zw)}
	text, err := m.encode()
	if err != nil {
		return nil, err
	}
	for _, f := range []result.File{
		{Name: ReadmeFile, Data: readme(m)}, {Name: ManifestFile, Data: text}, {Name: BenchmarkFile, Data: benchmark},
	} {
		if err := w.Add(f.Name, f.Data); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Add writes a file. Its name is a path within the bundle.
func (w *Writer) Add(name string, data []byte) error {
	if !inside(name) {
		return fmt.Errorf("%q is not a valid file name in a bundle", name)
	}
	w.files = append(w.files, file{name, result.Digest(data), len(data)})
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: path.Join(w.manifest.Name, name), Size: int64(len(data)), Mode: 0o644, Format: tar.FormatPAX,
		ModTime: w.manifest.Finished,
	}
	if err := w.tar.WriteHeader(header); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if _, err := w.tar.Write(data); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// inside says whether a name is a plain path below the folder of a bundle.
func inside(name string) bool {
	return name != "" && !strings.ContainsAny(name, "\\\n") && !path.IsAbs(name) && path.Clean(name) == name && name != "." &&
		name != ".." && !strings.HasPrefix(name, "../")
}

// Close writes the checksums of the files, and ends the archive.
func (w *Writer) Close() error {
	sums := result.Sums{}
	for _, f := range w.files {
		sums[f.name] = f.sha256
	}
	if err := w.Add(SumsFile, sums.Text()); err != nil {
		return err
	}
	if err := w.tar.Close(); err != nil {
		return fmt.Errorf("ending the archive: %w", err)
	}
	if err := w.zip.Close(); err != nil {
		return fmt.Errorf("ending the archive: %w", err)
	}
	return nil
}
