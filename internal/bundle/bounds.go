// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// bounds of an archive: a bundle is what a stranger sends.
type bounds struct {
	// files in the archive; bytes of what was an object in a cluster, of another file that is kept in memory, and of all that is
	// unpacked.
	files                              int
	objectBytes, keptBytes, totalBytes int64
	// values in the results: each may take much more in memory than it has bytes.
	values int
	// ratio of what was unpacked to what was read of the archive, from freeBytes on. Documents are compressed already, so that a
	// bundle does not shrink to a tenth.
	ratio, freeBytes int64
}

var defaultBounds = bounds{
	files: 200_000, objectBytes: 2 << 20, keptBytes: 64 << 20, totalBytes: 2 << 30, values: 4_000_000, ratio: 100,
	freeBytes: 16 << 20,
}

// errTooMuch is the error of whoever unpacks more than the bounds.
var errTooMuch = errors.New("the unpacked content is too large")

// unpacked reads a compressed archive, within bounds.
type unpacked struct {
	bounds
	zip   *gzip.Reader
	read  counter
	bytes int64
}

// counter counts what is read.
type counter struct {
	from  io.Reader
	bytes int64
}

func (c *counter) Read(into []byte) (int, error) {
	n, err := c.from.Read(into)
	c.bytes += int64(n)
	return n, err
}

func newUnpacked(from io.Reader, within bounds) (*unpacked, error) {
	u := &unpacked{bounds: within, read: counter{from: from}}
	var err error
	u.zip, err = gzip.NewReader(&u.read)
	return u, err
}

func (u *unpacked) Read(into []byte) (int, error) {
	n, err := u.zip.Read(into)
	u.bytes += int64(n)
	switch {
	case u.bytes > u.totalBytes:
		return n, fmt.Errorf("%w: a bundle may have at most %d bytes", errTooMuch, u.totalBytes)
	case u.bytes > u.freeBytes+u.ratio*u.read.bytes:
		return n, fmt.Errorf("%w: %d bytes of the archive expand to more than %d times as many", errTooMuch, u.read.bytes, u.ratio)
	}
	return n, err
}
