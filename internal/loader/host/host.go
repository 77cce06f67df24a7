// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package host reads and changes kernel settings of a node. A change needs a privileged container, which sees the node's
// /proc/sys and /sys. It touches no files but those that it names.
package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Host is a node.
type Host struct {
	// Root has the node's proc and sys: "/" but in tests.
	Root string
	// Disk whose I/O scheduler is meant, as in /sys/block; needed for that alone.
	Disk string
}

// Apply reads the settings that any value is requested of or, with set, changes them and reads them back. It returns those that
// were read, also if it fails: the kernel may refuse one after it has taken others.
func (h *Host) Apply(requested result.HostSettings, set bool) (result.HostSettings, error) {
	var have result.HostSettings
	for _, s := range []struct {
		name, path, want string
		have             *string
	}{
		// The disk may be unknown: then nothing is changed.
		{"the I/O scheduler of " + h.Disk, "sys/block/" + h.Disk + "/queue/scheduler", requested.IOScheduler, &have.IOScheduler},
		{"vm.swappiness", "proc/sys/vm/swappiness", requested.Swappiness, &have.Swappiness},
		{
			"transparent_hugepage/enabled", "sys/kernel/mm/transparent_hugepage/enabled", requested.TransparentHugePages,
			&have.TransparentHugePages,
		},
	} {
		if s.want == "" {
			continue
		}
		if s.have == &have.IOScheduler && (filepath.Base(h.Disk) != h.Disk || h.Disk == ".." || h.Disk == result.Unknown) {
			return have, fmt.Errorf("the disk of the data volume is %q, so its I/O scheduler cannot be changed", h.Disk)
		}
		var refused error
		if set {
			refused = h.write(s.path, s.want)
		}
		text, err := os.ReadFile(filepath.Join(h.Root, s.path))
		if err != nil {
			return have, fmt.Errorf("this node does not have %s: %w", s.name, err)
		}
		*s.have = result.Truncate(Chosen(strings.TrimSpace(string(text))), 32)
		if set && *s.have != s.want {
			why := cmp.Or(refused, errors.New("the kernel ignores it"))
			return have, fmt.Errorf("%s: requested %s, effective %s, of %q: %w", s.name, s.want, *s.have, text, why)
		}
	}
	return have, nil
}

// write to a file that exists, as a shell does. The kernel answers a value that it does not take with an error.
func (h *Host) write(path, value string) error {
	file, err := os.OpenFile(filepath.Join(h.Root, path), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(value)
	return errors.Join(err, file.Close())
}

// Await returns when the node has these settings, as far as any are requested. It fails if the context ends before. It needs no
// privilege.
func (h *Host) Await(ctx context.Context, requested result.HostSettings) error {
	for {
		if have, err := h.Apply(requested, false); err == nil && have == requested {
			return nil
		}
		if err := sleep.For(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// Chosen is the word in brackets of a setting like "always [madvise] never", or the whole text if there is none.
func Chosen(text string) string {
	_, after, found := strings.Cut(text, "[")
	word, _, closed := strings.Cut(after, "]")
	if !found || !closed {
		return text
	}
	return word
}
