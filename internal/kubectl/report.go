// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func newReport(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	output, dir, open := "text", "", false
	names := strings.Join(formatNames(), ", ")
	command := &cobra.Command{
		Use:   "report NAME",
		Short: "Print the report of a run or suite",
		Long: "Print the report of a run or suite. That of a run that has not finished has what was measured so far, and says so.\n\n" +
			"NAME is that of a run or suite; run/NAME and suite/NAME say which.",
		Example: `  # What a person wants to know first.
  kubectl benchrun report commit-size

  # A row per trial, for a spreadsheet.
  kubectl benchrun report commit-size -o csv

  # A job summary of GitHub Actions.
  kubectl benchrun report commit-size -o github >>"$GITHUB_STEP_SUMMARY"

  # The page with plots, in the browser.
  kubectl benchrun report commit-size --open

  # Files of all formats.
  kubectl benchrun report commit-size --dir results`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			format, err := formatOf(output)
			if err != nil {
				return err
			}
			cl, namespace, err := c.connect()
			if err != nil {
				return err
			}
			p, err := reported(command.Context(), cl, namespace, arguments[0])
			if err != nil {
				return err
			}
			if open {
				return openPage(command.Context(), streams, p, arguments[0])
			}
			if dir == "" {
				return p.print(streams.Out, format)
			}
			files, err := p.files()
			if err != nil {
				return err
			}
			if err := writeFolder(dir, files); err != nil {
				return err
			}
			_, err = fmt.Fprintf(streams.ErrOut, "%d files were written to %s.\n", len(files)+1, dir)
			return err
		},
	}
	command.Flags().StringVarP(&output, "output", "o", output, "one of "+names)
	command.Flags().StringVar(&dir, "dir", "", "write files of all formats to this folder instead of printing one")
	command.Flags().BoolVar(&open, "open", false, "open the page in the browser instead of printing")
	command.MarkFlagsMutuallyExclusive("output", "dir", "open")
	return command
}

// formats are those of package report, and the page, which is drawn without the documents of the attempts.
func formats() []report.Format {
	return append(report.Formats(), report.Format{
		Name: "html", File: page.File,
		Run:   func(w io.Writer, r *report.Report) error { return page.Run(w, r, nil) },
		Suite: func(w io.Writer, s *report.Suite) error { return page.Suite(w, s, nil) },
	})
}

func formatNames() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return names
}

// formatOf is the value of -o.
func formatOf(name string) (report.Format, error) {
	all := formats()
	i := slices.IndexFunc(all, func(f report.Format) bool { return f.Name == name })
	if i < 0 {
		return report.Format{}, fmt.Errorf("-o %s is not known; use one of %s", name, strings.Join(formatNames(), ", "))
	}
	return all[i], nil
}

// reported is what there is of a run or suite: its published results, or what was measured so far.
func reported(ctx context.Context, from client.Reader, namespace, name string) (*printable, error) {
	s, err := find(ctx, from, namespace, name)
	if err != nil {
		return nil, err
	}
	if s.results().ConfigMap != "" {
		return s.published(ctx, from)
	}
	p := new(printable)
	if s.run != nil {
		p.run, err = measuredSoFar(ctx, from, s.run)
	} else {
		p.suite, err = judgedSoFar(ctx, from, s.suite)
	}
	return p, err
}

// print the report in a format. The page is that of the operator if there is one: it has seen the documents of the attempts.
func (p *printable) print(w io.Writer, f report.Format) error {
	if f.File == page.File {
		published, err := result.UnpackFile(page.File, p.contents)
		if err != nil {
			return err
		}
		if published != nil {
			_, err := w.Write(published)
			return err
		}
	}
	if p.run != nil {
		return f.Run(w, p.run)
	}
	return f.Suite(w, p.suite)
}

// files of all formats.
func (p *printable) files() ([]result.File, error) {
	var files []result.File
	for _, f := range formats() {
		var b bytes.Buffer
		if err := p.print(&b, f); err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.File, err)
		}
		files = append(files, result.File{Name: f.File, Data: b.Bytes()})
	}
	return files, nil
}
