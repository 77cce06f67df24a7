// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
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

// packages in the root file system of an image, for all architectures: each once.
func (r release) packages(i image) ([]debian, error) {
	var all []debian
	seen := map[debian]bool{}
	for _, arch := range architectures {
		if i.root == "" {
			break
		}
		path := r.built(i.root + "-" + arch + ".packages")
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) != 4 {
				return nil, fmt.Errorf("%s: a line is not NAME VERSION ARCHITECTURE SHA256: %q", path, line)
			}
			if d := (debian{fields[0], fields[1], fields[2], fields[3]}); !seen[d] {
				seen[d] = true
				all = append(all, d)
			}
		}
	}
	return all, nil
}
