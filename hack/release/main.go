// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command release turns compiled programs into what is published:
//
//	release VERSION FOLDER
//
// FOLDER has the plugin for each platform, as plugin/OS-ARCH/kubectl-benchrun, and may have more files to publish, as the chart.
// The command adds an archive of the plugin for each platform, a manifest for krew, a bill of materials (CycloneDX), and
// SHA256SUMS of all files. The same input gives the same bytes.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

func main() {
	if len(os.Args) != 3 || !strings.HasPrefix(os.Args[1], "v") {
		fmt.Fprintln(os.Stderr, "usage: release vVERSION FOLDER")
		os.Exit(2)
	}
	if err := release(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(version, folder string) error {
	programs, err := filepath.Glob(filepath.Join(folder, "plugin", "*-*", "kubectl-benchrun*"))
	if err != nil || len(programs) == 0 {
		return errors.Join(err, fmt.Errorf("%s/plugin has no programs", folder))
	}
	var platforms []platform
	for _, program := range programs {
		p, err := archive(program, folder)
		if err != nil {
			return err
		}
		platforms = append(platforms, p)
	}
	if err := writeKrew(version, platforms, filepath.Join(folder, "benchrun.krew.yaml")); err != nil {
		return err
	}
	if err := writeBill(version, programs[0], filepath.Join(folder, "benchrun.cdx.json")); err != nil {
		return err
	}
	return writeSums(folder)
}

// writeSums of all files in a folder, but not of those in its folders.
func writeSums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	sums := result.Sums{}
	for _, e := range entries {
		if e.IsDir() || e.Name() == result.SumsFile {
			continue
		}
		if sums[e.Name()], err = digest(filepath.Join(folder, e.Name())); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, result.SumsFile), sums.Text(), 0o644)
}

func digest(path string) (string, error) {
	data, err := os.ReadFile(path)
	return result.Digest(data), err
}
