// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The programs that people have can read it: tar and sha256sum.
func TestSumsAreThoseOfSha256sum(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.tgz")
	if err := os.WriteFile(path, archive(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"tar", "-xzf", path, "-C", dir}, {"sh", "-c", "cd " + dir + "/commit-size && sha256sum --strict -c SHA256SUMS"},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", command, err, out)
		}
	}
}
