// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// site OUT lays the Markdown of the repository in the current folder out for mkdocs: pages and what they link to in OUT/pages,
// the configuration in OUT/mkdocs.yml. site.sh calls it, and then mkdocs.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// configuration is what mkdocs reads, without the navigation.
const configuration = "hack/site/mkdocs.yml"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site OUT")
		os.Exit(2)
	}
	if err := run(context.Background(), ".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, root, out string) error {
	names, err := markdown(ctx, root)
	if err != nil {
		return err
	}
	s, err := readSite(root, names)
	if err != nil {
		return err
	}
	if err := s.write(filepath.Join(out, "pages")); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, configuration))
	if err != nil {
		return err
	}
	nav, err := s.navigation()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "mkdocs.yml"), append(text, nav...), 0o644)
}

// markdown lists the pages of the repository, also those that are not committed yet. Those of tests are none.
func markdown(ctx context.Context, root string) ([]string, error) {
	command := exec.CommandContext(ctx, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", "*.md")
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing pages: %w", err)
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join(root, name)); err == nil && !strings.Contains(name, "testdata/") {
			names = append(names, name)
		}
	}
	return names, nil
}
