// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package usage reads what the loader consumes: CPU time, memory, and how long its container was held back.
package usage

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
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
	for _, file := range groupFiles(groups, "cpu.stat", "cpu.stat") {
		data, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		if t, found := parseThrottled(data); found {
			return t
		}
	}
	return -1
}

// groupFiles are filesOf the CPU controller.
func groupFiles(groups, nameV1, nameV2 string) []string {
	return filesOf(groups, "cpu", nameV1, nameV2)
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
func parseThrottled(data []byte) (time.Duration, bool) {
	scanner := bufio.NewScanner(bytes.NewReader(data))
	for scanner.Scan() {
		name, value, _ := strings.Cut(scanner.Text(), " ")
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
