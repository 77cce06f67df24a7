//go:build page

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page opens the report pages in a real browser.
package page

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	reportpage "github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
	"github.com/benchrun-dev/benchrun/internal/testutil/browser"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(context.Background(), m)) }

// pages of every kind.
func pages(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for name, c := range map[string]pagetest.Case{
		"sweep": pagetest.CommitSize(), "grid": pagetest.Grid(), "words": pagetest.Words(), "milestones": pagetest.IIBench(),
		"failed": pagetest.Failed(), "single": pagetest.Single(), "requested": pagetest.Requested(),
	} {
		var b bytes.Buffer
		must.Do(t, reportpage.Write(&b, c.Report, c.Details))
		all[name] = b.Bytes()
	}
	const variants, points = 14, 33 // as many as people publish of the microbenchmarks
	for name, c := range map[string]pagetest.Case{
		"comparison": pagetest.Comparison(), "matrix": pagetest.Versions(variants, points),
	} {
		var b bytes.Buffer
		must.Do(t, reportpage.Write(&b, c.Report, c.Details))
		all[name] = b.Bytes()
	}
	return all
}

var (
	light = browser.Look{Width: 1100, Height: 1400, Scheme: "light"}
	dark  = browser.Look{Width: 1100, Height: 1400, Scheme: "dark"}
	phone = browser.Look{Width: 390, Height: 844, Scheme: "light"}
)

// open a page.
func open(t *testing.T, text []byte, how browser.Look) *browser.Tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	must.Do(t, os.WriteFile(file, text, 0o600))
	return browser.Open(t, "file://"+file, how)
}

// eval is the value of an expression.
func eval[T any](tab *browser.Tab, expression string) T { return browser.Eval[T](tab, expression) }

// printed is the text of a page on paper.
func printed(t *testing.T, tab *browser.Tab) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.pdf")
	must.Do(t, os.WriteFile(file, tab.PDF(), 0o600))
	text, err := exec.CommandContext(t.Context(), "pdftotext", "-layout", file, "-").Output()
	if err != nil {
		t.Fatal("pdftotext: ", err)
	}
	return string(text)
}

// squeezed is text without its spaces: where lines break is not of interest.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }
