// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package usage reads what the loader consumes: CPU time, memory, and how long its container was held back.
package usage

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// Usage is what the process has consumed so far.
type Usage struct {
	User, System time.Duration
	// Throttled is negative if it is not known.
	Throttled   time.Duration
	MaxRSSBytes int64
}

// Read reads the process's consumption; root is the root of the file system.
func Read(root fs.FS) (Usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return Usage{}, fmt.Errorf("reading the CPU time: %w", err)
	}
	return Usage{
		User:        time.Duration(r.Utime.Nano()),
		System:      time.Duration(r.Stime.Nano()),
		Throttled:   Throttled(root),
		MaxRSSBytes: r.Maxrss << 10,
	}, nil
}

// Facts are what was consumed since an earlier reading.
func (u Usage) Facts(earlier Usage) result.ClientFacts {
	f := result.ClientFacts{
		UserMicros:      (u.User - earlier.User).Microseconds(),
		SystemMicros:    (u.System - earlier.System).Microseconds(),
		ThrottledMicros: -1,
		MaxRSSBytes:     u.MaxRSSBytes,
	}
	if u.Throttled >= earlier.Throttled && earlier.Throttled >= 0 {
		f.ThrottledMicros = (u.Throttled - earlier.Throttled).Microseconds()
	}
	return f
}

// Throttled is how long the container was held back at its CPU limit; -1 if that cannot be read.
func Throttled(root fs.FS) time.Duration {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return -1
	}
	return ThrottledIn(root, string(groups))
}

// ThrottledIn is Throttled for a process whose root is given, and the text of its control groups.
func ThrottledIn(root fs.FS, groups string) time.Duration {
	if t, found := first(root, filesOf(groups, "cpu", "cpu.stat", "cpu.stat"), parseThrottled); found {
		return t
	}
	return -1
}

// filesOf are the places where a process of these control groups may find a file of a controller, by its names in both versions;
// an empty name is no file. Version 1 comes first: where it has the controller, version 2 does not. A container may see its own
// group at the top, or below the host's.
func filesOf(groups, controller, nameV1, nameV2 string) []string {
	var v1, v2 []string
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		controllers, group := parts[1], path.Clean("/"+parts[2])
		switch {
		case controllers == "" && nameV2 != "":
			v2 = append(v2, path.Join("sys/fs/cgroup", group, nameV2), path.Join("sys/fs/cgroup", nameV2))
		case nameV1 != "" && slices.Contains(strings.Split(controllers, ","), controller):
			for _, mount := range []string{controllers, controller, "cpuacct,cpu"} {
				v1 = append(v1, path.Join("sys/fs/cgroup", mount, group, nameV1), path.Join("sys/fs/cgroup", mount, nameV1))
			}
		}
	}
	return append(v1, v2...)
}

// parseThrottled finds the throttled time in a cpu.stat: microseconds in version 2, nanoseconds in version 1.
func parseThrottled(_, text string) (time.Duration, bool) {
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, " ")
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "throttled_usec":
			return time.Duration(n) * time.Microsecond, true
		case "throttled_time":
			return time.Duration(n), true
		}
	}
	return 0, false
}

// Root is the root of the file system that the process sees.
func Root() fs.FS { return os.DirFS("/") }

// DeviceLimit is what a control group may read from a block device and write to it, each second.
type DeviceLimit struct {
	// Device is its number, major:minor.
	Device string
	// Text is for example "write 100/s on 254:0".
	Text string
}

// blockIOLimits by their names in version 2, with the files that version 1 has in their place.
var blockIOLimits = []struct{ name, fileV1, format string }{
	{"riops", "blkio.throttle.read_iops_device", "read %d/s"},
	{"wiops", "blkio.throttle.write_iops_device", "write %d/s"},
	{"rbps", "blkio.throttle.read_bps_device", "read %d bytes/s"},
	{"wbps", "blkio.throttle.write_bps_device", "write %d bytes/s"},
}

// BlockIO are the limits of a process whose root is given, and the text of its control groups, in the order of the devices. It is
// false if they cannot be read.
func BlockIO(root fs.FS, groups string) (limits []DeviceLimit, known bool) {
	// The limits of each device by name; 0 is none.
	found := map[string]map[string]int64{}
	note := func(device, name, value string) {
		if found[device] == nil {
			found[device] = map[string]int64{}
		}
		found[device][name] = positive(value)
	}
	for _, l := range blockIOLimits {
		text, ok := first(root, filesOf(groups, "blkio", l.fileV1, ""), whole)
		known = known || ok
		for line := range strings.Lines(text) {
			if fields := strings.Fields(line); len(fields) == 2 {
				note(fields[0], l.name, fields[1])
			}
		}
	}
	if !known {
		var text string
		text, known = first(root, filesOf(groups, "blkio", "", "io.max"), whole)
		for line := range strings.Lines(text) {
			fields := strings.Fields(line)
			for _, field := range fields[min(1, len(fields)):] {
				name, value, _ := strings.Cut(field, "=")
				note(fields[0], name, value)
			}
		}
	}
	for _, device := range slices.Sorted(maps.Keys(found)) {
		var parts []string
		for _, l := range blockIOLimits {
			if n := found[device][l.name]; n > 0 {
				parts = append(parts, fmt.Sprintf(l.format, n))
			}
		}
		if len(parts) > 0 {
			limits = append(limits, DeviceLimit{device, strings.Join(parts, ", ") + " on " + device})
		}
	}
	return limits, known
}

// first is what is read of the first file that can be read and has it.
func first[T any](root fs.FS, files []string, read func(file, text string) (T, bool)) (value T, found bool) {
	for _, file := range files {
		if data, err := fs.ReadFile(root, file); err == nil {
			if value, found = read(file, string(data)); found {
				return value, true
			}
		}
	}
	return value, false
}

func whole(_, text string) (string, bool) { return text, true }

// positive is the number in a text; 0 if it is none, or below 0.
func positive(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}

// LimitIn is the CPU limit, in thousandths of a CPU, of a process whose root is given, and the text of its control groups. 0
// is none; -1 if that cannot be read.
func LimitIn(root fs.FS, groups string) int64 {
	limit, found := first(root, filesOf(groups, "cpu", "cpu.cfs_quota_us", "cpu.max"), func(file, text string) (int64, bool) {
		if dir, name := path.Split(file); name == "cpu.cfs_quota_us" {
			period, _ := fs.ReadFile(root, dir+"cpu.cfs_period_us") // a limit without it is none
			text += " " + string(period)
		}
		return parseLimit(text)
	})
	if !found {
		return -1
	}
	return limit
}

// parseLimit reads a quota and the period that it is for: "max 100000" or, in version 1, "-1 100000" is no limit.
func parseLimit(text string) (millis int64, found bool) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, false
	}
	if fields[0] == "max" || fields[0] == "-1" {
		return 0, true
	}
	quota, period := positive(fields[0]), positive(fields[1])
	if quota == 0 || period == 0 {
		return 0, false
	}
	return quota * 1000 / period, true
}
