// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// writeFolder writes files, and their digests after them, into a folder, which is made if it does not exist. Nothing
// outside of it is written, even if there are symbolic links in it.
func writeFolder(dir string, files []result.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // reports are no secrets
		return fmt.Errorf("making the folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // what was written is closed already
	// Until all files are written, there are no digests that they could be taken for.
	if err := root.Remove(result.SumsFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the digests of what was in the folder: %w", err)
	}
	sums := result.Sums{}
	for _, f := range files {
		if folder := path.Dir(f.Name); folder != "." {
			if err := root.MkdirAll(folder, 0o755); err != nil {
				return fmt.Errorf("making the folder of %s: %w", f.Name, err)
			}
		}
		if err := root.WriteFile(f.Name, f.Data, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name, err)
		}
		sums[f.Name] = result.Digest(f.Data)
	}
	if err := root.WriteFile(result.SumsFile, sums.Text(), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", result.SumsFile, err)
	}
	return nil
}

// readFolder reads results.json from a folder that writeFolder has written, and compares it with its digest.
func readFolder(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	listed, err := root.ReadFile(result.SumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s, which `kubectl benchrun report --dir` writes after all other files", dir,
			result.SumsFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", result.SumsFile, err)
	}
	sums, err := result.ParseSums(listed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	text, err := root.ReadFile(report.JSONFile)
	if err != nil {
		return nil, fmt.Errorf("reading the results: %w", err)
	}
	if sums[report.JSONFile] != result.Digest(text) {
		return nil, fmt.Errorf("%s in %s was changed: its digest does not match %s", report.JSONFile, dir,
			result.SumsFile)
	}
	return text, nil
}
