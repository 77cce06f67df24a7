// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func newExport(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	to := ""
	command := &cobra.Command{
		Use:   "export NAME",
		Short: "Pack a run, so that somebody else can verify it and measure it again",
		Long: `Pack a finished run: its specification, results, environment, the record and document of each
attempt, the variables of the server, and checksums of all of it. The archive has no secrets. "kubectl benchrun reproduce"
reads it.`,
		Example: `  # An archive in the current folder, commit-size.tgz.
  kubectl benchrun export commit-size`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: c.onRun(func(ctx context.Context, cl client.Client, run *v1alpha1.BenchmarkRun) error {
			path, err := export(ctx, cl, run, to)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(streams.Out, path)
			return err
		}),
	}
	command.Flags().StringVarP(&to, "output", "o", "", "a file (default NAME.tgz)")
	return command
}

// export writes a bundle and returns its path. What cannot be written whole is not left there.
func export(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun, to string) (string, error) {
	to = cmp.Or(to, run.Name+".tgz")
	f, err := os.CreateTemp(filepath.Dir(to), ".benchrun-export-*")
	if err != nil {
		return "", fmt.Errorf("writing the bundle: %w", err)
	}
	err = errors.Join(gather(ctx, from, run, f), f.Close())
	if err == nil {
		err = os.Chmod(f.Name(), 0o644) //nolint:gosec // as any file that a user writes: the bundle has no secrets
	}
	if err == nil {
		if err = os.Rename(f.Name(), to); err != nil {
			err = fmt.Errorf("writing %s: %w", to, err)
		}
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return to, nil
}

// openBundle reads a bundle from a file, and verifies it.
func openBundle(path string) (*bundle.Bundle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err := bundle.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

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
		return nil, fmt.Errorf("%s has no %s, which `kubectl benchrun report --dir` writes after all other files", dir, result.SumsFile)
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
		return nil, fmt.Errorf("%s in %s was changed: its digest does not match %s", report.JSONFile, dir, result.SumsFile)
	}
	return text, nil
}
