// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/report/page"
)

// openPage writes the page to a temporary file and opens it. The path is printed in any case: there may be no browser.
func openPage(ctx context.Context, streams genericiooptions.IOStreams, p *printable, name string) error {
	html, err := formatOf("html")
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
