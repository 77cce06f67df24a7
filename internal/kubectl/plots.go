// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Folders of report --dir: the plots, and the tables of --plots with a row for each trial.
const plotsFolder, tablesFolder = "plots/", "tables/"

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
