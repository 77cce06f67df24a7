// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command publications makes docs/publications.md, and a page for each publication, from what publications.sh has measured:
//
//	write          writes the pages
//	digest FILE    prints the digest of what a file asks for, without its comments
//
// It runs in the folder of the repository. What was measured it reads from results.json and measured.json, never from texts for
// people.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "publications:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, arguments []string) error {
	switch {
	case len(arguments) == 1 && arguments[0] == "write":
		list, err := load(ctx, ".")
		if err != nil {
			return err
		}
		all, err := pages(list)
		if err != nil {
			return err
		}
		for path, text := range all {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return err
			}
		}
		return nil
	case len(arguments) == 2 && arguments[0] == "digest":
		text, err := os.ReadFile(arguments[1])
		if err != nil {
			return err
		}
		digest, err := digestOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", arguments[1], err)
		}
		_, err = fmt.Fprintln(out, digest)
		return err
	}
	return errors.New("usage: publications write | publications digest FILE")
}
