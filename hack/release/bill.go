// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"os"
	"path/filepath"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

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
