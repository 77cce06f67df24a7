// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package datacopy

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// file is a file or a folder below another one.
type file struct {
	path     string
	mode     fs.FileMode
	size     int64
	modified time.Time
}

// files of a folder, each after the folder that it is in.
type files []file

// listed are the files below a folder, and their folders. Sockets and the like are not data.
func listed(root string) (files, error) {
	var all files
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
			return nil
		case skipped(entry):
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

// copyTo copies files from one folder to another. What is gone meanwhile is left out.
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
		if err := copyFile(filepath.Join(from, f.path), target, f.mode.Perm()); err != nil && !os.IsNotExist(err) {
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
	defer func() {
		if closed := target.Close(); err == nil {
			err = closed
		}
	}()
	_, err = io.Copy(target, source)
	return err
}

// syncAll writes what was written to the file system of a folder to its disk.
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

// facts of what was copied since then.
func (all files) facts(began time.Time) result.DataCopy {
	c := result.DataCopy{Micros: time.Since(began).Microseconds()}
	for _, f := range all {
		c.Bytes += f.size
	}
	return c
}
