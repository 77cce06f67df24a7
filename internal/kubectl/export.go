// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/bundle"
)

func newExport(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	to := ""
	command := &cobra.Command{
		Use:   "export NAME",
		Short: "Pack a run or comparison, so that somebody else can verify it and measure it again",
		Long: `Pack a finished run or comparison: its specification, results, environment, the record and document of each
attempt, the variables of the server, and checksums of all of it. The archive has no secrets. "kubectl benchrun reproduce"
reads it.`,
		Example: `  # An archive in the current folder, commit-size.tgz.
  kubectl benchrun export commit-size`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			cl, s, err := c.subject(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			path, err := export(command.Context(), cl, s, to)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(streams.Out, path)
			return err
		},
	}
	command.Flags().StringVarP(&to, "output", "o", "", "a file (default NAME.tgz)")
	return command
}

// export writes a bundle and returns its path.
func export(ctx context.Context, from client.Reader, s subject, to string) (string, error) {
	if to == "" {
		to = s.object().GetName() + ".tgz"
	}
	path, err := written(ctx, from, s, filepath.Dir(to))
	if err != nil {
		return "", err
	}
	if err := os.Rename(path, to); err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", to, err), os.Remove(path))
	}
	return to, nil
}

// written is a whole bundle in a file of a folder: what cannot be written whole is not left there.
func written(ctx context.Context, from client.Reader, s subject, folder string) (string, error) {
	f, err := os.CreateTemp(folder, ".benchrun-export-*")
	if err != nil {
		return "", fmt.Errorf("writing the bundle: %w", err)
	}
	err = errors.Join(gather(ctx, from, s, f), f.Close())
	if err == nil {
		err = os.Chmod(f.Name(), 0o644) //nolint:gosec // as any file that a user writes: the bundle has no secrets
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
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
