// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/loader/host"
)

// mount is what the kernel says of one mounted file system.
type mount struct {
	// device is the number of the block device, major:minor.
	device     string
	point      string
	filesystem string
	// source is the device's name, or whatever stands for it.
	source  string
	options string
}

// mountOf finds the mount that a path without symbolic links lies on, in the text of mountinfo: the one with the
// longest mount point, and of several at the same point the last, which covers the others.
func mountOf(mountinfo, path string) (mount, bool) {
	var best mount
	found := false
	for text := range strings.Lines(mountinfo) {
		m, ok := parseMount(text)
		if ok && below(path, m.point) && (!found || len(m.point) >= len(best.point)) {
			best, found = m, true
		}
	}
	return best, found
}

// below says whether path is dir or lies in it.
func below(path, dir string) bool {
	return dir == "/" || path == dir || strings.HasPrefix(path, dir+"/")
}

// parseMount reads a line of mountinfo, which proc(5) describes:
//
//	36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue
func parseMount(text string) (mount, bool) {
	own, super, found := strings.Cut(text, " - ")
	left, right := strings.Fields(own), strings.Fields(super)
	if !found || len(left) < 6 || len(right) < 2 {
		return mount{}, false
	}
	options := strings.Split(left[5], ",")
	if len(right) > 2 {
		// Those of the file system itself, of which rw and ro say nothing about this mount.
		for option := range strings.SplitSeq(right[2], ",") {
			if option != "rw" && option != "ro" && !slices.Contains(options, option) {
				options = append(options, option)
			}
		}
	}
	return mount{
		device: left[2], point: unescape(left[4]),
		filesystem: right[0], source: unescape(right[1]), options: strings.Join(options, ","),
	}, true
}

// unescape restores the characters that mountinfo writes in octal.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// disk is the folder of sysfs of the disk below a mount; empty if it is not known.
func disk(root string, m mount) string {
	list := devices(root, m)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// devices are the directories in sysfs of the block device below a mount, and of those that it lies on: the disk comes last.
// There are none if they are not known.
func devices(root string, m mount) []string {
	dir := filepath.Join(root, "sys/dev/block", m.device)
	if _, err := os.Stat(dir); err != nil && strings.HasPrefix(m.source, "/dev/") {
		// File systems like btrfs have a number of their own; the source is a device nevertheless.
		dir = filepath.Join(root, "sys/class/block", filepath.Base(m.source))
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	list := []string{dir}
	// A volume may lie on another one, and that on a disk: device mapper's own scheduler is none.
	const depth = 5
	for range depth {
		if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
			dir = filepath.Dir(dir)
			list = append(list, dir)
		}
		lower, ok := onlyEntry(filepath.Join(dir, "slaves"))
		if !ok {
			break
		}
		if lower, err = filepath.EvalSymlinks(lower); err != nil {
			break
		}
		dir = lower
		list = append(list, dir)
	}
	return list
}

// scheduler is the I/O scheduler of the disk below a mount; empty if it is not known.
func scheduler(root string, m mount) string {
	dir := disk(root, m)
	if dir == "" {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(dir, "queue/scheduler"))
	if err != nil {
		return ""
	}
	return host.Chosen(strings.TrimSpace(string(data)))
}

// onlyEntry is the path of a directory's entry if it has exactly one.
func onlyEntry(dir string) (string, bool) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		return "", false
	}
	return filepath.Join(dir, entries[0].Name()), true
}
