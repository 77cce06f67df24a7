//go:build release

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Debian's packages were unpacked and not installed: sysbench and the loader are there, for the architecture of the image, and so
// is every library that they need, which is all that can be known without a machine of that architecture.
func TestReleaseHasWhatSysbenchNeeds(t *testing.T) {
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(arch, func(t *testing.T) {
			files := imageFiles(t, arch)
			for _, program := range []string{"loader", "usr/bin/sysbench"} {
				content, exists := files[program]
				if !exists {
					t.Fatalf("the image has no %s", program)
				}
				needed := map[string]bool{}
				demandLibraries(t, program, content, machine, files, needed)
				if program != "loader" && len(needed) < 5 {
					t.Errorf("%s needs %v alone", program, needed)
				}
			}
			for _, file := range []string{
				"usr/share/sysbench/oltp_read_write.lua", "usr/share/doc/sysbench/copyright", "var/lib/dpkg/status.d/sysbench",
				"etc/ssl/certs/ca-certificates.crt", "LICENSE",
			} {
				if _, exists := files[file]; !exists {
					t.Errorf("the image has no %s", file)
				}
			}
		})
	}
}

// demandLibraries of an ELF file, and of those libraries.
func demandLibraries(t *testing.T, name string, content []byte, machine elf.Machine, files map[string][]byte, seen map[string]bool) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if f.Machine != machine {
		t.Errorf("%s is for %s", name, f.Machine)
	}
	libraries, err := f.ImportedLibraries()
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, library := range libraries {
		if seen[library] {
			continue
		}
		seen[library] = true
		content, exists := files[library]
		if !exists {
			t.Errorf("%s needs %s, which the image has not", name, library)
			continue
		}
		demandLibraries(t, library, content, machine, files, seen)
	}
}

// imageFiles are the files of the image loader-sysbench by their paths, and libraries by their names too, also those that are links.
func imageFiles(t *testing.T, arch string) map[string][]byte {
	t.Helper()
	tag := must.Get(name.NewTag("localhost/benchrun/loader-sysbench:" + os.Getenv("BENCHRUN_RELEASE_VERSION")))(t)
	image := must.Get(tarball.ImageFromPath(filepath.Join(os.Getenv("BENCHRUN_RELEASE"), "benchrun-images_linux_"+arch+".tar"), &tag))(t)
	files, links := map[string][]byte{}, map[string]string{}
	extracted := mutate.Extract(image)
	defer extracted.Close()
	for tr := tar.NewReader(extracted); ; {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		at := path.Clean(header.Name)
		switch header.Typeflag {
		case tar.TypeSymlink:
			links[path.Base(at)] = path.Base(header.Linkname)
		case tar.TypeReg:
			files[at] = must.Get(io.ReadAll(tr))(t)
			if strings.Contains(at, ".so") {
				files[path.Base(at)] = files[at]
			}
		}
	}
	for link, to := range links {
		if content, exists := files[to]; exists && files[link] == nil {
			files[link] = content
		}
	}
	return files
}
