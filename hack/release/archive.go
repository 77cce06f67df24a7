// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aead.dev/minisign"
	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/benchrun-dev/benchrun/internal/result"
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

// writeBills of the plugin and of each image, and returns the packages of Debian's that are in these.
func (r release) writeBills(plugin string) ([]debian, error) {
	if err := r.writeBill("kubectl-benchrun", plugin, nil); err != nil {
		return nil, err
	}
	var all []debian
	for _, i := range images {
		packages, err := r.packages(i)
		if err != nil {
			return nil, err
		}
		all = appendNew(all, packages...)
		// The compiler notes the same modules for all architectures.
		program := r.built("linux-"+architectures[0], i.program)
		if err := r.writeBill(i.name, program, packages); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// writeBill writes the modules that a program was compiled from, as the compiler has noted them in it, and the packages beside
// it.
func (r release) writeBill(name, program string, packages []debian) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	bill := cdx.NewBOM()
	bill.Metadata = &cdx.Metadata{Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: name, Version: r.version, BOMRef: name,
		PackageURL: "pkg:golang/" + info.Main.Path + "@" + r.version,
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}}
	components := []cdx.Component{{
		Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion, BOMRef: "std",
		PackageURL: "pkg:golang/std@" + info.GoVersion,
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		components = append(components, cdx.Component{
			Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, BOMRef: url, PackageURL: url,
		})
	}
	for _, p := range packages {
		components = append(components, cdx.Component{
			Type: cdx.ComponentTypeLibrary, Name: p.name, Version: p.version, BOMRef: p.url(), PackageURL: p.url(),
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: p.sha256}},
		})
	}
	bill.Components = &components
	f, err := os.Create(filepath.Join(r.folder, name+".cdx.json"))
	if err != nil {
		return err
	}
	defer f.Close()
	return cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill)
}

// signatureFile is a signature of the checksums, for `minisign -V`.
const signatureFile = result.SumsFile + ".minisig"

// sign the checksums by a key of minisign's in a file. Its password is in the environment, if it has one.
func (r release) sign(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var key minisign.PrivateKey
	if minisign.IsEncrypted(text) {
		key, err = minisign.DecryptKey(os.Getenv("MINISIGN_PASSWORD"), text)
	} else {
		err = key.UnmarshalText(text)
	}
	if err != nil {
		return fmt.Errorf("reading the key in %s (its password is $MINISIGN_PASSWORD): %w", file, err)
	}
	sums, err := os.Open(filepath.Join(r.folder, result.SumsFile))
	if err != nil {
		return err
	}
	defer sums.Close()
	prehashed := minisign.NewReader(sums) // as minisign itself signs
	if _, err := io.Copy(io.Discard, prehashed); err != nil {
		return err
	}
	signature := prehashed.SignWithComments(key, "benchrun "+r.version, "verify with minisign -V")
	return os.WriteFile(filepath.Join(r.folder, signatureFile), signature, 0o644)
}
