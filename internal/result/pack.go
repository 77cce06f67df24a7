// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"unicode/utf8"
)

// MaxConfigMapBytes is how much one ConfigMap is given: the limit of Kubernetes is 1 MiB with everything.
const MaxConfigMapBytes = 900 << 10

// File is a named piece of data on its way into a ConfigMap.
type File struct {
	Name string
	Data []byte
	// Binary data goes into binaryData.
	Binary bool
}

// Pack distributes files over as many ConfigMaps as they take; nearly always that is one. If together they are too large,
// text is compressed first and gets the suffix .gz; what is still too large for one ConfigMap is cut into pieces with the
// suffixes .1, .2 and so on, which are joined by writing them one after the other.
func Pack(files []File) ([][]File, error) {
	total := 0
	for _, f := range files {
		total += len(f.Data)
	}
	bins := [][]File{nil}
	free := MaxConfigMapBytes
	put := func(f File) {
		if len(f.Data) > free {
			bins, free = append(bins, nil), MaxConfigMapBytes
		}
		last := len(bins) - 1
		bins[last] = append(bins[last], f)
		free -= len(f.Data)
	}
	for i, f := range files {
		// The first file is what is looked at first: it stays text.
		if total > MaxConfigMapBytes && !f.Binary && i > 0 {
			gz, err := compress(f.Data)
			if err != nil {
				return nil, fmt.Errorf("compressing %s: %w", f.Name, err)
			}
			f = File{Name: f.Name + ".gz", Data: gz, Binary: true}
		}
		if len(f.Data) <= MaxConfigMapBytes {
			put(f)
			continue
		}
		for n, rest := 1, f.Data; len(rest) > 0; n++ {
			size := min(len(rest), MaxConfigMapBytes)
			for !f.Binary && size < len(rest) && size > MaxConfigMapBytes-utf8.UTFMax && !utf8.RuneStart(rest[size]) {
				size-- // a ConfigMap takes whole characters only
			}
			put(File{Name: fmt.Sprintf("%s.%d", f.Name, n), Data: rest[:size], Binary: f.Binary})
			rest = rest[size:]
		}
	}
	return bins, nil
}

// compress gives the same bytes for the same data.
func compress(data []byte) ([]byte, error) {
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := zw.Write(data); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
