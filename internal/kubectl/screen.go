// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/report"
)

// screen shows how a run goes on.
type screen interface {
	// show what is new.
	show(m *snapshot, now time.Time)
	// note says something once.
	note(words string)
	// clear what does not stay.
	clear()
	// end says how it ended.
	end(m *snapshot) error
}

// terminalOf is the terminal that an output is, if it is one.
func terminalOf(out io.Writer) (*os.File, bool) {
	file, isFile := raw(out).(*os.File)
	return file, isFile && term.IsTerminal(int(file.Fd()))
}

// newScreen is a live display on a terminal, and lines elsewhere.
func newScreen(streams genericiooptions.IOStreams) screen {
	if file, is := terminalOf(streams.Out); is {
		return &terminal{plain: plain{out: streams.Out, errors: streams.ErrOut}, canvas: file, width: func() int {
			width, _, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return defaultWidth
			}
			return width
		}}
	}
	return &plain{out: streams.Out, errors: streams.ErrOut}
}

// defaultWidth of a terminal that does not say how wide it is.
const defaultWidth = 80

// settled is how long a state lasts before it is a line of its own: the steps of a round that pass by in a moment are no news.
const settled = 10 * time.Second

// plain writes a line when more has been measured or another phase begins, and for what is done or waited for if that lasts.
type plain struct {
	out, errors io.Writer
	// state is what was seen last, since when; said is the line that was written last, and progress what it said of how far it was.
	state, said, progress, soFar string
	since                        time.Time
}

func (p *plain) show(m *snapshot, now time.Time) {
	state, progress := m.state(), m.progress()
	if state != p.state {
		p.state, p.since = state, now
	}
	if progress != p.progress || state != p.said && now.Sub(p.since) >= settled {
		p.said, p.progress = state, progress
		say(p.out, m.run.Name+": "+state)
	}
	if m.soFar != "" && m.soFar != p.soFar {
		p.soFar = m.soFar
		say(p.out, m.run.Name+": so far: "+m.soFar)
	}
}

func (p *plain) note(words string) { say(p.errors, words) }

func (p *plain) clear() {}

func (p *plain) end(m *snapshot) error {
	words, err := m.end()
	if words != "" {
		say(p.out, words)
		say(p.out, "kubectl benchrun report "+m.run.Name+" prints the report.")
	}
	return err
}

func say(w io.Writer, line string) {
	fmt.Fprintln(w, line) //nolint:errcheck // a terminal that is gone is no reason to stop watching
}

// terminal shows a few lines, which are written over again and again.
type terminal struct {
	plain
	// canvas is the output, on which the lines are written over.
	canvas io.Writer
	width  func() int
	// drawn is how many lines there are.
	drawn int
}

const (
	// upAndClear goes to the line above and empties it; toStartAndClear empties the current line.
	upAndClear      = "\x1b[1A\x1b[2K"
	toStartAndClear = "\r\x1b[2K"
	// barWidth is how long a bar is, in columns.
	barWidth = 24
)

func (t *terminal) show(m *snapshot, now time.Time) {
	t.clear()
	lines := live(m, now)
	for i, line := range lines {
		lines[i] = cut(report.OneLine(line), t.width()-1)
	}
	fmt.Fprintln(t.canvas, strings.Join(lines, "\n")) //nolint:errcheck // see say
	t.drawn = len(lines)
}

func (t *terminal) note(words string) {
	t.clear()
	t.plain.note(words)
}

func (t *terminal) clear() {
	fmt.Fprint(t.canvas, toStartAndClear+strings.Repeat(upAndClear, t.drawn)) //nolint:errcheck // see say
	t.drawn = 0
}

// live is what a terminal shows: how far it is and how much longer it takes; what it does or waits for; and the answers about
// variants so far.
func live(m *snapshot, now time.Time) []string {
	ready := m.ready()
	first, words := []string{m.run.Name + "  " + ready.Reason}, []string{ready.Message}
	if m.planned > 0 {
		first = append(first, fmt.Sprintf("%s %d/%d %s", bar(m.done, m.planned), m.done, m.planned, m.unit))
	}
	if left := m.left(now); left != "" {
		first = append(first, left)
	}
	if m.pace != "" {
		words = append(words, m.pace)
	}
	lines := []string{strings.Join(first, "  "), "  " + strings.Join(words, " · ")}
	if m.soFar != "" {
		lines = append(lines, "  so far: "+m.soFar)
	}
	return lines
}

// bar is drawn in half columns.
func bar(done, planned int) string {
	halves := 2 * barWidth * min(done, planned) / planned
	full := strings.Repeat("━", halves/2)
	if halves%2 == 1 {
		full += "╸"
	}
	return full + strings.Repeat("─", barWidth-utf8.RuneCountInString(full))
}

// cut a line to that many columns.
func cut(line string, columns int) string {
	runes := []rune(line)
	if columns < 1 || len(runes) <= columns {
		return line
	}
	return string(runes[:columns-1]) + "…"
}

// safeWriter shows texts from a cluster, a file or a bundle as texts: what a terminal would obey is replaced. A line that
// returns to its beginning goes on in a new line, so that nothing hides what was before.
type safeWriter struct {
	to io.Writer
	// part of a character that the last write ended with; returned says that it ended with a carriage return.
	part     []byte
	returned bool
}

// safe are streams whose outputs are safe to show.
func safe(streams genericiooptions.IOStreams) genericiooptions.IOStreams {
	for _, out := range []*io.Writer{&streams.Out, &streams.ErrOut} {
		if _, already := (*out).(*safeWriter); !already {
			*out = &safeWriter{to: *out}
		}
	}
	return streams
}

// raw is the output below, for what is no text, and for what moves the cursor on purpose.
func raw(out io.Writer) io.Writer {
	if w, is := out.(*safeWriter); is {
		return w.to
	}
	return out
}

func (w *safeWriter) Write(text []byte) (int, error) {
	rest := append(w.part, text...) //nolint:gocritic // what remains of it is kept in the end
	shown := make([]byte, 0, len(rest))
	for len(rest) > 0 && utf8.FullRune(rest) {
		c, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch {
		case c == '\n' && w.returned: // the line is ended already
		case c == '\r':
			shown = append(shown, '\n')
		case report.Command(c):
			shown = utf8.AppendRune(shown, utf8.RuneError)
		default:
			shown = utf8.AppendRune(shown, c)
		}
		w.returned = c == '\r'
	}
	w.part = append([]byte(nil), rest...)
	if _, err := w.to.Write(shown); err != nil {
		return 0, err
	}
	return len(text), nil
}
