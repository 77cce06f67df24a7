// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// pieces reads a text in pieces of so many lines, into a buffer of so many bytes.
func pieces(t *testing.T, src io.Reader, lines int64, buffer int) (parts []string, passed, bytes int64, err error) {
	t.Helper()
	l := newLines(src, func(n, b int64) { passed += n; bytes += b })
	for more := true; more; more = l.more() {
		l.want(lines)
		var part []byte
		p := make([]byte, buffer)
		for {
			n, err := l.Read(p)
			part = append(part, p[:n]...)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return parts, passed, bytes, l.err
			}
		}
		parts = append(parts, string(part))
	}
	return parts, passed, bytes, l.err
}

func TestLinesComeInPieces(t *testing.T) {
	long := strings.Repeat("x", 3*lineBuffer) + "\n"
	for name, tc := range map[string]struct {
		text  string
		lines int64
		want  []string
	}{
		"one by one":                  {"a\nbb\nccc\n", 1, []string{"a\n", "bb\n", "ccc\n"}},
		"some left":                   {"a\nbb\nccc\n", 2, []string{"a\nbb\n", "ccc\n"}},
		"exactly all":                 {"a\nbb\nccc\n", 3, []string{"a\nbb\nccc\n"}},
		"all":                         {"a\nbb\nccc\n", 1 << 62, []string{"a\nbb\nccc\n"}},
		"empty lines":                 {"\n\n\n", 2, []string{"\n\n", "\n"}},
		"longer than what is read":    {long + "b\n" + long, 1, []string{long, "b\n", long}},
		"no line feed at the end":     {"a\nb", 1, []string{"a\n", "b"}},
		"the end of the text is left": {"a\nb", 5, []string{"a\nb"}},
		"nothing":                     {"", 1, []string{""}},
	} {
		for _, buffer := range []int{1, 2, 3, 7, 16 << 10, 2 * lineBuffer} {
			for kind, src := range map[string]io.Reader{
				"whole": strings.NewReader(tc.text), "halves": iotest.HalfReader(strings.NewReader(tc.text)),
			} {
				got, passed, bytes, err := pieces(t, src, tc.lines, buffer)
				if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
					t.Errorf("%s, %s, %d bytes at a time: %v, %d pieces, want %d", name, kind, buffer, err, len(got), len(tc.want))
				}
				if passed != int64(strings.Count(tc.text, "\n")) || bytes != int64(len(tc.text)) {
					t.Errorf("%s: %d lines and %d bytes passed", name, passed, bytes)
				}
			}
		}
	}
}

func TestLinesKeepTheSourcesError(t *testing.T) {
	broken := errors.New("the disk is gone")
	src := io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(broken))
	for _, lines := range []int64{1, 2, 100} {
		if _, _, _, err := pieces(t, src, lines, 100); !errors.Is(err, broken) {
			t.Errorf("%d lines: the error is %v", lines, err)
		}
		src = io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(broken))
	}
}

func BenchmarkLines(b *testing.B) {
	p := make([]byte, 16<<10)
	l := newLines(endless{}, func(int64, int64) {})
	l.want(1 << 62)
	b.SetBytes(int64(len(p)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Read(p); err != nil {
			b.Fatal(err)
		}
	}
}

// endless is a text without an end whose lines have 128 bytes.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := 127; i < len(p); i += 128 {
		p[i] = '\n'
	}
	return len(p), nil
}
