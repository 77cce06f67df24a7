//go:build page

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/benchrun-dev/benchrun/internal/testutil/browser"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Nothing leaves a page, and the browser has nothing to complain of.
func TestPageIsQuiet(t *testing.T) {
	for name, text := range pages(t) {
		for _, how := range []browser.Look{light, dark, phone} {
			tab := open(t, text, how)
			eval[bool](tab, `document.querySelectorAll('a[href^="#"]').forEach(a => a.click()) || true`)
			if complaints := tab.Complaints(); len(complaints) > 0 {
				t.Errorf("%s: %q", name, complaints)
			}
			for _, address := range tab.Requests() {
				if !strings.HasSuffix(address, "/report.html") && !strings.HasPrefix(address, "data:") {
					t.Errorf("%s asks for %s", name, address)
				}
			}
			if len(tab.Requests()) == 0 {
				t.Errorf("%s: not even the request for the page was seen", name)
			}
		}
	}
}

// The plots have what was measured.
func TestPageHasThePoints(t *testing.T) {
	all := pages(t)
	for name, want := range map[string]map[string]int{
		"sweep":      {"#values g.dot circle": 66, "#values g.median circle": 11, "#values tbody tr": 11},
		"grid":       {"#values g.dot circle": 80, "#values g.median > *": 20},
		"comparison": {"#verdicts figure:first-of-type g.ratio > *": 1 + 6, "#verdicts g.dot > *": 6 * 2 * 10, "#values g.median > *": 12, "#values g.dot circle": 120},
		"words":      {"#values g.dot circle": 12, "#further tbody tr": 2},
		"failed":     {"svg": 0},
		// Four lines of five points, and a line of five.
		"requested": {"main > section:first-of-type svg": 2, "#plots g.median > *": 25, "#plots > p": 1, "#tables tbody tr": 5, "#tables > p": 1},
	} {
		tab := open(t, all[name], light)
		for selector, n := range want {
			if got := eval[int](tab, "document.querySelectorAll('"+selector+"').length"); got != n {
				t.Errorf("%s has %d of %s, want %d", name, got, selector, n)
			}
		}
	}
}

// Powers of two are equally far apart, and everything drawn is within its plot.
func TestPageAxes(t *testing.T) {
	tab := open(t, pages(t)["sweep"], light)
	at := eval[[]float64](tab, `[...document.querySelectorAll('#values g.median circle')].map(c => c.cx.baseVal.value)`)
	for i := 2; i < len(at); i++ {
		if math.Abs((at[i]-at[i-1])-(at[1]-at[0])) > 0.3 {
			t.Errorf("medians are at %v", at)
			break
		}
	}
	for name, text := range pages(t) {
		outside := eval[[]string](open(t, text, light), `[...document.querySelectorAll('svg')].flatMap(svg => {
			const box = svg.viewBox.baseVal;
			return [...svg.querySelectorAll('circle, path')].filter(e => {
				const b = e.getBBox();
				return b.x < 0 || b.y < 0 || b.x + b.width > box.width || b.y + b.height > box.height;
			}).map(e => svg.querySelector('title').textContent + ': ' + e.outerHTML);
		})`)
		if len(outside) > 0 {
			t.Errorf("%s draws outside: %.300q", name, outside)
		}
	}
}

// Tables are sorted by keyboard: up, down, and as they were.
func TestPageSorts(t *testing.T) {
	tab := open(t, pages(t)["sweep"], light)
	column := func() string {
		return eval[string](tab, `[...document.querySelectorAll('#values tbody tr')].map(r => r.cells[0].textContent).join(' ')`)
	}
	order := func() string {
		return eval[string](tab, `[...document.querySelectorAll('#values thead th')].map(h => h.getAttribute('aria-sort') ?? '-').join(' ')`)
	}
	eval[bool](tab, `document.querySelectorAll('#values thead button')[1].focus() || true`)
	var got []string
	for range 3 {
		browser.Must(tab, chromedp.KeyEvent("\r"))
		got = append(got, column()+" "+order())
	}
	rest := strings.Repeat(" -", 7)
	want := []string{
		"1 2 4 8 16 32 64 128 256 1024 512 - ascending" + rest, "512 1024 256 128 64 32 16 8 4 2 1 - descending" + rest,
		"1 2 4 8 16 32 64 128 256 512 1024 - -" + rest,
	}
	must.Same(t, "orders", want, got)
}

// A page can be read without scripts, and on paper it has every table and what is folded away.
func TestPageOnPaper(t *testing.T) {
	for name, text := range pages(t) {
		for _, noScript := range []bool{false, true} {
			how := light
			how.NoScript = noScript
			tab := open(t, text, how)
			if buttons := eval[int](tab, `document.querySelectorAll('button').length`); noScript && buttons > 0 {
				t.Errorf("%s has %d buttons that do nothing", name, buttons)
			}
			paper := squeezed(printed(t, tab))
			for _, cell := range eval[[]string](tab, `[...document.querySelectorAll('th, td, pre, caption, .answer, .claims li')].map(e => {
				const words = e.cloneNode(true);
				words.querySelectorAll('sup').forEach(s => s.remove()); // paper has them on a line of their own
				return words.textContent;
			})`) {
				for word := range strings.FieldsSeq(cell) {
					if !strings.Contains(paper, word) {
						t.Errorf("%s (without scripts: %v): %q is not on paper", name, noScript, word)
					}
				}
			}
		}
	}
}

// On a phone nothing but tables is wider than the screen, and the answer is on the first one.
func TestPageOnPhone(t *testing.T) {
	for name, text := range pages(t) {
		tab := open(t, text, phone)
		if w := eval[int](tab, `document.documentElement.scrollWidth`); w > int(phone.Width) {
			t.Errorf("%s is %d pixels wide", name, w)
		}
		if bottom := eval[float64](tab, `document.querySelector('.answer').getBoundingClientRect().bottom`); bottom > float64(phone.Height)/2 {
			t.Errorf("%s: the answer ends at %v", name, bottom)
		}
		if small := eval[float64](tab, `Math.min(99, ...[...document.querySelectorAll('svg text')].map(e =>
			parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width))`); small < 8 {
			t.Errorf("%s has text of %.1f pixels in a plot", name, small)
		}
	}
}

// contrast of the text with its ground, by the definition of WCAG 2: for all elements that have text of their own.
const contrast = `(() => {
	const rgb = c => c.match(/[\d.]+/g).map(Number);
	const light = c => { const [r, g, b] = rgb(c).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c; } };
	return [...document.querySelectorAll('main *')].filter(e => e.checkVisibility() && e.tagName !== 'title' && e.tagName !== 'desc' &&
		[...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(e => {
		const style = getComputedStyle(e);
		const [a, b] = [light(e.closest('svg') ? style.fill : style.color), light(ground(e))].sort((x, y) => y - x);
		return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 80)];
	}).filter(([c]) => c < 4.5).map(([c, e]) => c.toFixed(2) + ' ' + e);
})()`

// Everybody can read a page: enough contrast, names for pictures and tables, headers with a scope.
func TestPageIsAccessible(t *testing.T) {
	for name, text := range pages(t) {
		for _, how := range []browser.Look{light, dark} {
			tab := open(t, text, how)
			for what, expression := range map[string]string{
				"too little contrast":     contrast,
				"a picture without words": `[...document.querySelectorAll('svg')].filter(e => e.getAttribute('role') !== 'img' || !e.getAttribute('aria-label') || !e.querySelector('title')).map(e => e.outerHTML)`,
				"a table without a name":  `[...document.querySelectorAll('table')].filter(e => !e.caption?.textContent).map(e => e.outerHTML)`,
				"a header of nothing":     `[...document.querySelectorAll('th')].filter(e => !e.scope).map(e => e.outerHTML)`,
				"an id twice":             `[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)`,
				"a skipped heading":       `[...document.querySelectorAll('h1, h2, h3')].filter((e, i, all) => i && e.tagName[1] - all[i-1].tagName[1] > 1).map(e => e.textContent)`,
			} {
				if found := eval[[]string](tab, expression); len(found) > 0 {
					t.Errorf("%s, %s: %s: %.400q", name, how.Scheme, what, found)
				}
			}
		}
	}
}

var images = flag.String("images", "", "write pictures of the pages into this folder")

// measured is the page of a comparison that make publications has measured.
const measured = "../../docs/publications/001-innodb-bulk-insert/bulk-insert-small/report.html"

// Pictures are small enough for the documentation.
func TestPagePictures(t *testing.T) {
	all := pages(t)
	all["measured"] = must.Get(os.ReadFile(measured))(t)
	wide := browser.Look{Width: 1100, Height: 900, Scheme: "light"}
	tall := phone
	tall.Height = 1400
	for name, c := range map[string]struct {
		page string
		how  browser.Look
	}{
		"report-run-light.png": {"sweep", light}, "report-run-dark.png": {"sweep", dark}, "report-run-phone.png": {"sweep", tall},
		"report-comparison-light.png": {"comparison", light}, "report-publication-001.png": {"measured", wide},
	} {
		picture := open(t, all[c.page], c.how).Picture()
		const most = 300 << 10
		if len(picture) < 10<<10 || len(picture) > most {
			t.Errorf("%s has %d bytes", name, len(picture))
		}
		if *images == "" {
			continue
		}
		must.Do(t, os.WriteFile(filepath.Join(*images, name), picture, 0o600))
	}
}
