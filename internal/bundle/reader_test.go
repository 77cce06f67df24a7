// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// What a stranger sends is read within bounds: of a file, of all files together, and of their number.
func TestReadWithinBounds(t *testing.T) {
	var b bytes.Buffer
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := &Manifest{Version: Version, Kind: "BenchmarkRun", Name: "a", ResultsDigest: "sha256:" +
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a", Started: at, Finished: at}
	w := must.Get(NewWriter(&b, m, []byte("kind: BenchmarkRun\n")))(t)
	w.Add(ResultsFolder+"results.json", []byte("{}"))
	sums, text := w.sums.Text(), append(must.Get(json.MarshalIndent(m, "", " "))(t), '\n')
	must.Do(t, w.Close())
	unzipped := must.Get(gzip.NewReader(bytes.NewReader(b.Bytes())))(t)
	size := must.Get(io.Copy(io.Discard, unzipped))(t)
	exact := bounds{
		files: len(w.sums), keptBytes: int64(len(sums)), objectBytes: int64(len(text)), totalBytes: size,
		ratio: size/int64(b.Len()) + 1, values: 1,
	}
	must.Get(read(bytes.NewReader(b.Bytes()), exact))(t)
	for name, change := range map[string]func(*bounds){
		"a file": func(b *bounds) { b.keptBytes-- }, "an object": func(b *bounds) { b.objectBytes-- },
		"the values": func(b *bounds) { b.values-- }, "all files": func(b *bounds) { b.totalBytes-- },
		"their number": func(b *bounds) { b.files-- }, "the ratio": func(b *bounds) { b.ratio -= 2 },
	} {
		less := exact
		change(&less)
		words := "is too large"
		if name == "their number" {
			words = "is one file too many"
		}
		if _, err := read(bytes.NewReader(b.Bytes()), less); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
