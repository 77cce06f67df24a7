// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package datacopy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// write makes files below a folder.
func write(t *testing.T, root string, content map[string]string) {
	t.Helper()
	for name, text := range content {
		path := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must.Do(t, os.WriteFile(path, []byte(text), 0o640))
	}
}

// read are the files below a folder, with what is in them, and their modes.
func read(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		all[name] = info.Mode().String() + " " + string(text)
		return err
	})
	must.Do(t, err)
	return all
}

// A volume that is not there is not replaced by a folder on the node.
func TestTakeWithoutAVolume(t *testing.T) {
	data, at := t.TempDir(), filepath.Join(t.TempDir(), "missing")
	write(t, data, map[string]string{"ibdata1": "system"})
	if _, err := Take(t.Context(), data, at); !errors.Is(err, fs.ErrNotExist) || Whole(at) {
		t.Errorf("whole %t, %v", Whole(at), err)
	}
}

// A server begins with what the copy has, whatever was there before, and nothing else.
func TestRestore(t *testing.T) {
	data, at, other := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, data, map[string]string{"ibdata1": "system", "bench/sbtest1.ibd": "rows", "empty/x": ""})
	must.Do(t, os.MkdirAll(filepath.Join(data, "lost+found"), 0))
	write(t, at, map[string]string{"data/half": "of a copy"})
	if _, found, err := Restore(t.Context(), at, other); found || err != nil {
		t.Fatalf("half of a copy: found %t, %v", found, err)
	}
	taken, err := Take(t.Context(), data, at)
	if err != nil || taken.Bytes != int64(len("system"+"rows")) || taken.Micros <= 0 || !Whole(at) {
		t.Fatalf("taken %+v, whole %t, %v", taken, Whole(at), err)
	}
	write(t, other, map[string]string{"bench/sbtest1.ibd": "half", "bench/sbtest2.ibd": "of another server", "lost+found/x": "the file system's"})
	restored, found, err := Restore(t.Context(), at, other)
	if err != nil || !found || restored.Bytes != taken.Bytes {
		t.Fatalf("restored %+v, found %t, %v", restored, found, err)
	}
	want := map[string]string{
		"ibdata1": "-rw-r----- system", "bench/sbtest1.ibd": "-rw-r----- rows", "empty/x": "-rw-r----- ",
		"lost+found/x": "-rw-r----- the file system's",
	}
	must.Same(t, "the data directory", want, read(t, other))
	// The copy is still what it was: a server has its own files.
	write(t, other, map[string]string{"ibdata1": "written"})
	must.Same(t, "the copy", "-rw-r----- system", read(t, filepath.Join(at, folder))["ibdata1"])
}

// Of a copy that was interrupted nothing counts, and the next one begins again.
func TestTakeInterrupted(t *testing.T) {
	data, at := t.TempDir(), t.TempDir()
	write(t, data, map[string]string{"a": "1"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Take(ctx, data, at); !errors.Is(err, context.Canceled) || Whole(at) {
		t.Errorf("interrupted: %v, whole %t", err, Whole(at))
	}
	write(t, at, map[string]string{"data/gone": "from before"})
	if _, err := Take(t.Context(), data, at); err != nil || !Whole(at) {
		t.Fatal(err)
	}
	must.Same(t, "the copy", map[string]string{"a": "-rw-r----- 1"}, read(t, filepath.Join(at, folder)))
}

// touching is a context that touches a file whenever a caller asks whether to go on: before each file that is copied.
type touching struct {
	context.Context //nolint:containedctx // it is one
	touch           func()
}

func (c touching) Err() error {
	c.touch()
	return nil
}

// What changes while the first file is copied is in the copy: longer and touched files, new ones, and the mode of a folder whose
// files stay what they are. What is gone is not.
func TestTakeOfWhatChanges(t *testing.T) {
	data, at := t.TempDir(), t.TempDir()
	write(t, data, map[string]string{"a": "1", "longer": "1", "touched": "1", "gone": "1", "d/same": "1", "e/gone": "1"})
	changed := false
	_, err := Take(touching{t.Context(), func() {
		if changed {
			return
		}
		changed = true
		write(t, data, map[string]string{"longer": "12", "d/new": "1"})
		now := time.Now().Add(time.Hour)
		if err := errors.Join(
			os.Chtimes(filepath.Join(data, "touched"), now, now), os.Remove(filepath.Join(data, "gone")),
			os.RemoveAll(filepath.Join(data, "e")), os.Chmod(filepath.Join(data, "d"), 0o700),
		); err != nil {
			t.Error(err)
		}
	}}, data, at)
	if err != nil || !changed {
		t.Fatalf("changed %t, %v", changed, err)
	}
	must.Same(t, "the copy", read(t, data), read(t, filepath.Join(at, folder)))
}

// A server that goes on writing is not copied: half of its files would be older than the other half. One that stops to is.
func TestTakeOfAServerThatWrites(t *testing.T) {
	for writes, want := range map[int]error{1: nil, attempts - 1: nil, attempts: errChanging} {
		data, at := t.TempDir(), t.TempDir()
		write(t, data, map[string]string{"a": "1"})
		left := writes
		_, err := Take(touching{t.Context(), func() {
			if left--; left >= 0 {
				moment := time.Unix(int64(left), 0)
				if err := os.Chtimes(filepath.Join(data, "a"), moment, moment); err != nil {
					t.Error(err)
				}
			}
		}}, data, at)
		if !errors.Is(err, want) || Whole(at) != (want == nil) {
			t.Errorf("%d writes: %v, whole %t", writes, err, Whole(at))
		}
	}
}
