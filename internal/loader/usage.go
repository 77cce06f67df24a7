// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// usage is what the process has consumed so far.
type usage struct {
	user, system time.Duration
	// throttled is negative if it is not known.
	throttled   time.Duration
	maxRSSBytes int64
}

// readUsage reads the process's consumption; root is the root of the file system.
func readUsage(root fs.FS) (usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usage{}, fmt.Errorf("reading the CPU time: %w", err)
	}
	return usage{
		user:        time.Duration(r.Utime.Nano()),
		system:      time.Duration(r.Stime.Nano()),
		throttled:   throttledTime(root),
		maxRSSBytes: r.Maxrss << 10,
	}, nil
}

// facts are what was consumed since an earlier reading.
func (u usage) facts(earlier usage) result.ClientFacts {
	f := result.ClientFacts{
		UserMicros:      (u.user - earlier.user).Microseconds(),
		SystemMicros:    (u.system - earlier.system).Microseconds(),
		ThrottledMicros: -1,
		MaxRSSBytes:     u.maxRSSBytes,
	}
	if u.throttled >= earlier.throttled && earlier.throttled >= 0 {
		f.ThrottledMicros = (u.throttled - earlier.throttled).Microseconds()
	}
	return f
}

// throttledTime is how long the container was held back at its CPU limit; -1 if that cannot be read.
func throttledTime(root fs.FS) time.Duration {
	const unknown = time.Duration(-1)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return unknown
	}
	for _, file := range cpuStatFiles(string(groups)) {
		data, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		if t, found := parseThrottled(data); found {
			return t
		}
	}
	return unknown
}

// cpuStatFiles are the places where a process of these control groups may find its CPU statistics. Version 1 comes
// first: where it has the CPU controller, version 2 does not. A container may see its own group at the top, or below
// the host's.
func cpuStatFiles(groups string) []string {
	var v1, v2 []string
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		controllers, group := parts[1], path.Clean("/"+parts[2])
		if controllers == "" {
			v2 = append(v2, path.Join("sys/fs/cgroup", group, "cpu.stat"), "sys/fs/cgroup/cpu.stat")
			continue
		}
		for controller := range strings.SplitSeq(controllers, ",") {
			if controller != "cpu" {
				continue
			}
			for _, mount := range []string{controllers, "cpu", "cpuacct,cpu"} {
				v1 = append(v1, path.Join("sys/fs/cgroup", mount, group, "cpu.stat"), path.Join("sys/fs/cgroup", mount, "cpu.stat"))
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

// hostRoot is the root of the file system that the process sees.
func hostRoot() fs.FS { return os.DirFS("/") }
