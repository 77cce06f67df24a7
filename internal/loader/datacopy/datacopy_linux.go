// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package datacopy puts a copy of a server's data directory aside, and has other servers begin with it.
//
// A copy is a folder with the files, and a file beside it that says that the copy is whole. A process that is killed meanwhile
// leaves no copy behind, and no half of one counts.
package datacopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/result"
)

type file struct {
	path     string
	mode     fs.FileMode
	size     int64
	modified time.Time
}

type files []file

func listed(root string) (files, error) {
	var all files
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
			return nil
		case entry.IsDir() && entry.Name() == "lost+found": // which a file system has made for itself
			return fs.SkipDir
		case !entry.IsDir() && !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f := file{path: name, mode: info.Mode()}
		if !entry.IsDir() { // a folder's own size and time say nothing that its files do not
			f.size, f.modified = info.Size(), info.ModTime()
		}
		all = append(all, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", root, err)
	}
	return all, nil
}

func (all files) copyTo(ctx context.Context, from, to string) error {
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		target := filepath.Join(to, f.path)
		if f.mode.IsDir() {
			if err := os.Mkdir(target, f.mode.Perm()); err != nil {
				return fmt.Errorf("copying the data: %w", err)
			}
			continue
		}
		if err := copyFile(filepath.Join(from, f.path), target, f.mode.Perm()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("copying the data: %w", err)
		}
	}
	return nil
}

// copyFile copies a file. On Linux io.Copy leaves it to the kernel, which lets both share their blocks if the file system can.
func copyFile(from, to string, mode fs.FileMode) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}

func syncAll(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("writing the copy to disk: %w", err)
	}
	return nil
}

func (all files) facts(began time.Time) result.DataCopy {
	c := result.DataCopy{Micros: time.Since(began).Microseconds()}
	for _, f := range all {
		c.Bytes += f.size
	}
	return c
}

const (
	// folder of the files of a copy, below that of the copy; and the mark beside it.
	folder, mark = "data", "whole"
	// attempts at files that change while they are copied. A server that stands still changes none, but what it has asked of the
	// kernel before may still arrive.
	attempts = 3
)

// errChanging: files of the data directory do not stop to change.
var errChanging = errors.New("the files change while they are copied: the server does not stand still")

// Whole says whether there is a whole copy in a folder.
func Whole(at string) bool {
	_, err := os.Stat(filepath.Join(at, mark))
	return err == nil
}

// Take copies a data directory, whose server stands still. Nothing is there before the copy is whole and on disk.
func Take(ctx context.Context, data, at string) (result.DataCopy, error) {
	began := time.Now()
	for range attempts {
		copied, changed, err := take(ctx, data, filepath.Join(at, folder))
		if err != nil {
			return result.DataCopy{}, err
		}
		if !changed {
			return copied.facts(began), finish(at)
		}
	}
	return result.DataCopy{}, errChanging
}

// take copies a data directory, and says whether that has changed meanwhile. The folder of the copies is a volume: one that is
// not there is not made.
func take(ctx context.Context, data, to string) (copied files, changed bool, err error) {
	if err := os.RemoveAll(to); err != nil {
		return nil, false, fmt.Errorf("removing a part of a copy: %w", err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return nil, false, fmt.Errorf("beginning a copy: %w", err)
	}
	before, err := listed(data)
	if err != nil {
		return nil, false, err
	}
	if err := before.copyTo(ctx, data, to); err != nil {
		return nil, false, err
	}
	after, err := listed(data)
	return after, !slices.Equal(before, after), err
}

// finish says that a copy is whole, when it is on disk.
func finish(at string) error {
	if err := syncAll(at); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(at, mark), nil, 0o600); err != nil {
		return fmt.Errorf("marking the copy as whole: %w", err)
	}
	return syncAll(at)
}

// Restore has a data directory begin with a copy; false if there is no whole one. What the directory holds is removed: a part of
// a copy, or what a server has left that was restarted.
func Restore(ctx context.Context, at, data string) (result.DataCopy, bool, error) {
	if !Whole(at) {
		return result.DataCopy{}, false, nil
	}
	began := time.Now()
	there, err := listed(data)
	if err != nil {
		return result.DataCopy{}, false, err
	}
	for _, f := range there {
		if err := os.RemoveAll(filepath.Join(data, f.path)); err != nil {
			return result.DataCopy{}, false, fmt.Errorf("removing what is there: %w", err)
		}
	}
	from := filepath.Join(at, folder)
	all, err := listed(from)
	if err != nil {
		return result.DataCopy{}, false, err
	}
	if err := all.copyTo(ctx, from, data); err != nil {
		return result.DataCopy{}, false, err
	}
	// A server must not have to write back what was copied.
	return all.facts(began), true, syncAll(data)
}
