// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

type reporting struct {
	output, plots, dir string
	open               bool
}

func newReport(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	r := &reporting{output: "text"}
	command := &cobra.Command{
		Use:   "report NAME",
		Short: "Print the report of a run",
		Long: "Print the report of a run. If it has not finished, the report has the results so far, and says so.\n\n" +
			"--dir writes all plots of the page and, for each attempt that counts, the whole output of the program that generated the\n" +
			"load, such as sysbench.\n" +
			"Plots over time, latency distributions and milestones are drawn from the documents of the attempts. The file of --plots:\n" +
			"https://github.com/benchrun-dev/benchrun/blob/main/docs/how-to/judge-a-claim.md#plots-and-tables",
		Example: `  # A summary.
  kubectl benchrun report commit-size

  # One row per trial, for a spreadsheet.
  kubectl benchrun report commit-size -o csv

  # A job summary for GitHub Actions.
  kubectl benchrun report commit-size -o markdown >>"$GITHUB_STEP_SUMMARY"

  # The page with plots, in the browser.
  kubectl benchrun report commit-size --open

  # Files in all formats, all plots, those of a file too, and the output of sysbench.
  kubectl benchrun report offered-rate --plots config/samples/offered-rate.plots --dir results`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			return r.run(command.Context(), c, streams, arguments[0])
		},
	}
	command.Flags().StringVarP(&r.output, "output", "o", r.output, "one of "+strings.Join(outputNames(), ", "))
	command.Flags().StringVar(&r.plots, "plots", "", "file with plots and tables that the report has besides its own")
	command.Flags().StringVar(&r.dir, "dir", "", "write files in all formats, plots and outputs to this folder instead")
	command.Flags().BoolVar(&r.open, "open", false, "open the page in the browser instead of printing")
	command.MarkFlagsMutuallyExclusive("output", "dir", "open")
	return command
}

// run checks the flags, before it connects to a cluster, and prints or writes the report.
func (r *reporting) run(ctx context.Context, c *cluster, streams genericiooptions.IOStreams, name string) error {
	docs := new(documents)
	var requested *report.Requested
	format, err := formatOf(r.output, docs)
	if err == nil && r.plots != "" {
		text, failed := os.ReadFile(r.plots)
		if failed != nil {
			return fmt.Errorf("reading plots: %w", failed)
		}
		requested, err = report.ReadRequested(r.plots, text)
	}
	if err != nil {
		return err
	}
	if docs.from, docs.namespace, err = c.connect(); err != nil {
		return err
	}
	docs.withOutputs = r.dir != ""
	p, err := reported(ctx, docs.from, docs.namespace, name)
	if err == nil && requested != nil {
		err = r.request(ctx, streams.ErrOut, p, docs, requested)
	}
	if err != nil {
		return err
	}
	switch {
	case r.open:
		return openPage(ctx, streams, p, docs, name)
	case r.dir != "":
		return p.writeAll(ctx, streams, docs, r.dir)
	}
	return p.print(streams.Out, format)
}

// request has a report show the plots and tables of --plots. It says what cannot be read, unless the output does.
func (r *reporting) request(ctx context.Context, errOut io.Writer, p *printable, docs *documents, q *report.Requested) error {
	p.contents = nil // which were published without them
	if err := p.Request(q); err != nil {
		return fmt.Errorf("%s: %w", r.plots, err)
	}
	docs.read(ctx, p.Report)
	if words := docs.words(); words != "" && r.dir == "" {
		say(errOut, words)
	}
	return nil
}

// writeAll writes the files of all formats, all plots, and what programs printed that made the load.
func (p *printable) writeAll(ctx context.Context, streams genericiooptions.IOStreams, docs *documents, dir string) error {
	docs.read(ctx, p.Report)
	files, err := p.files(docs)
	if err != nil {
		return err
	}
	drawn, remarks, err := p.plotFiles(ctx, docs)
	if err != nil {
		return err
	}
	files = slices.Concat(files, drawn, docs.outputs)
	if err := writeFolder(dir, files); err != nil {
		return err
	}
	for _, remark := range remarks {
		say(streams.ErrOut, remark)
	}
	_, err = fmt.Fprintf(streams.ErrOut, "%d files were written to %s.\n", len(files)+1, dir)
	return err
}

// formats are those of package report, and the page, with what was read of the documents of the attempts.
func formats(docs *documents) []report.Format {
	return append(report.Formats(), report.Format{
		Name: "html", File: page.File, Print: func(w io.Writer, r *report.Report) error { return page.Write(w, r, &docs.details) },
	})
}

func outputNames() []string {
	var names []string
	for _, f := range formats(nil) {
		names = append(names, f.Name)
	}
	return names
}

func formatOf(name string, docs *documents) (report.Format, error) {
	all := formats(docs)
	i := slices.IndexFunc(all, func(f report.Format) bool { return f.Name == name })
	if i < 0 {
		return report.Format{}, fmt.Errorf("-o %s is not known; use one of %s", name, strings.Join(outputNames(), ", "))
	}
	return all[i], nil
}

var errNeedsVariants = errors.New("this format is for runs with variants")

// print the report in a format. A file that the operator has published is printed as it is: the operator has seen the documents
// of the attempts, whose histograms results.json does not have.
func (p *printable) print(w io.Writer, f report.Format) error {
	published, err := result.UnpackFile(f.File, p.contents)
	if err != nil {
		return err
	}
	if published != nil {
		_, err := w.Write(published)
		return err
	}
	if f.Variants && !p.HasVariants() {
		return fmt.Errorf("-o %s: %w", f.Name, errNeedsVariants)
	}
	return f.Print(w, p.Report)
}

func (p *printable) files(docs *documents) ([]result.File, error) {
	var files []result.File
	for _, f := range formats(docs) {
		var b bytes.Buffer
		err := p.print(&b, f)
		if errors.Is(err, errNeedsVariants) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.File, err)
		}
		files = append(files, result.File{Name: f.File, Data: b.Bytes()})
	}
	return files, nil
}

// Folders of report --dir: the plots, the tables of --plots with a row per trial, and what programs printed that made the load.
const plotsFolder, tablesFolder, outputsFolder = "plots/", "tables/", "output/"

// plotFiles are all plots of the page and the tables of --plots, with remarks about those that are missing.
func (p *printable) plotFiles(ctx context.Context, docs *documents) (files []result.File, remarks []string, err error) {
	docs.read(ctx, p.Report)
	drawn, remarks := page.DrawingsOf(p.Report, &docs.details)
	for _, d := range drawn {
		var b bytes.Buffer
		if err := d.SVG(&b); err != nil {
			return nil, nil, err
		}
		files = append(files, result.File{Name: plotsFolder + d.Name + ".svg", Data: b.Bytes()})
	}
	for _, t := range p.RequestedTables() {
		if len(t.CSV) > 0 {
			files = append(files, result.File{Name: tablesFolder + t.File + ".csv", Data: t.CSV})
		}
	}
	if words := docs.words(); words != "" {
		remarks = append(remarks, words)
	}
	return files, remarks, ctx.Err()
}

// openPage writes the page to a temporary file and opens it. The path is printed in any case: there may be no browser.
func openPage(ctx context.Context, streams genericiooptions.IOStreams, p *printable, docs *documents, name string) error {
	html, err := formatOf("html", docs)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp("", strings.ReplaceAll(name, "/", "-")+"-*-"+page.File)
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	if err := p.print(f, html); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	path := filepath.ToSlash(f.Name())
	if _, err := fmt.Fprintln(streams.Out, path); err != nil {
		return err
	}
	command := browser(runtime.GOOS, path)
	err = exec.CommandContext(ctx, command[0], command[1:]...).Run() //nolint:gosec // one of three commands, and a path of ours
	if err != nil {
		return fmt.Errorf("%s does not open the page (%w): open the file above yourself", command[0], err)
	}
	return nil
}

// browser is the command that opens a file with what the user has chosen for its kind.
func browser(system, path string) []string {
	switch system {
	case "darwin":
		return []string{"open", path}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", path}
	}
	return []string{"xdg-open", path}
}
