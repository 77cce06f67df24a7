// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// What a stranger sends is read within bounds: of a file, of all files together, and of their number.
func TestReadWithinBounds(t *testing.T) {
	var b bytes.Buffer
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := &Manifest{Version: Version, Kind: "BenchmarkRun", Name: "a", ResultsDigest: "sha256:" +
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", Started: at, Finished: at}
	w, err := NewWriter(&b, m, []byte("kind: BenchmarkRun\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(ResultsFolder+"results.json", []byte("{}")), w.Close()); err != nil {
		t.Fatal(err)
	}
	exact := bounds{files: len(w.files)}
	for _, f := range w.files {
		exact.fileBytes, exact.totalBytes = max(exact.fileBytes, int64(f.size)), exact.totalBytes+int64(f.size)
	}
	if _, err := read(bytes.NewReader(b.Bytes()), exact); err != nil {
		t.Fatal(err)
	}
	for name, less := range map[string]bounds{
		"a file": {exact.fileBytes - 1, exact.totalBytes, exact.files}, "all files": {exact.fileBytes, exact.totalBytes - 1, exact.files},
		"their number": {exact.fileBytes, exact.totalBytes, exact.files - 1},
	} {
		if _, err := read(bytes.NewReader(b.Bytes()), less); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "is too much") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
