// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/report"
)

// format prints a report; one that is nil does not exist for that kind.
type format struct {
	run   func(io.Writer, *report.Report) error
	suite func(io.Writer, *report.Suite) error
}

// formats are the values of -o.
func formats() map[string]format {
	return map[string]format{
		"markdown": {report.Summary, report.SuiteSummary},
		"csv":      {report.CSV, report.SuiteCSV},
		"json":     {report.JSON, report.SuiteJSON},
		"benchfmt": {report.Bench, nil},
	}
}

func newReport(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	output := "markdown"
	names := strings.Join(slices.Sorted(maps.Keys(formats())), ", ")
	command := &cobra.Command{
		Use:   "report NAME",
		Short: "Print the report of a run or suite",
		Example: `  # What a person wants to know first.
  kubectl benchrun report commit-size

  # A row per trial, for a spreadsheet.
  kubectl benchrun report commit-size -o csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			f, known := formats()[output]
			if !known {
				return fmt.Errorf("-o %s is not known; use one of %s", output, names)
			}
			cl, namespace, err := c.connect()
			if err != nil {
				return err
			}
			s, err := find(command.Context(), cl, namespace, arguments[0])
			if err != nil {
				return err
			}
			p, err := s.published(command.Context(), cl)
			if err != nil {
				return err
			}
			return f.print(streams.Out, p, output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", output, "one of "+names)
	return command
}

// print the report that there is.
func (f format) print(w io.Writer, p *printable, name string) error {
	switch {
	case p.run != nil && f.run != nil:
		return f.run(w, p.run)
	case p.suite != nil && f.suite != nil:
		return f.suite(w, p.suite)
	}
	kind := "suite"
	if p.run != nil {
		kind = "run"
	}
	return fmt.Errorf("-o %s does not exist for a %s", name, kind)
}
