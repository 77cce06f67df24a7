// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const mebibyte = 1 << 20

// member is a part of an archive, compressed on its own: gzip reads what several give.
func member(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	must.Get(zw.Write(text))(t)
	must.Do(t, zw.Close())
	return b.Bytes()
}

// header of a file in an archive.
func header(t *testing.T, h tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, tar.NewWriter(&b).WriteHeader(&h))
	return b.Bytes()
}

// zeros is an archive of files with so many MiB of zeros.
func zeros(t *testing.T, files, mebibytes int, name string) io.Reader {
	t.Helper()
	zero := member(t, make([]byte, mebibyte))
	var parts []io.Reader
	for i := range files {
		h := tar.Header{Name: fmt.Sprintf("x/"+name, i), Mode: 0o644, Size: int64(mebibytes) * mebibyte}
		parts = append(parts, bytes.NewReader(member(t, header(t, h))))
		for range mebibytes {
			parts = append(parts, bytes.NewReader(zero))
		}
	}
	return io.MultiReader(parts...)
}

// A small archive that unpacks to a lot is refused early, whatever it is made of, and is not held in memory until then.
func TestReadRefusesABomb(t *testing.T) {
	for name, from := range map[string]func() io.Reader{
		"documents":     func() io.Reader { return zeros(t, 16, 120, "attempts/t%d/document.json.gz") },
		"records":       func() io.Reader { return zeros(t, 16, 120, "attempts/t%d/attempt.json") },
		"results":       func() io.Reader { return zeros(t, 16, 120, "runs/r%d/results/results.json") },
		"one file":      func() io.Reader { return zeros(t, 1, 120, "results/results.json%.0d") },
		"what follows":  func() io.Reader { return io.MultiReader(bytes.NewReader(archive(t)), zeros(t, 1, 120, "x%d")) },
		"one of a size": func() io.Reader { return zeros(t, 1, 1<<14, "server-variables.txt%.0d") },
	} {
		t.Run(name, func(t *testing.T) {
			archive := from()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := bundle.Read(archive)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, bundle.ErrInvalid) || !strings.Contains(err.Error(), "is too large") {
				t.Errorf("the error is %v", err)
			}
			if allocated := (after.TotalAlloc - before.TotalAlloc) / mebibyte; allocated > 150 {
				t.Errorf("%d MiB were allocated in %s", allocated, took)
			}
		})
	}
}
