// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// process is a line of /proc/PID/stat: who it is, whose child, and the processor time of itself and of its children that ended.
type process struct {
	pid, parent int
	name        string
	cpu         time.Duration
}

// ticks of the clock in /proc: 100 a second on every Linux.
const ticks = 10 * time.Millisecond

// parseStat reads such a line. The name stands in brackets and may have brackets in it.
func parseStat(line string) (process, bool) {
	open, closing := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || closing < open {
		return process{}, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line[:open]))
	fields := strings.Fields(line[closing+1:])
	if err != nil || len(fields) < 15 {
		return process{}, false
	}
	p := process{pid: pid, name: line[open+1 : closing]}
	if p.parent, err = strconv.Atoi(fields[1]); err != nil {
		return process{}, false
	}
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.Atoi(field)
		if err != nil {
			return process{}, false
		}
		p.cpu += time.Duration(n) * ticks
	}
	return p, true
}

// processes are all that /proc has: none where there is no /proc.
func processes(proc string) map[int]process {
	found := map[int]process{}
	files, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "stat"))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		if p, ok := parseStat(string(content)); ok {
			found[p.pid] = p
		}
	}
	return found
}

// dockerCPU is the processor time of Docker's daemons and of everything below them: the cluster's nodes, and what runs there.
// No script waits for these, so no step has their time.
func dockerCPU(proc string) time.Duration {
	all := processes(proc)
	var sum time.Duration
	for _, p := range all {
		for at, ok := p, true; ok; at, ok = all[at.parent] {
			if at.name == "dockerd" || strings.HasPrefix(at.name, "containerd") {
				sum += p.cpu
				break
			}
		}
	}
	return sum
}

// parentCPU is what `go run` took to compile this program; nothing if that is not how it was started.
func parentCPU(proc string, parent int) time.Duration {
	if p := processes(proc)[parent]; p.name == "go" {
		return p.cpu
	}
	return 0
}
