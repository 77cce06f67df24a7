//go:build site

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package site opens the documentation's web site in a real browser. hack/test.sh makes the site.
package site

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/benchrun-dev/benchrun/internal/testutil/browser"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// folder with the site.
const folder = "../../bin/site"

var (
	light = browser.Look{Width: 1280, Height: 800, Scheme: "light"}
	dark  = browser.Look{Width: 1280, Height: 800, Scheme: "dark"}
	phone = browser.Look{Width: 390, Height: 844, Scheme: "light"}
)

func TestMain(m *testing.M) { os.Exit(browser.Main(context.Background(), m)) }

// serve the site, and return its address, which ends with a slash.
func serve(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(folder + "/index.html"); err != nil {
		t.Fatalf("%v: make site", err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// eventually says whether something becomes true within 20 seconds.
func eventually(t *testing.T, is func() bool) bool {
	t.Helper()
	return wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		return is(), nil
	}) == nil
}

// A search finds the page that a word stands on.
func TestSiteSearch(t *testing.T) {
	home := serve(t)
	tab := browser.Open(t, home, light)
	browser.Eval[bool](tab, `(document.querySelector('input[data-md-component="search-query"]').focus(), true)`)
	browser.Must(tab, chromedp.KeyEvent("Tsiatis"))
	const found = `[...document.querySelectorAll('.md-search-result__link')].map(a => a.href)`
	var results []string
	if !eventually(t, func() bool {
		results = browser.Eval[[]string](tab, found)
		return strings.Contains(strings.Join(results, "\n"), home+"docs/statistics.html")
	}) {
		t.Errorf("the search for Tsiatis finds %q", results)
	}
	if complaints := tab.Complaints(); len(complaints) > 0 {
		t.Errorf("%q", complaints)
	}
}

// The sections of the navigation are those of the page of contents, with its pages.
func TestSiteSections(t *testing.T) {
	tab := browser.Open(t, serve(t)+"docs/concepts.html", light)
	const sections = `[...document.querySelectorAll('.md-sidebar--primary .md-nav__item--section')].map(
		s => s.querySelector(':scope > label, :scope > .md-nav__link').textContent.trim() + ': ' + s.querySelectorAll('a[href]').length)`
	got := strings.Join(browser.Eval[[]string](tab, sections), "\n")
	for _, name := range []string{"Start here", "Tutorials", "How-to guides", "Reference", "Troubleshooting", "Design", "Project"} {
		if !strings.Contains(got, name+": ") || strings.Contains(got, name+": 0") {
			t.Errorf("the navigation has no section %s with pages:\n%s", name, got)
		}
	}
	const inNavigation = `[...document.querySelectorAll('.md-sidebar--primary a[href]')].map(a => a.href)`
	links := strings.Join(browser.Eval[[]string](tab, inNavigation), "\n") + "\n"
	for _, page := range []string{
		"publications.html", "publications/000-file-list-inserts/index.html", "publications/004-commit-size/index.html",
		"reference/workloads/index.html", "reference/workloads/custom.html", "decisions/0010-findings-are-values.html",
	} {
		if !strings.Contains(links, "/docs/"+page+"\n") {
			t.Errorf("the navigation does not lead to %s", page)
		}
	}
	active := browser.Eval[string](tab, `document.querySelector('.md-sidebar--primary a.md-nav__link--active')?.textContent.trim() ?? ''`)
	must.Same(t, "the page of concepts is shown as", "Concepts", active)
}

// A reader chooses the colours, and the choice stays on the next page.
func TestSiteDarkByHand(t *testing.T) {
	home := serve(t)
	tab := browser.Open(t, home, light)
	const scheme = `document.body.getAttribute('data-md-color-scheme')`
	must.Same(t, "in the light, the scheme is", "default", browser.Eval[string](tab, scheme))
	browser.Eval[bool](tab, `(document.querySelector('#__palette_2').click(), true)`)
	must.Same(t, "after the choice, the scheme is", "slate", browser.Eval[string](tab, scheme))
	browser.Must(tab, chromedp.Navigate(home+"docs/alternatives.html"))
	must.Same(t, "on the next page, the scheme is", "slate", browser.Eval[string](tab, scheme))
}

var picture = flag.String("picture", "", "write a picture of the first screen into this file")

// The first screen of the README shows what Benchrun is, a question and its answer, in letters that can be read.
func TestSiteFirstScreen(t *testing.T) {
	tab := browser.Open(t, serve(t), light)
	const parts = `Object.fromEntries(Object.entries({
		name: 'article h1', sentence: 'article h1 ~ p', question: 'article .highlight', answer: 'article .highlight ~ .highlight',
	}).map(([name, selector]) => [name, (e => [
		e.getBoundingClientRect().top, e.getBoundingClientRect().bottom, parseFloat(getComputedStyle(e.querySelector('code') ?? e).fontSize),
		Math.max(...[e, ...e.querySelectorAll('pre, code')].map(c => c.scrollWidth - c.clientWidth)), e.textContent.length,
	])(document.querySelector(selector))]))`
	for name, at := range browser.Eval[map[string][]float64](tab, parts) {
		top, bottom, letters, hidden, length := at[0], at[1], at[2], at[3], at[4]
		if top < 0 || bottom > float64(light.Height) || letters < 11 || hidden > 0 || length < 5 {
			t.Errorf("%s is from %.0f to %.0f, in letters of %.1f pixels; %.0f are hidden, %.0f characters", name, top, bottom, letters, hidden, length)
		}
	}
	if *picture != "" {
		must.Do(t, os.WriteFile(*picture, tab.Picture(), 0o600))
	}
}
