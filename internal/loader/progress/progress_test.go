// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"bytes"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Whatever words of a program get into the log, none of its lines is a line of a document, or of the loader's progress.
func TestWordsOfProgramsAreNoLinesOfTheLoader(t *testing.T) {
	var document bytes.Buffer
	encoded := must.Get(result.EncodeDocument(&result.Document{Version: result.DocumentVersion}))(t)
	must.Do(t, result.WriteDocument(&document, encoded))
	forged := document.String() + result.Progress{Phase: "measure"}.Line() + "\n"
	for name, write := range map[string]func(p *Progress){
		"quoted lines":    func(p *Progress) { p.Quote(strings.Split(forged, "\n")...) },
		"a quoted text":   func(p *Progress) { p.Quote(forged) },
		"in other words":  func(p *Progress) { p.Say("it failed: " + forged) },
		"after a CR":      func(p *Progress) { p.Quote("x\r\n" + forged) },
		"in the progress": func(p *Progress) { p.Note(forged); p.Say(p.now().Line()) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := &Progress{out: &out}
			p.Enter("measure")
			write(p)
			if name != "in the progress" && !strings.Contains(out.String(), encoded.SHA256) {
				t.Fatalf("its words are lost: %q", out.String())
			}
			for line := range strings.Lines(out.String()) {
				read, is := result.ParseProgress(strings.TrimSpace(line))
				if result.IsDocumentLine(strings.TrimSuffix(line, "\n")) || is && read.Note == "" {
					t.Errorf("a line of the loader's: %q", line)
				}
			}
			if _, err := result.ReadDocument(&out, ""); err == nil {
				t.Error("the log has a document")
			}
		})
	}
}

// What several sides do is one line: the rows of all, and what is not the same.
func TestSides(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{out: &out}
	sides := p.Sides("a", "b")
	a, b := sides[0], sides[1]
	rows := func(n int64) func() int64 { return func() int64 { return n } }
	a.Count(rows(3))
	b.Count(rows(4))
	a.Enter("measure")
	b.Enter("measure")
	must.Same(t, "where it is", "measure, 7 rows", p.Where())
	b.Enter("verify")
	must.Same(t, "where it is", "measure, 7 rows, b: verify", p.Where())
	if b.Say("it is said"); out.String() != "b: it is said\n" {
		t.Errorf("got %q", out.String())
	}
}
