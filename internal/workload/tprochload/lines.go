// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tprochload

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineBuffer is how much is read at once.
const lineBuffer = 64 << 10

var lineFeed = []byte{'\n'}

// lines reads whole lines of text, counts them, and stops after so many of them until more are wanted.
type lines struct {
	src *bufio.Reader
	// left is how many lines are still wanted.
	left int64
	// passed is told of the lines, and their bytes, of each read.
	passed func(lines, bytes int64)
	// err is the source's error, but for its end.
	err error
}

func newLines(src io.Reader, passed func(lines, bytes int64)) *lines {
	return &lines{src: bufio.NewReaderSize(src, lineBuffer), passed: passed}
}

// want lets so many more lines be read.
func (l *lines) want(n int64) { l.left = n }

// more says whether there is anything left, wanted or not.
func (l *lines) more() bool {
	_, err := l.src.Peek(1)
	l.note(err)
	return err == nil
}

// Read implements io.Reader. Its end is that of the wanted lines.
func (l *lines) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	ahead, err := l.src.Peek(min(len(p), lineBuffer))
	if len(ahead) == 0 {
		l.note(err)
		return 0, err
	}
	n, found := cut(ahead, l.left)
	copy(p, ahead[:n])
	if _, err := l.src.Discard(n); err != nil {
		return 0, err
	}
	l.left -= found
	l.passed(found, int64(n))
	return n, nil
}

func (l *lines) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
}

// cut is how many bytes of text hold at most so many line feeds, and how many they hold.
func cut(text []byte, atMost int64) (n int, found int64) {
	if found = int64(bytes.Count(text, lineFeed)); found <= atMost && (found < atMost || text[len(text)-1] == '\n') {
		return len(text), found
	}
	for range atMost {
		n += bytes.IndexByte(text[n:], '\n') + 1
	}
	return n, atMost
}
