//go:build site

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package site

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/browser"
)

// visit is what a page has.
type visit struct {
	// Links are the addresses that it leads to, or is made of.
	Links []string `json:"links"`
	IDs   []string `json:"ids"`
	// Blank are pictures that do not show.
	Blank []string `json:"blank"`
	// Raw are texts that look like Markdown which was not understood.
	Raw []string `json:"raw"`
	// Site: it is made by mkdocs, and no report.
	Site bool `json:"site"`
}

const look = `({
	links: [...document.querySelectorAll('[href], [src]')].map(e => e.href?.baseVal ?? e.href ?? e.src).filter(a => a),
	ids: [...document.querySelectorAll('[id]')].map(e => e.id),
	blank: [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src),
	raw: [...document.querySelectorAll('article p, article li, article td')].filter(e => {
		const words = e.cloneNode(true);
		words.querySelectorAll('code, pre, ul, ol').forEach(c => c.remove());
		return /\n\s*([-*+]|\d\d?\.) |\|\s*:?-{3}|\*\*|\]\(|` + "```" + `/.test(words.textContent);
	}).map(e => e.textContent.slice(0, 120)),
	site: document.querySelector('meta[name=generator]')?.content.includes('mkdocs') ?? false,
})`

// unreadable are elements of the text with too little contrast, by the definition of WCAG 2, without the colours of code.
const unreadable = `(() => {
	const rgb = c => c.match(/[\d.]+/g).map(Number);
	const light = c => { const [r, g, b] = rgb(c).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if ((rgb(c)[3] ?? 1) > 0.5) return c; } return 'rgb(255, 255, 255)'; };
	return [...document.querySelectorAll('article :is(h1, h2, h3, p, li, td, th)')].filter(e => e.checkVisibility()).map(e => {
		const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
		return [(a + 0.05) / (b + 0.05), e.textContent.slice(0, 60)];
	}).filter(([c]) => c < 4.5).map(([c, e]) => c.toFixed(2) + ' ' + e);
})()`

// tour of all pages that can be reached from the first one.
type tour struct {
	t    *testing.T
	home string
	// pages by their addresses without fragments, and files that are there.
	pages map[string]visit
	files map[string]bool
}

// Every link of every page leads somewhere, to the heading that it names. No page makes the browser complain, asks another host for
// anything, is wider than a phone, or cannot be read in the dark.
func TestSiteTour(t *testing.T) {
	tour := &tour{t: t, home: serve(t), pages: map[string]visit{}, files: map[string]bool{}}
	links := 0
	for queue := []string{tour.home}; len(queue) > 0; queue = queue[1:] {
		if _, seen := tour.pages[queue[0]]; seen {
			continue
		}
		page := tour.visit(queue[0])
		for _, to := range page.Links {
			if address := without(to); tour.internal(to) && tour.isPage(address) {
				queue = append(queue, address)
			}
		}
	}
	for from, page := range tour.pages {
		for _, to := range page.Links {
			if tour.internal(to) {
				links++
				tour.check(from, to)
			}
		}
	}
	if len(tour.pages) < 70 || links < 3000 {
		t.Errorf("%d pages with %d links were seen", len(tour.pages), links)
	}
	t.Logf("%d pages, %d internal links, %d files", len(tour.pages), links, len(tour.files))
}

// visit a page: as on a screen, on a phone, and in the dark.
func (tour *tour) visit(address string) visit {
	tour.t.Helper()
	name := strings.TrimPrefix(address, tour.home)
	if !tour.exists(address) { // which is said of the page that links to it
		tour.pages[address] = visit{}
		return visit{}
	}
	tab := browser.Open(tour.t, address, light)
	defer tab.Close()
	page := browser.Eval[visit](tab, look)
	tour.pages[address] = page
	if len(page.Blank) > 0 {
		tour.t.Errorf("%s does not show %q", name, page.Blank)
	}
	if len(page.Raw) > 0 && page.Site {
		tour.t.Errorf("%s has Markdown in its text: %q", name, page.Raw)
	}
	if page.Site {
		tour.likeThis(name, tab)
	}
	if complaints := tab.Complaints(); len(complaints) > 0 {
		tour.t.Errorf("%s: the browser complains: %q", name, complaints)
	}
	for _, request := range tab.Requests() {
		if !tour.internal(request) && !strings.HasPrefix(request, "data:") {
			tour.t.Errorf("%s asks for %s", name, request)
		}
	}
	return page
}

// likeThis looks at a page of the site on a phone and in the dark. Reports have tests of their own, in test/page.
func (tour *tour) likeThis(name string, tab *browser.Tab) {
	tour.t.Helper()
	tab.Look(phone)
	if width := browser.Eval[int](tab, `document.documentElement.scrollWidth`); width > int(phone.Width) {
		tour.t.Errorf("%s is %d pixels wide on a phone", name, width)
	}
	tab.Look(dark)
	// The page hears of the change in its own time.
	const inTheDark = `document.body.getAttribute('data-md-color-scheme') === 'slate'`
	if !eventually(tour.t, func() bool { return browser.Eval[bool](tab, inTheDark) }) {
		tour.t.Errorf("%s stays light in the dark", name)
	}
	if texts := browser.Eval[[]string](tab, unreadable); len(texts) > 0 {
		tour.t.Errorf("%s has too little contrast in the dark: %.300q", name, texts)
	}
}

// check that a link leads to a page with that heading, or to a file.
func (tour *tour) check(from, to string) {
	tour.t.Helper()
	name, address := strings.TrimPrefix(from, tour.home), without(to)
	if !tour.exists(address) {
		tour.t.Errorf("%s: the link to %s is broken", name, strings.TrimPrefix(to, tour.home))
		return
	}
	if !tour.isPage(address) {
		return
	}
	_, fragment, _ := strings.Cut(to, "#")
	fragment, err := url.PathUnescape(fragment)
	if err != nil || fragment != "" && !slices.Contains(tour.pages[address].IDs, fragment) {
		tour.t.Errorf("%s: the page of the link to %s has no such heading", name, strings.TrimPrefix(to, tour.home))
	}
}

// exists says whether the server has a file.
func (tour *tour) exists(address string) bool {
	tour.t.Helper()
	found, known := tour.files[address]
	if !known {
		response, err := http.Head(address)
		if err != nil {
			tour.t.Fatal(err)
		}
		response.Body.Close()
		found = response.StatusCode == http.StatusOK
		tour.files[address] = found
	}
	return found
}

// isPage says whether an address is that of a page, by its name.
func (tour *tour) isPage(address string) bool {
	return strings.HasSuffix(address, "/") || path.Ext(address) == ".html"
}

func (tour *tour) internal(address string) bool { return strings.HasPrefix(address, tour.home) }

// without is an address without its fragment. The page of a folder has the folder's address.
func without(address string) string {
	address, _, _ = strings.Cut(address, "#")
	if path.Base(address) == "index.html" {
		address = strings.TrimSuffix(address, "index.html")
	}
	return address
}
