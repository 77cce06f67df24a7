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
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

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
	if err := remove(data, there); err != nil {
		return result.DataCopy{}, false, err
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

// remove files and folders below one.
func remove(from string, all files) error {
	for _, f := range all {
		if err := os.RemoveAll(filepath.Join(from, f.path)); err != nil {
			return fmt.Errorf("removing what is there: %w", err)
		}
	}
	return nil
}

// skipped says whether a file system has made a folder for itself.
func skipped(entry fs.DirEntry) bool { return entry.IsDir() && entry.Name() == "lost+found" }
