// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// noise is data that does not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// packed is what Pack makes of files: the names in each bin, after checking the bins' sizes.
func packed(t *testing.T, files ...result.File) ([][]result.File, [][]string) {
	t.Helper()
	bins := must.Get(result.Pack(files))(t)
	var names [][]string
	for _, bin := range bins {
		total, list := 0, []string(nil)
		for _, f := range bin {
			total += len(f.Data)
			list = append(list, f.Name)
			if !f.Binary && !utf8.Valid(f.Data) {
				t.Errorf("%s is said to be text and is not", f.Name)
			}
		}
		if total > result.MaxConfigMapBytes {
			t.Errorf("%v have %d bytes; at most %d are allowed", list, total, result.MaxConfigMapBytes)
		}
		names = append(names, list)
	}
	return bins, names
}

// joined is a file put together from its pieces.
func joined(t *testing.T, bins [][]result.File, name string) []byte {
	t.Helper()
	var data []byte
	for _, bin := range bins {
		for _, f := range bin {
			if f.Name == name || strings.HasPrefix(f.Name, name+".") && strings.Trim(f.Name[len(name)+1:], "0123456789") == "" {
				data = append(data, f.Data...)
			}
		}
	}
	return data
}

func unpacked(t *testing.T, data []byte) []byte {
	t.Helper()
	zr := must.Get(gzip.NewReader(bytes.NewReader(data)))(t)
	plain := must.Get(io.ReadAll(zr))(t)
	return plain
}

func text(name string, n int) result.File {
	return result.File{Name: name, Data: bytes.Repeat([]byte("x"), n)}
}

func TestPack(t *testing.T) {
	const limit = result.MaxConfigMapBytes
	binary := func(name string, n int) result.File { return result.File{Name: name, Data: noise(n), Binary: true} }
	cases := map[string]struct {
		files []result.File
		want  [][]string
	}{
		"nothing":                     {nil, [][]string{nil}},
		"one bin":                     {[]result.File{text("a", 10), text("b", 20), binary("c", 30)}, [][]string{{"a", "b", "c"}}},
		"just fits":                   {[]result.File{text("a", limit-5), text("b", 5)}, [][]string{{"a", "b"}}},
		"an empty file":               {[]result.File{text("a", 0), text("b", limit)}, [][]string{{"a", "b"}}},
		"text is compressed":          {[]result.File{text("a", limit-5), text("b", 5000)}, [][]string{{"a"}, {"b.gz"}}},
		"and fits then":               {[]result.File{text("a", 1000), text("b", limit)}, [][]string{{"a", "b.gz"}}},
		"binary data is not":          {[]result.File{text("a", 1000), binary("b.gz", limit)}, [][]string{{"a"}, {"b.gz"}}},
		"first file stays text":       {[]result.File{text("a", limit+1)}, [][]string{{"a.1"}, {"a.2"}}},
		"cut into pieces":             {[]result.File{text("a", 1000), binary("b", 2*limit+1), text("c", 10)}, [][]string{{"a"}, {"b.1"}, {"b.2"}, {"b.3", "c.gz"}}},
		"no piece is empty":           {[]result.File{binary("a", 2*limit)}, [][]string{{"a.1"}, {"a.2"}}},
		"compressed, and still large": {[]result.File{text("a", 1), {Name: "b", Data: noise(limit + 1000)}}, [][]string{{"a"}, {"b.gz.1"}, {"b.gz.2"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			bins, names := packed(t, tc.files...)
			must.Same(t, "bins", tc.want, names)
			for _, f := range tc.files {
				data := joined(t, bins, f.Name)
				if data == nil && len(f.Data) > 0 {
					data = unpacked(t, joined(t, bins, f.Name+".gz"))
				}
				if !bytes.Equal(data, f.Data) {
					t.Errorf("%s does not come back: %d bytes of %d", f.Name, len(data), len(f.Data))
				}
			}
		})
	}
}

// Text is cut between characters: a ConfigMap does not take half of one.
func TestPackCutsBetweenCharacters(t *testing.T) {
	for offset := range 4 {
		data := []byte(strings.Repeat("x", offset) + strings.Repeat("🐬", result.MaxConfigMapBytes/2))
		bins, _ := packed(t, result.File{Name: "a", Data: data})
		if !bytes.Equal(joined(t, bins, "a"), data) {
			t.Errorf("offset %d: the text does not come back", offset)
		}
	}
	// What is no text at all comes to an end, too.
	must.Get(result.Pack([]result.File{{Name: "a", Data: bytes.Repeat([]byte{0x80}, 2*result.MaxConfigMapBytes)}}))(t)
}

func TestPackIsRepeatable(t *testing.T) {
	files := []result.File{text("a", 1000), text("b", result.MaxConfigMapBytes)}
	one, _ := packed(t, files...)
	two, _ := packed(t, files...)
	must.Same(t, "packed again", one, two)
}

// Whatever Pack makes of files, UnpackFile makes the same files of.
func TestUnpackFile(t *testing.T) {
	for name, files := range map[string][]result.File{
		"small":                {{Name: "a", Data: []byte("first")}, {Name: "b", Data: []byte("second")}},
		"compressed":           {{Name: "a", Data: []byte("first")}, {Name: "b", Data: bytes.Repeat([]byte("ab"), result.MaxConfigMapBytes)}},
		"compressed in pieces": {{Name: "a", Data: []byte("first")}, {Name: "b", Data: noise(3 * result.MaxConfigMapBytes)}},
		"in pieces":            {{Name: "a", Data: noise(2 * result.MaxConfigMapBytes), Binary: true}},
	} {
		t.Run(name, func(t *testing.T) {
			bins, _ := packed(t, files...)
			contents := map[string][]byte{}
			for _, bin := range bins {
				for _, f := range bin {
					contents[f.Name] = f.Data
				}
			}
			for _, f := range files {
				if got, err := result.UnpackFile(f.Name, contents); err != nil || !bytes.Equal(got, f.Data) {
					t.Errorf("%s has %d bytes, want %d: %v", f.Name, len(got), len(f.Data), err)
				}
			}
		})
	}
	if data, err := result.UnpackFile("none", map[string][]byte{"a": nil}); data != nil || err != nil {
		t.Errorf("a file that is not there: %q, %v", data, err)
	}
	if _, err := result.UnpackFile("a", map[string][]byte{"a.gz": []byte("no gzip")}); err == nil {
		t.Error("what is no gzip was read")
	}
}
