// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// packages are what the script lists of Debian's packages.
var packages = strings.Repeat("89ab", 16) + "  pkg:deb/debian/ca-certificates@2023?arch=all\n"

// released is a folder with both steps' files, made from files that stand for what hack/release.sh compiles and unpacks.
func released(t *testing.T, registry string) release {
	t.Helper()
	t.Chdir(root)
	r := release{
		version: "v1.2.3", revision: strings.Repeat("ab", 20), created: time.Unix(1700000000, 0).UTC(), registry: registry,
		folder: t.TempDir(),
	}
	files := map[string][]byte{
		"kubectl-benchrun_linux_amd64.tar.gz": []byte("linux"), "kubectl-benchrun_windows_arm64.tar.gz": []byte("windows"),
		"build/packages": []byte(packages),
	}
	for _, arch := range architectures {
		for _, layer := range []string{"manager", "loader", "sysbench", "ca-certificates"} {
			files["build/"+layer+"-"+arch+".tar"] = archived(t, layer, layer+" for "+arch)
		}
	}
	for name, content := range files {
		path := filepath.Join(r.folder, filepath.FromSlash(name))
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o600)))
	}
	must.Do(t, errors.Join(r.writeImages(), r.describe()))
	return r
}

// root is the folder of the repository.
var root = func() string {
	path, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return path
}()

// archived is a tar archive with one file.
func archived(t *testing.T, name, content string) []byte {
	t.Helper()
	var text bytes.Buffer
	tw := tar.NewWriter(&text)
	err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))})
	if err == nil {
		_, err = io.WriteString(tw, content)
	}
	must.Do(t, errors.Join(err, tw.Close()))
	return text.Bytes()
}

// A second release has the same bytes.
func TestReleaseIsReproducible(t *testing.T) {
	read := func(folder string) map[string]string {
		files := map[string]string{}
		err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(folder, path))
			files[path] = result.Digest(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	first := released(t, "")
	if diff := cmp.Diff(read(first.folder), read(released(t, "").folder)); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
	sums := must.Get(os.ReadFile(filepath.Join(first.folder, result.SumsFile)))(t)
	must.Do(t, first.describe())
	again, err := os.ReadFile(filepath.Join(first.folder, result.SumsFile))
	if diff := cmp.Diff(string(sums), string(again)); diff != "" || err != nil {
		t.Errorf("described again: %v (-first +second):\n%s", err, diff)
	}
}

// The workflow uploads every file, also one without a dot in its name: without SHA256SUMS, its signature is worth nothing.
func TestReleaseIsUploadedWhole(t *testing.T) {
	workflow := must.Get(os.ReadFile(filepath.Join(root, ".github/workflows/release.yaml")))(t)
	if !regexp.MustCompile(`(?m)gh release create .* dist/\*$`).Match(workflow) {
		t.Error("the workflow does not upload dist/*")
	}
}

func TestReleaseNeedsWhatTheScriptMakes(t *testing.T) {
	t.Chdir(root)
	r := release{version: "v1.2.3", folder: t.TempDir()}
	if err := r.writeImages(); err == nil {
		t.Error("a folder without layers has images")
	}
	if err := r.describe(); err == nil {
		t.Error("a folder without archives of the plugin has a manifest for krew")
	}
}
