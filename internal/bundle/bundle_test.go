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
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// manifest is that of a run with these results.
func manifest(results []byte) *bundle.Manifest {
	return &bundle.Manifest{
		Version: bundle.Version, Kind: "BenchmarkRun", Namespace: "bench", Name: "commit-size", UID: "0123", SpecDigest: "v1:sha256:12",
		ResultsDigest: result.NamedDigest(results), Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Finished: time.Date(2026, 1, 2, 3, 9, 5, 0, time.UTC), Answer: "12510 rows/s at rowsPerCommit=1024", Program: "v0.1.0",
	}
}

// archive is a bundle with one attempt, and what is in it.
func archive(t *testing.T) []byte {
	t.Helper()
	results := []byte(`{"version":1}`)
	var b bytes.Buffer
	w := must.Get(bundle.NewWriter(&b, manifest(results), []byte("kind: BenchmarkRun\n")))(t)
	document := []byte("the document")
	record := testutil.Record(1, 1, nil, 1000)
	record.Summary.DocumentSHA256 = result.Digest(document)
	text := must.Get(record.Encode())(t)
	for _, f := range []result.File{
		{Name: "results/results.json", Data: results},
		{Name: "results/summary.md", Data: []byte("# commit-size\n")},
		{Name: "attempts/commit-size-t1-a1/attempt.json", Data: []byte(text)},
		{Name: "attempts/commit-size-t1-a1/document.json.gz", Data: document},
		{Name: "server-variables.txt", Data: []byte("port = 3306\n")},
	} {
		w.Add(f.Name, f.Data)
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// entry of an archive.
type entry struct {
	header tar.Header
	data   []byte
}

func entries(t *testing.T, text []byte) []entry {
	t.Helper()
	zr := must.Get(gzip.NewReader(bytes.NewReader(text)))(t)
	var list []entry
	for r := tar.NewReader(zr); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		must.Do(t, err)
		data := must.Get(io.ReadAll(r))(t)
		list = append(list, entry{*header, data})
	}
}

func packed(t *testing.T, list []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	w := tar.NewWriter(zw)
	for _, e := range list {
		e.header.Size = int64(len(e.data))
		must.Do(t, w.WriteHeader(&e.header))
		must.Get(w.Write(e.data))(t)
	}
	must.Do(t, errors.Join(w.Close(), zw.Close()))
	return b.Bytes()
}

func TestReadGivesWhatWasWritten(t *testing.T) {
	text := archive(t)
	if !bytes.Equal(text, archive(t)) {
		t.Error("the same contents give other bytes")
	}
	b := must.Get(bundle.Read(bytes.NewReader(text)))(t)
	must.Same(t, "manifest", manifest([]byte(`{"version":1}`)), b.Manifest)
	if string(b.Results) != `{"version":1}` || string(b.Benchmark) != "kind: BenchmarkRun\n" {
		t.Errorf("results %q, benchmark %q", b.Results, b.Benchmark)
	}
}

// A byte that is changed in a file is noticed, and the file is named.
func TestReadRefusesAChangedByte(t *testing.T) {
	text := archive(t)
	for i, e := range entries(t, text) {
		list := entries(t, text)
		list[i].data[len(e.data)/2] ^= 1
		name := strings.TrimPrefix(e.header.Name, "commit-size/")
		_, err := bundle.Read(bytes.NewReader(packed(t, list)))
		if !errors.Is(err, bundle.ErrInvalid) || name != bundle.SumsFile && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// A byte that is changed in the archive itself is noticed, wherever it is, unless the archive still says the same: gzip has bytes
// without a meaning in its header, and bits before blocks that are stored.
func TestReadRefusesAnArchiveThatIsNotWhole(t *testing.T) {
	text := archive(t)
	whole := must.Get(bundle.Read(bytes.NewReader(text)))(t)
	for i := 10; i < len(text); i += 7 {
		changed := slices.Clone(text)
		changed[i] ^= 0x10
		if got, err := bundle.Read(bytes.NewReader(changed)); !errors.Is(err, bundle.ErrInvalid) && !reflect.DeepEqual(got, whole) {
			t.Errorf("byte %d of %d: the error is %v", i, len(text), err)
		}
		must.Is(t, must.Err(bundle.Read(bytes.NewReader(text[:i]))), bundle.ErrInvalid)
	}
}

func TestReadRefuses(t *testing.T) {
	add := func(header tar.Header, text string) func([]entry) []entry {
		return func(list []entry) []entry { return append(list, entry{header, []byte(text)}) }
	}
	for name, c := range map[string]struct {
		change func([]entry) []entry
		want   string
	}{
		"added":     {add(tar.Header{Name: "commit-size/extra", Mode: 0o644}, "x"), "extra was added"},
		"twice":     {add(tar.Header{Name: "commit-size/README.md", Mode: 0o644}, "x"), "README.md is listed twice"},
		"outside":   {add(tar.Header{Name: "commit-size/../x", Mode: 0o644}, "x"), "not a plain file"},
		"absolute":  {add(tar.Header{Name: "/etc/x", Mode: 0o644}, "x"), "not a plain file"},
		"elsewhere": {add(tar.Header{Name: "other/x", Mode: 0o644}, "x"), "not in the folder"},
		"link":      {add(tar.Header{Name: "commit-size/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""), "not a plain file"},
		"missing": {func(list []entry) []entry {
			return slices.DeleteFunc(list, func(e entry) bool { return strings.HasSuffix(e.header.Name, "document.json.gz") })
		}, "document.json.gz is missing"},
		"no sums": {func(list []entry) []entry { return list[:len(list)-1] }, "SHA256SUMS is missing"},
		"nothing": {func([]entry) []entry { return nil }, "SHA256SUMS is missing"},
	} {
		_, err := bundle.Read(bytes.NewReader(packed(t, c.change(entries(t, archive(t))))))
		if !errors.Is(err, bundle.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
	must.Is(t, must.Err(bundle.Read(strings.NewReader("no archive"))), bundle.ErrInvalid)
}

// resummed is an archive whose checksums are those of its files, even of changed ones.
func resummed(list []entry) []entry {
	sums := result.Sums{}
	for _, e := range list[:len(list)-1] {
		_, name, _ := strings.Cut(e.header.Name, "/")
		sums[name] = result.Digest(e.data)
	}
	list[len(list)-1].data = sums.Text()
	return list
}

// A change to a file and its checksum is noticed all the same: the manifest has the digest of the results, and each record that
// of its document.
func TestReadRefusesWhatItsOwnSumsVouchFor(t *testing.T) {
	replace := func(name, old, by string) func([]entry) []entry {
		return func(list []entry) []entry {
			for i := range list {
				if strings.HasSuffix(list[i].header.Name, "/"+name) {
					if !bytes.Contains(list[i].data, []byte(old)) {
						t.Fatalf("%s has no %s: %s", name, old, list[i].data)
					}
					list[i].data = bytes.Replace(list[i].data, []byte(old), []byte(by), 1)
				}
			}
			return list
		}
	}
	without := func(name string) func([]entry) []entry {
		return func(list []entry) []entry {
			return slices.DeleteFunc(list, func(e entry) bool { return strings.HasSuffix(e.header.Name, "/"+name) })
		}
	}
	elsewhere := func(list []entry) []entry {
		for i := range list {
			_, name, _ := strings.Cut(list[i].header.Name, "/")
			list[i].header.Name = "other/" + name
		}
		return list
	}
	for want, change := range map[string]func([]entry) []entry{
		"results/results.json is not what manifest.json says": replace("results.json", "1", "2"),
		"document.json.gz is not the document that":           replace("document.json.gz", "the", "any"),
		"attempt.json: ":                              replace("attempt.json", "{", "["),
		"manifest.json has version 7":                 replace("manifest.json", `"version": 1`, `"version": 7`),
		"reading manifest.json":                       replace("manifest.json", "{", "["),
		"the folder other is not that of commit-size": elsewhere,
		"benchmark.yaml is missing":                   without("benchmark.yaml"),
		"results/results.json is missing":             without("results.json"),
		"commit-size-t1-a1/document.json.gz is not the document that attempts/comm": without("document.json.gz"),
	} {
		must.Get(bundle.Read(bytes.NewReader(packed(t, resummed(entries(t, archive(t)))))))(t)
		_, err := bundle.Read(bytes.NewReader(packed(t, resummed(change(entries(t, archive(t)))))))
		if !errors.Is(err, bundle.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// failing takes so many bytes and no more.
type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f -= failing(len(p)); *f < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(p), nil
}

// A bundle that could not be written whole is an error, wherever the writer fails.
func TestWriterReportsErrors(t *testing.T) {
	noise := make([]byte, 100_000) // what cannot be compressed reaches the writer early
	for i, state := 0, uint32(1); i < len(noise); i++ {
		state = state*1664525 + 1013904223
		noise[i] = byte(state >> 24)
	}
	for _, room := range []failing{0, 50_000, 101_000} {
		w, err := bundle.NewWriter(&room, manifest(nil), nil)
		if err == nil {
			w.Add("x", noise)
			err = w.Close()
		}
		must.Fail(t, err, "the disk is full")
	}
}

func TestAddRefusesNames(t *testing.T) {
	for _, name := range []string{"", "/x", "../x", "a/../b", ".", "a\nb", `a\b`, "a/"} {
		w := must.Get(bundle.NewWriter(io.Discard, manifest(nil), nil))(t)
		w.Add(name, nil)
		must.Fail(t, w.Close(), "is not a valid file name")
	}
}

// The programs that people have can read it: tar and sha256sum.
func TestSumsAreThoseOfSha256sum(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.tgz")
	must.Write(t, path, archive(t))
	for _, command := range [][]string{
		{"tar", "-xzf", path, "-C", dir}, {"sh", "-c", "cd " + dir + "/commit-size && sha256sum --strict -c SHA256SUMS"},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v: %s", command, err, out)
		}
	}
}

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
