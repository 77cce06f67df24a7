// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"io"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/report"
)

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
