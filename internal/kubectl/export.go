// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/bundle"
)

func newExport(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	var (
		to        string
		plainHTTP bool
		cite      bundle.Citation
	)
	command := &cobra.Command{
		Use:   "export NAME",
		Short: "Pack a run or comparison, so that somebody else can verify it and measure it again",
		Long: `Pack a finished run or comparison: its specification, results, environment, the record and document of each
attempt, the variables of the server, and checksums of all of it. The archive has no secrets. "kubectl benchrun reproduce"
reads it.`,
		Example: `  # An archive in the current folder, commit-size.tgz.
  kubectl benchrun export commit-size

  # With how to cite it, for an archive of research data.
  kubectl benchrun export commit-size --author "Doe, Jane" --license CC-BY-4.0

  # To a registry, with the credentials of docker login.
  kubectl benchrun export commit-size -o oci://registry.example.com/benchmarks/commit-size:2026-11`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			of := &cite
			if len(cite.Authors) == 0 && cite.Title == "" && cite.License == "" {
				of = nil
			} else if err := cite.Check(); err != nil {
				return err
			}
			cl, s, err := c.subject(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			address, err := export(command.Context(), cl, s, of, to, plainHTTP)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(streams.Out, address)
			return err
		},
	}
	command.Flags().StringVarP(&to, "output", "o", "", "a file, or oci://REGISTRY/NAME:TAG (default NAME.tgz)")
	command.Flags().StringArrayVar(&cite.Authors, "author", nil, "who measured it, for "+bundle.CitationFile+
		`: "Doe, Jane" or the name of an organization; repeat it for each`)
	command.Flags().StringVar(&cite.Title, "title", "", "what it is, for "+bundle.CitationFile+" (default: name and answer)")
	command.Flags().StringVar(&cite.License, "license", "", "what others may do with it: an SPDX identifier, such as CC-BY-4.0")
	command.Flags().BoolVar(&plainHTTP, "plain-http", false, "use HTTP without TLS for the registry")
	return command
}

// export writes a bundle, with how to cite it if that is not nil, and returns where it is.
func export(
	ctx context.Context, from client.Reader, s subject, cite *bundle.Citation, to string, plainHTTP bool,
) (string, error) {
	if to == "" {
		to = s.object().GetName() + ".tgz"
	}
	if scheme, _, found := strings.Cut(to, "://"); found && scheme+"://" != ociPrefix {
		return "", fmt.Errorf("%s: write a bundle to a file or to %sREGISTRY/NAME:TAG", to, ociPrefix)
	}
	folder := filepath.Dir(to)
	if strings.HasPrefix(to, ociPrefix) {
		temporary, err := os.MkdirTemp("", "benchrun-export-")
		if err != nil {
			return "", fmt.Errorf("making a folder: %w", err)
		}
		defer os.RemoveAll(temporary) //nolint:errcheck // the bundle is in the registry
		folder = temporary
	}
	path, manifest, err := written(ctx, from, s, cite, folder)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(to, ociPrefix) {
		return push(ctx, to, path, manifest, plainHTTP)
	}
	if err := os.Rename(path, to); err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", to, err), os.Remove(path))
	}
	return to, nil
}

// written is a whole bundle in a file of a folder: what cannot be written whole is not left there.
func written(
	ctx context.Context, from client.Reader, s subject, cite *bundle.Citation, folder string,
) (string, *bundle.Manifest, error) {
	f, err := os.CreateTemp(folder, ".benchrun-export-*")
	if err != nil {
		return "", nil, fmt.Errorf("writing the bundle: %w", err)
	}
	manifest, err := gather(ctx, from, s, cite, f)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Chmod(f.Name(), 0o644) //nolint:gosec // as any file that a user writes: the bundle has no secrets
	}
	if err != nil {
		return "", nil, errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), manifest, nil
}

// openBundle reads a bundle from a file or a registry, and verifies it.
func openBundle(ctx context.Context, address string, plainHTTP bool) (*bundle.Bundle, error) {
	if strings.HasPrefix(address, ociPrefix) {
		return pull(ctx, address, plainHTTP)
	}
	f, err := os.Open(address)
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err := bundle.Read(io.Reader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return b, nil
}
