// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package host reads and changes kernel settings of a node. It needs a privileged container, which sees the node's /proc/sys and
// /sys, and it touches no files but those that it names.
package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Host is a node.
type Host struct {
	// Root has the node's proc and sys: "/" but in tests.
	Root string
	// Disk whose I/O scheduler is meant, as in /sys/block; needed for that alone.
	Disk string
}

// setting is a value of the kernel that a file stands for.
type setting struct {
	// name is what messages call it.
	name, path string
	// value of the settings that it is.
	value func(*result.HostSettings) *string
}

// maxText is more than any of these files has.
const maxText = 4 << 10

// settings are those that any value asks for, in the order in which they are changed.
func (h *Host) settings(requested *result.HostSettings) ([]setting, error) {
	all := []setting{
		{"vm.swappiness", "proc/sys/vm/swappiness", func(s *result.HostSettings) *string { return &s.Swappiness }},
		{
			"transparent_hugepage/enabled", "sys/kernel/mm/transparent_hugepage/enabled",
			func(s *result.HostSettings) *string { return &s.TransparentHugePages },
		},
	}
	if requested.IOScheduler != "" {
		if err := diskName(h.Disk); err != nil {
			return nil, err
		}
		all = append(all, setting{
			"the I/O scheduler of " + h.Disk, filepath.Join("sys/block", h.Disk, "queue/scheduler"),
			func(s *result.HostSettings) *string { return &s.IOScheduler },
		})
	}
	var some []setting
	for _, s := range all {
		if *s.value(requested) != "" {
			some = append(some, s)
		}
	}
	return some, nil
}

// diskName fails if a name is none of /sys/block.
func diskName(name string) error {
	switch {
	case name == "" || name == result.Unknown:
		return errors.New("the disk of the data volume is unknown, so its I/O scheduler cannot be changed")
	case strings.Contains(name, "/") || strings.HasPrefix(name, "."):
		return fmt.Errorf("%q is not the name of a disk", name)
	}
	return nil
}

// Read the settings that are asked about, whatever value is asked for.
func (h *Host) Read(requested result.HostSettings) (result.HostSettings, error) {
	var have result.HostSettings
	settings, err := h.settings(&requested)
	if err != nil {
		return have, err
	}
	for _, s := range settings {
		text, err := h.text(s)
		if err != nil {
			return have, err
		}
		*s.value(&have) = Chosen(text)
	}
	return have, nil
}

// Set changes the settings that are asked for, and reads them back. It returns those that were read back, also if it fails: the
// kernel may refuse one after it has taken others.
func (h *Host) Set(requested result.HostSettings) (result.HostSettings, error) {
	var have result.HostSettings
	settings, err := h.settings(&requested)
	if err != nil {
		return have, err
	}
	for _, s := range settings {
		want := *s.value(&requested)
		refused := h.write(s.path, want)
		text, err := h.text(s)
		if err != nil {
			return have, err
		}
		got := Chosen(text)
		*s.value(&have) = got
		if got != want {
			return have, s.notEffective(want, got, text, refused)
		}
	}
	return have, nil
}

// notEffective says that a value was not taken, and which are.
func (s *setting) notEffective(want, got, text string, refused error) error {
	message := fmt.Sprintf("%s: requested %s, effective %s", s.name, want, got)
	if words := Offered(text); len(words) > 1 {
		message += "; the kernel offers " + strings.Join(words, ", ")
	}
	if refused != nil {
		return fmt.Errorf("%s: %w", message, refused)
	}
	return errors.New(message)
}

// DropPageCache has the kernel write dirty pages back, and drop what it can of its caches of files, directory entries and inodes.
func (h *Host) DropPageCache() error {
	const all = "3"
	unix.Sync() // dirty pages are not dropped
	if err := h.write("proc/sys/vm/drop_caches", all); err != nil {
		return fmt.Errorf("dropping the page cache: %w", err)
	}
	return nil
}

func (h *Host) text(s setting) (string, error) {
	file, err := os.Open(filepath.Join(h.Root, s.path))
	if err != nil {
		return "", fmt.Errorf("this node does not have %s: %w", s.name, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	buffer := make([]byte, maxText)
	n, err := file.Read(buffer)
	if n == 0 {
		return "", fmt.Errorf("reading %s: %w", s.name, err)
	}
	return strings.TrimSpace(string(buffer[:n])), nil
}

// write to a file that exists, as a shell does. The kernel answers a value that it does not take with an error.
func (h *Host) write(path, value string) (err error) {
	file, err := os.OpenFile(filepath.Join(h.Root, path), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(value)
	return err
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

// Offered are the words of a setting like "none [mq-deadline] kyber".
func Offered(text string) []string {
	return strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(text))
}
