//go:build page

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page opens the report pages in a real browser.
package page

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	reportpage "github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/report/page/pagetest"
)

// browser for all tests.
var browser context.Context

func TestMain(m *testing.M) {
	options := chromedp.DefaultExecAllocatorOptions[:]
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which Chromium refuses root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	b, end := chromedp.NewContext(allocator)
	browser = b
	code := 1
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintln(os.Stderr, "starting the browser:", err)
	} else {
		code = m.Run()
	}
	end()
	stop()
	os.Exit(code)
}

// pages of every kind.
func pages(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for name, c := range map[string]pagetest.Case{
		"sweep": pagetest.CommitSize(), "grid": pagetest.Grid(), "words": pagetest.Words(), "milestones": pagetest.IIBench(),
		"failed": pagetest.Failed(), "single": pagetest.Single(), "requested": pagetest.Requested(),
	} {
		var b bytes.Buffer
		if err := reportpage.Run(&b, c.Report, c.Details); err != nil {
			t.Fatal(err)
		}
		all[name] = b.Bytes()
	}
	const variants, points = 14, 33 // as many as people publish of the microbenchmarks
	for name, c := range map[string]pagetest.ComparisonCase{
		"comparison": pagetest.Comparison(), "matrix": pagetest.Versions(variants, points),
	} {
		var b bytes.Buffer
		if err := reportpage.Comparison(&b, c.Comparison, c.Details); err != nil {
			t.Fatal(err)
		}
		all[name] = b.Bytes()
	}
	return all
}

// tab with a page.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp names a tab by a context
	// complaints of the browser, and addresses that it asked for.
	mu         sync.Mutex
	complaints []string
	requests   []string
}

// look is how a page is looked at.
type look struct {
	width, height int64
	scheme        string
	noScript      bool
}

var (
	light = look{width: 1100, height: 1400, scheme: "light"}
	dark  = look{width: 1100, height: 1400, scheme: "dark"}
	phone = look{width: 390, height: 844, scheme: "light"}
)

// open a page.
func open(t *testing.T, text []byte, how look) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	tab := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, tab.hear); err != nil {
		t.Fatal(err)
	}
	must(tab, func(ctx context.Context, to *chromedp.Target) (cdp.Empty, error) {
		for _, enable := range []func() error{
			func() error { _, err := cdp.Call(ctx, to, log.Enable, cdp.Empty{}); return err },
			func() error { _, err := cdp.Call(ctx, to, network.Enable, network.EnableParams{}); return err },
			func() error { _, err := cdp.Call(ctx, to, runtime.Enable, cdp.Empty{}); return err },
			func() error {
				_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: how.scheme}},
				})
				return err
			},
			func() error {
				_, err := cdp.Call(ctx, to, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: how.noScript})
				return err
			},
		} {
			if err := enable(); err != nil {
				return cdp.Empty{}, err
			}
		}
		return cdp.Empty{}, nil
	})
	must(tab, chromedp.EmulateViewport(how.width, how.height))
	must(tab, chromedp.Navigate("file://"+file))
	return tab
}

// hear what the browser has to say.
func (tab *tab) hear(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
	case *log.EventEntryAdded:
		tab.complaints = append(tab.complaints, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
	case *runtime.EventConsoleAPICalled:
		tab.complaints = append(tab.complaints, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		tab.complaints = append(tab.complaints, e.ExceptionDetails.Text)
	}
}

// must do something within half a minute.
func must[T any](tab *tab, action chromedp.Action[T]) T {
	tab.t.Helper()
	// The first action of a tab makes the tab, which must not end with the time of the action.
	result := make(chan error, 1)
	var value T
	go func() {
		var err error
		value, err = chromedp.Run(tab.ctx, action)
		result <- err
	}()
	select {
	case err := <-result:
		if err != nil {
			tab.t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		tab.t.Fatal("the browser does not answer")
	}
	return value
}

// eval is the value of an expression.
func eval[T any](tab *tab, expression string) T {
	tab.t.Helper()
	return must(tab, chromedp.Evaluate[T](expression))
}

// printed is the text of the page on paper.
func (tab *tab) printed() string {
	tab.t.Helper()
	file := filepath.Join(tab.t.TempDir(), "report.pdf")
	pdf := must(tab, func(ctx context.Context, to *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, to, page.PrintToPDF, page.PrintToPDFParams{})
		return r.Data, err
	})
	if err := os.WriteFile(file, pdf, 0o600); err != nil {
		tab.t.Fatal(err)
	}
	text, err := exec.CommandContext(tab.t.Context(), "pdftotext", "-layout", file, "-").Output()
	if err != nil {
		tab.t.Fatal("pdftotext: ", err)
	}
	return string(text)
}

// picture of what is on the screen.
func (tab *tab) picture() []byte {
	return must(tab, func(ctx context.Context, to *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, to, page.CaptureScreenshot, page.CaptureScreenshotParams{})
		return r.Data, err
	})
}

// squeezed is text without its spaces: where lines break is not of interest.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }
