// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package probe reads what a database's node and data volume are like, before the server starts: half of every
// difference between two people's numbers is here. What cannot be read is said to be unknown, and is no error.
package probe

import (
	"context"
	"encoding/json"
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
		FdatasyncMicros:      fdatasync(ctx, data),
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

// Encode is a fingerprint as it stands in a termination message.
func Encode(f result.Fingerprint) ([]byte, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encoding the fingerprint: %w", err)
	}
	return data, nil
}

// resolved is the directory's path without symbolic links, which mounts know nothing of.
func resolved(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return dir
}

// read is a file's text; empty if it cannot be read.
func read(root, path string) string {
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return ""
	}
	return string(data)
}

// line is the text of a file with one line, or unknown.
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

// cpu is the processor's model, and how many of them the machine has.
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

// memory is the machine's memory in bytes, -1 if it is not known.
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
		if slices.Contains(numbers, l.Device) || len(numbers) > 0 && isLoop(numbers[0]) {
			parts = append(parts, l.String())
		}
	}
	if len(parts) == 0 {
		return result.NoLimit
	}
	return strings.Join(parts, "; ")
}

// isLoop says whether a device number is that of a loop device.
func isLoop(number string) bool { return strings.HasPrefix(number, "7:") }

// Disk is the name in /sys/block of the disk below a directory, or unknown. The file system of the machine is at root.
func Disk(root, data string) string {
	m, found := mountOf(read(root, "proc/self/mountinfo"), resolved(data))
	if !found {
		return result.Unknown
	}
	dir := disk(root, m)
	if dir == "" {
		return result.Unknown
	}
	return orUnknown(filepath.Base(dir))
}
