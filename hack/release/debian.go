// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// debian is a package of Debian's in an image.
type debian struct {
	name, version, arch, sha256 string
}

// url of a package (purl).
func (d debian) url() string {
	return fmt.Sprintf("pkg:deb/debian/%s@%s?arch=%s", d.name, strings.ReplaceAll(d.version, "+", "%2B"), d.arch)
}

// packages in an image, for all architectures: each once.
func (r release) packages(i image) ([]debian, error) {
	var all []debian
	for _, name := range i.layers {
		for _, arch := range architectures {
			some, err := readPackages(r.built(name + "-" + arch + ".packages"))
			if err != nil {
				return nil, err
			}
			all = appendNew(all, some...)
		}
	}
	return all, nil
}

// readPackages reads lines of NAME VERSION ARCHITECTURE SHA256.
func readPackages(path string) ([]debian, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []debian
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 4 {
			return nil, fmt.Errorf("%s: a line is not NAME VERSION ARCHITECTURE SHA256: %q", path, line)
		}
		all = append(all, debian{fields[0], fields[1], fields[2], fields[3]})
	}
	return all, nil
}

// appendNew appends those that are not there yet.
func appendNew(all []debian, some ...debian) []debian {
	for _, d := range some {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}
