// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package probe reads what a database's node and data volume are like, before the server starts: half of every
// difference between two people's numbers is here. What cannot be read is said to be unknown, and is no error.
package probe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/loader/host"
	"github.com/benchrun-dev/benchrun/internal/loader/usage"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// maxText bounds each text of a fingerprint: mount options of an overlay have no end.
const maxText = 300

// Read is the fingerprint of the machine whose file system is at root ("/" but in tests) and of the data directory. The
// directory is left as it was. Unknown numbers are -1, and no calls were measured if their number is 0.
func Read(ctx context.Context, root, data string) result.Fingerprint {
	f := result.Fingerprint{
		Version:              result.FingerprintVersion,
		Kernel:               line(root, "proc/sys/kernel/osrelease"),
		Swappiness:           line(root, "proc/sys/vm/swappiness"),
		TransparentHugePages: host.Chosen(line(root, "sys/kernel/mm/transparent_hugepage/enabled")),
		CPUGovernor:          line(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		MemoryBytes:          memory(read(root, "proc/meminfo")),
		FdatasyncMicros:      fully.fdatasync(ctx, data),
	}
	f.CPUModel, f.CPUs = cpu(read(root, "proc/cpuinfo"))
	m, found := mountOf(read(root, "proc/self/mountinfo"), resolved(data))
	f.Filesystem, f.MountOptions, f.Device = orUnknown(m.filesystem), orUnknown(m.options), orUnknown(m.source)
	f.IOScheduler, f.BlockIO = result.Unknown, result.Unknown
	if found {
		f.IOScheduler, f.BlockIO = orUnknown(scheduler(root, m)), orUnknown(blockIO(root, m))
	}
	return f
}

func resolved(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return dir
}

func read(root, path string) string {
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return ""
	}
	return string(data)
}

func line(root, path string) string { return orUnknown(strings.TrimSpace(read(root, path))) }

func orUnknown(s string) string {
	if s == "" {
		return result.Unknown
	}
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}

func cpu(info string) (model string, count int) {
	values := map[string]string{}
	for text := range strings.Lines(info) {
		name, value, _ := strings.Cut(text, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if name == "processor" {
			count++
		}
		if value != "" {
			values[name] = value
		}
	}
	if count == 0 {
		count = runtime.NumCPU()
	}
	model = values["model name"]
	if part := values["CPU part"]; model == "" && part != "" {
		// On arm64 the kernel knows numbers only.
		model = fmt.Sprintf("implementer %s, part %s", values["CPU implementer"], part)
	}
	return orUnknown(model), count
}

func memory(info string) int64 {
	for text := range strings.Lines(info) {
		fields := strings.Fields(text)
		if len(fields) == 3 && fields[0] == "MemTotal:" && fields[2] == "kB" {
			if kib, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				return kib << 10
			}
		}
	}
	return -1
}

// blockIO says what limits this process, and with it all of its Pod, on the block device below a mount or on one that it lies on:
// for example "write 100/s on 254:0", or none. It is empty if the limits cannot be read.
func blockIO(root string, m mount) string {
	limits, known := usage.BlockIO(os.DirFS(root), read(root, "proc/self/cgroup"))
	if !known {
		return ""
	}
	var numbers, parts []string
	for _, dir := range devices(root, m) {
		numbers = append(numbers, strings.TrimSpace(read(dir, "dev")))
	}
	for _, l := range limits {
		// The file that a loop device stands for is on a disk that a container cannot find. What is written to the device counts
		// as the writer's on that disk too.
		if slices.Contains(numbers, l.Device) || len(numbers) > 0 && strings.HasPrefix(numbers[0], "7:") {
			parts = append(parts, l.Text)
		}
	}
	if len(parts) == 0 {
		return result.NoLimit
	}
	return strings.Join(parts, "; ")
}

// Disk is the name in /sys/block of the disk below a directory, or unknown. The file system of the machine is at root.
func Disk(root, data string) string {
	if m, found := mountOf(read(root, "proc/self/mountinfo"), resolved(data)); found {
		if dir := disk(root, m); dir != "" {
			return orUnknown(filepath.Base(dir))
		}
	}
	return result.Unknown
}

// mount is what the kernel says of one mounted file system.
type mount struct{ device, point, filesystem, source, options string }

// mountOf finds the mount that a path without symbolic links lies on, in the text of mountinfo: the one with the
// longest mount point, and of several at the same point the last, which covers the others.
func mountOf(mountinfo, path string) (best mount, found bool) {
	for text := range strings.Lines(mountinfo) {
		m, ok := parseMount(text)
		if ok && below(path, m.point) && len(m.point) >= len(best.point) {
			best, found = m, true
		}
	}
	return best, found
}

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
		if dir = onlyEntry(filepath.Join(dir, "slaves")); dir == "" {
			break
		}
		list = append(list, dir)
	}
	return list
}

func scheduler(root string, m mount) string {
	dir := disk(root, m)
	if dir == "" {
		return ""
	}
	return host.Chosen(strings.TrimSpace(read(dir, "queue/scheduler")))
}

// onlyEntry is what the only entry of a folder links to; empty if there is not one.
func onlyEntry(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		return ""
	}
	target, _ := filepath.EvalSymlinks(filepath.Join(dir, entries[0].Name()))
	return target
}
