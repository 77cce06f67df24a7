// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package browser opens pages in Chromium for tests, and hears what it complains of.
package browser

import (
	"context"
	"fmt"
	"os"
	"slices"
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

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// browser for all tests of a package.
var browser context.Context

// Main starts the browser, runs the tests, and returns the exit code of TestMain.
func Main(ctx context.Context, m *testing.M) int {
	options := chromedp.DefaultExecAllocatorOptions[:]
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which Chromium refuses root
	}
	allocator, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	b, end := chromedp.NewContext(allocator)
	defer end()
	browser = b
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintln(os.Stderr, "starting the browser:", err)
		return 1
	}
	return m.Run()
}

// Look is how a page is looked at.
type Look struct {
	Width, Height int64
	// Scheme is light or dark.
	Scheme   string
	NoScript bool
}

// Tab with a page.
type Tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp names a tab by a context

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// Open an address.
func Open(t *testing.T, address string, how Look) *Tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	tab := &Tab{t: t, ctx: ctx}
	must.Do(t, chromedp.Listen(ctx, tab.hear))
	Must(tab, func(ctx context.Context, to *chromedp.Target) (cdp.Empty, error) {
		for _, enable := range []func() error{
			func() error { _, err := cdp.Call(ctx, to, log.Enable, cdp.Empty{}); return err },
			func() error { _, err := cdp.Call(ctx, to, network.Enable, network.EnableParams{}); return err },
			func() error { _, err := cdp.Call(ctx, to, runtime.Enable, cdp.Empty{}); return err },
		} {
			if err := enable(); err != nil {
				return cdp.Empty{}, err
			}
		}
		return cdp.Empty{}, nil
	})
	tab.Look(how)
	Must(tab, chromedp.Navigate(address))
	return tab
}

// Look at the page in another way.
func (tab *Tab) Look(how Look) {
	tab.t.Helper()
	Must(tab, func(ctx context.Context, to *chromedp.Target) (cdp.Empty, error) {
		_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: how.Scheme}},
		})
		if err != nil {
			return cdp.Empty{}, err
		}
		return cdp.Call(ctx, to, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: how.NoScript})
	})
	Must(tab, chromedp.EmulateViewport(how.Width, how.Height))
}

// Close the tab before the test ends.
func (tab *Tab) Close() {
	tab.t.Helper()
	if err := chromedp.Cancel(tab.ctx); err != nil {
		tab.t.Error(err)
	}
}

// hear what the browser has to say.
func (tab *Tab) hear(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
	case *log.EventEntryAdded:
		tab.complaints = append(tab.complaints, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventConsoleAPICalled:
		tab.complaints = append(tab.complaints, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		tab.complaints = append(tab.complaints, e.ExceptionDetails.Text)
	}
}

// Complaints of the browser so far.
func (tab *Tab) Complaints() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.complaints)
}

// Requests are the addresses that the page has asked for.
func (tab *Tab) Requests() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.requests)
}

// patience with a browser: it may share the machine with compilers.
const patience = 5 * time.Minute

// Must do something.
func Must[T any](tab *Tab, action chromedp.Action[T]) T {
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
	case <-time.After(patience):
		tab.t.Fatal("the browser does not answer")
	}
	return value
}

// Eval is the value of an expression.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	return Must(tab, chromedp.Evaluate[T](expression))
}

// Picture of what is on the screen.
func (tab *Tab) Picture() []byte {
	tab.t.Helper()
	return Must(tab, func(ctx context.Context, to *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, to, page.CaptureScreenshot, page.CaptureScreenshotParams{})
		return r.Data, err
	})
}

// PDF is the page on paper.
func (tab *Tab) PDF() []byte {
	tab.t.Helper()
	return Must(tab, func(ctx context.Context, to *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, to, page.PrintToPDF, page.PrintToPDFParams{})
		return r.Data, err
	})
}
