// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// folder is what all tests share: it takes a while to make.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "benchrun-release-"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(folder); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// once fills the folder.
var once sync.Once

// released is a folder with what is published, which no test may change: of copies of one small program, and of files that stand
// for Debian's.
func released(t *testing.T) string {
	t.Helper()
	t.Chdir("../..")
	once.Do(func() {
		prepare(t, folder)
		if err := version(folder).write(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return folder
}

// version is a release into a folder.
func version(folder string) release {
	return release{version: "v1.2.3", revision: strings.Repeat("ab", 20), created: time.Unix(1700000000, 0).UTC(), folder: folder}
}

// prepare what hack/release.sh compiles and unpacks.
func prepare(t *testing.T, folder string) {
	t.Helper()
	program, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	var root bytes.Buffer
	if err := writeFiles(&root, map[string]string{"usr/bin/sysbench": "sysbench"}); err != nil {
		t.Fatal(err)
	}
	const packages = "sysbench 1.0.20+ds-5 ARCH 0123\nmysql-common 5.8+1.1.0 all 4567\n"
	files := map[string][]byte{
		"plugin/linux-amd64/kubectl-benchrun":       program,
		"plugin/windows-arm64/kubectl-benchrun.exe": program,
	}
	for _, arch := range architectures {
		files["linux-"+arch+"/manager"] = program
		files["linux-"+arch+"/loader"] = []byte("the loader for " + arch)
		files["sysbench-"+arch+".tar"] = root.Bytes()
		files["ca-certificates-"+arch+".tar"] = root.Bytes()
		files["ca-certificates-"+arch+".packages"] = []byte("ca-certificates 2023 all 89ab\n")
		files["sysbench-"+arch+".packages"] = []byte(strings.ReplaceAll(packages, "ARCH", arch))
	}
	files["linux-amd64/loader"] = program // its modules are read
	for name, content := range files {
		path := filepath.Join(folder, "build", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
}

// compiled is a small program with modules in it.
var compiled = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "benchrun-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "program")
	out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "./hack/crds").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(path)
})

// writeFiles writes a tar archive.
func writeFiles(to io.Writer, files map[string]string) error {
	tw := tar.NewWriter(to)
	for name, content := range files {
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			return err
		}
		if _, err := io.WriteString(tw, content); err != nil {
			return err
		}
	}
	return tw.Close()
}

// The programs that people have can read what is published, and its checksums fit.
func TestRelease(t *testing.T) {
	folder := released(t)
	for _, command := range []string{
		"sha256sum --strict -c SHA256SUMS",
		"test \"$(tar -tzf kubectl-benchrun_linux_amd64.tar.gz | sort | tr '\\n' ' ')\" = 'LICENSE kubectl-benchrun '",
		"x=$(mktemp -d) && tar -xzf kubectl-benchrun_linux_amd64.tar.gz -C $x && test -x $x/kubectl-benchrun && rm -r $x",
	} {
		c := exec.CommandContext(t.Context(), "sh", "-c", command)
		c.Dir = folder
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
	archive, err := zip.OpenReader(filepath.Join(folder, "kubectl-benchrun_windows_arm64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if len(archive.File) != 2 || archive.File[0].Name != "kubectl-benchrun.exe" || archive.File[0].Mode().Perm() != 0o755 {
		t.Errorf("the archive has %v", archive.File)
	}
}

// The manifest for krew has every platform, with the checksum of its archive.
// The workflow uploads every file, also one without a dot in its name: without SHA256SUMS, its signature is worth nothing.
func TestReleaseIsUploadedWhole(t *testing.T) {
	folder := released(t)
	workflow, err := os.ReadFile(".github/workflows/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`gh release create .*`).Find(workflow)
	patterns := regexp.MustCompile(`\bdist/(\S+)`).FindAllSubmatch(command, -1)
	files, err := os.ReadDir(folder)
	if err != nil || len(files) < 5 || len(patterns) == 0 {
		t.Fatalf("%d files, %d patterns: %v", len(files), len(patterns), err)
	}
	for _, f := range files {
		uploaded := slices.ContainsFunc(patterns, func(pattern [][]byte) bool {
			matched, err := filepath.Match(string(pattern[1]), f.Name())
			return err == nil && matched
		})
		if !f.IsDir() && !uploaded {
			t.Errorf("%s is not uploaded: %s", f.Name(), command)
		}
	}
}

func TestReleaseForKrew(t *testing.T) {
	folder := released(t)
	text, err := os.ReadFile(filepath.Join(folder, "benchrun.krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var plugin krewPlugin
	if err := yaml.UnmarshalStrict(text, &plugin); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if len(plugin.Spec.Platforms) != 2 || plugin.Spec.Version != "v1.2.3" {
		t.Errorf("%s", text)
	}
	got := map[string]string{}
	for _, p := range plugin.Spec.Platforms {
		if line := p.SHA256 + "  " + filepath.Base(p.URI); !bytes.Contains(sums, []byte(line)) {
			t.Errorf("SHA256SUMS lacks %q", line)
		}
		got[p.Selector.MatchLabels["os"]+"-"+p.Selector.MatchLabels["arch"]] = p.URI + " " + p.Bin
	}
	const at = "https://github.com/benchrun-dev/benchrun/releases/download/v1.2.3/kubectl-benchrun_"
	if diff := cmp.Diff(map[string]string{
		"linux-amd64":   at + "linux_amd64.tar.gz kubectl-benchrun",
		"windows-arm64": at + "windows_arm64.zip kubectl-benchrun.exe",
	}, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

// The bills of materials name what the programs were compiled from, and that of an image the packages in it.
func TestReleaseBills(t *testing.T) {
	folder := released(t)
	const yaml = "pkg:golang/sigs.k8s.io/yaml@"
	for name, deb := range map[string][]string{
		"kubectl-benchrun": nil, "manager": nil,
		"loader": {"pkg:deb/debian/ca-certificates@2023?arch=all"},
		"loader-sysbench": {
			"pkg:deb/debian/ca-certificates@2023?arch=all",
			"pkg:deb/debian/sysbench@1.0.20%2Bds-5?arch=amd64", "pkg:deb/debian/mysql-common@5.8%2B1.1.0?arch=all",
			"pkg:deb/debian/sysbench@1.0.20%2Bds-5?arch=arm64",
		},
	} {
		text, err := os.ReadFile(filepath.Join(folder, name+".cdx.json"))
		if err != nil {
			t.Fatal(err)
		}
		var bill struct {
			BOMFormat string
			Metadata  struct {
				Component struct{ Name, Version, PURL string }
			}
			Components []struct{ Name, Version, PURL string }
		}
		if err := json.Unmarshal(text, &bill); err != nil {
			t.Fatal(err)
		}
		found := false
		var packages []string
		for _, c := range bill.Components {
			found = found || c.Name == "sigs.k8s.io/yaml" && c.Version != "" && c.PURL == yaml+c.Version
			if strings.HasPrefix(c.PURL, "pkg:deb/") {
				packages = append(packages, c.PURL)
			}
		}
		of := bill.Metadata.Component
		if bill.BOMFormat != "CycloneDX" || !found || of.Name != name || of.Version != "v1.2.3" || !strings.HasSuffix(of.PURL, "@v1.2.3") {
			t.Errorf("%s: %s", name, text)
		}
		if diff := cmp.Diff(deb, packages); diff != "" {
			t.Errorf("%s: packages (-want +got):\n%s", name, diff)
		}
	}
}

// Who releases again gets the same bytes: the checksums do not list themselves, and no file has a time.
func TestReleaseIsTheSameEachTime(t *testing.T) {
	folder := released(t)
	read := func() map[string]string {
		files := map[string]string{}
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				text, err := os.ReadFile(filepath.Join(folder, e.Name()))
				if err != nil {
					t.Fatal(err)
				}
				files[e.Name()] = result.NamedDigest(text)
				if e.Name() == result.SumsFile {
					files[e.Name()] = string(text)
				}
			}
		}
		return files
	}
	first := read()
	if err := version(folder).write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, read()); diff != "" || len(first) != 16 {
		t.Errorf("%d files; the second time (-first +second):\n%s", len(first), diff)
	}
}

func TestReleaseNeedsPrograms(t *testing.T) {
	if err := version(t.TempDir()).write(t.Context()); err == nil {
		t.Error("a folder without programs is released")
	}
}
