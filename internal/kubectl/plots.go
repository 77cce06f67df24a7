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
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/report/plot"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Folders of report --dir: the plots, and the tables of --plots with a row for each trial.
const plotsFolder, tablesFolder = "plots/", "tables/"

// picture is a format of plots: what -o takes, which is also the ending of the file.
type picture struct {
	name   string
	write  func(*plot.Plot, io.Writer) error
	binary bool
}

func pictures() []picture {
	return []picture{{"svg", (*plot.Plot).SVG, false}, {"png", (*plot.Plot).PNG, true}}
}

// pictureOf is the value of -o; nil if it is no format of plots.
func pictureOf(name string) *picture {
	for _, p := range pictures() {
		if p.name == name {
			return &p
		}
	}
	return nil
}

// forTerminal says why a picture is not written to a terminal, if out is one.
func (p *picture) forTerminal(out io.Writer) error {
	if _, is := terminalOf(out); is && p.binary {
		return fmt.Errorf("-o %[1]s is binary, and the output is a terminal: write it to a file, for example with >plot.%[1]s",
			p.name)
	}
	return nil
}

// plot with that name; an empty name is that of the headline. Documents are read only if the results do not have the plot.
func (p *printable) plot(ctx context.Context, docs *documents, name string) (*plot.Plot, error) {
	drawn, missing := page.DrawingsOf(p.Report, &docs.details), "there is no plot of the headline"
	of := drawn.Headline
	if name != "" {
		of, missing = drawn.Named(name), fmt.Sprintf("there is no plot %q", name)
		if of == nil {
			docs.read(ctx, p.Report)
			drawn = page.DrawingsOf(p.Report, &docs.details)
			of = drawn.Named(name)
		}
	}
	if of == nil {
		return nil, noPlot(drawn, missing)
	}
	return of, nil
}

// noPlot says what is missing, and which plots there are.
func noPlot(drawn *page.Drawings, words string) error {
	var names []string
	for _, d := range drawn.All {
		names = append(names, d.Name)
	}
	if len(names) == 0 {
		return errors.New(words + ": too little was measured to plot anything")
	}
	return fmt.Errorf("%s; --plot takes one of %s", words, strings.Join(names, ", "))
}

// printPlot writes a plot to the output, and to the errors what it lacks.
func printPlot(
	ctx context.Context, streams genericiooptions.IOStreams, p *printable, docs *documents, name string, as *picture,
) error {
	of, err := p.plot(ctx, docs, name)
	if words := docs.words(); words != "" {
		say(streams.ErrOut, words)
	}
	if err != nil {
		return err
	}
	return as.write(of, raw(streams.Out))
}

// plotFiles are all plots of the page in each format and the tables of --plots, with remarks about those that are missing.
func (p *printable) plotFiles(ctx context.Context, docs *documents) (files []result.File, remarks []string, err error) {
	docs.read(ctx, p.Report)
	drawn := page.DrawingsOf(p.Report, &docs.details)
	for _, d := range drawn.All {
		for _, as := range pictures() {
			var b bytes.Buffer
			if err := as.write(d.Plot, &b); err != nil {
				return nil, nil, err
			}
			files = append(files, result.File{Name: plotsFolder + d.Name + "." + as.name, Data: b.Bytes()})
		}
	}
	for _, t := range p.RequestedTables() {
		if len(t.CSV) > 0 {
			files = append(files, result.File{Name: tablesFolder + t.Name + ".csv", Data: t.CSV})
		}
	}
	remarks = drawn.Remarks
	if words := docs.words(); words != "" {
		remarks = append(remarks, words)
	}
	return files, remarks, ctx.Err()
}

// outputsFolder has in a folder of report --dir what programs printed that made the load.
const outputsFolder = "output/"

// outputs are files with what programs printed that made the load: one for each attempt that had such a program.
type outputs struct{ files []result.File }

// add the document of an attempt. It does nothing if outputs are not wanted.
func (o *outputs) add(attempt string, d *result.Document) {
	if o == nil || len(d.ToolOutput) == 0 {
		return
	}
	var b bytes.Buffer
	printToolOutput(d, &b)
	o.files = append(o.files, result.File{Name: outputsFolder + attempt + ".txt", Data: bytes.TrimLeft(b.Bytes(), "\n")})
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
