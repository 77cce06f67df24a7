// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"github.com/benchrun-dev/benchrun/internal/loader/usage"
	"github.com/benchrun-dev/benchrun/internal/result"
)

var errNoServer = errors.New("no process of the server was found")

// readAll is read for a server of several processes: the sums of all that are there, and of those that the first one has seen
// end. Only of the first is known how often it waited.
func readAll(proc string, names []string) (*result.ProcessFacts, error) {
	facts, err := read(proc, names)
	if err != nil {
		return nil, err
	}
	fs, server, first, err := find(proc, names)
	if err != nil {
		return nil, err
	}
	facts.UserMicros += micros(uint(max(first.CUTime, 0)))
	facts.SystemMicros += micros(uint(max(first.CSTime, 0)))
	facts.MinorFaults += int64(first.CMinFlt) //nolint:gosec // far below the largest number
	facts.MajorFaults += int64(first.CMajFlt) //nolint:gosec // as above
	facts.VoluntarySwitches, facts.InvoluntarySwitches = -1, -1
	all, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	for _, p := range all {
		stat, err := p.Stat()
		if err != nil || p.PID == server.PID || !slices.Contains(names, stat.Comm) {
			continue
		}
		facts.UserMicros += micros(stat.UTime)
		facts.SystemMicros += micros(stat.STime)
		facts.MinorFaults += int64(stat.MinFlt) //nolint:gosec // as above
		facts.MajorFaults += int64(stat.MajFlt) //nolint:gosec // as above
		if io, err := p.IO(); err == nil && facts.ReadBytes >= 0 {
			facts.ReadBytes += number(io.ReadBytes)
			facts.WriteBytes += number(io.WriteBytes)
			facts.ReadCalls += number(io.SyscR)
			facts.WriteCalls += number(io.SyscW)
		}
		if status, err := p.NewStatus(); err == nil {
			facts.MaxRSSBytes = max(facts.MaxRSSBytes, number(status.VmHWM))
		}
	}
	return facts, nil
}

// read finds the server's process, by the names that it may have, in a proc file system, and reads what the kernel says of it.
func read(proc string, names []string) (*result.ProcessFacts, error) {
	fs, server, stat, err := find(proc, names)
	if err != nil {
		return nil, err
	}
	facts := &result.ProcessFacts{
		Process:    fmt.Sprintf("%d@%d", stat.PID, stat.Starttime),
		UserMicros: micros(stat.UTime), SystemMicros: micros(stat.STime),
		MinorFaults: int64(stat.MinFlt), MajorFaults: int64(stat.MajFlt), //nolint:gosec // far below the largest number
		ReadBytes: -1, WriteBytes: -1, ReadCalls: -1, WriteCalls: -1,
		VoluntarySwitches: -1, InvoluntarySwitches: -1, MaxRSSBytes: -1,
	}
	if io, err := server.IO(); err == nil {
		facts.ReadBytes, facts.WriteBytes = number(io.ReadBytes), number(io.WriteBytes)
		facts.ReadCalls, facts.WriteCalls = number(io.SyscR), number(io.SyscW)
	}
	if status, err := server.NewStatus(); err == nil {
		facts.MaxRSSBytes = number(status.VmHWM)
	}
	switches(fs, stat.PID, facts)
	limits(filepath.Join(proc, strconv.Itoa(stat.PID)), facts)
	return facts, nil
}

func find(proc string, names []string) (fs procfs.FS, server procfs.Proc, first procfs.ProcStat, err error) {
	if fs, err = procfs.NewFS(proc); err != nil {
		return fs, server, first, fmt.Errorf("opening %s: %w", proc, err)
	}
	all, err := fs.AllProcs()
	if err != nil {
		return fs, server, first, fmt.Errorf("listing processes: %w", err)
	}
	for _, p := range all {
		stat, err := p.Stat()
		if err != nil || !slices.Contains(names, stat.Comm) || stat.State == "Z" {
			continue // it may have ended meanwhile
		}
		if server.PID == 0 || stat.Starttime < first.Starttime {
			server, first = p, stat
		}
	}
	if server.PID == 0 {
		err = errNoServer
	}
	return fs, server, first, err
}

// switches sums those of all threads; of a thread that ends meanwhile nothing is known, and nothing of the sum.
func switches(fs procfs.FS, pid int, facts *result.ProcessFacts) {
	threads, err := fs.AllThreads(pid)
	if err != nil || len(threads) == 0 {
		return
	}
	var voluntary, involuntary uint64
	for _, t := range threads {
		status, err := t.NewStatus()
		if err != nil {
			return
		}
		voluntary += status.VoluntaryCtxtSwitches
		involuntary += status.NonVoluntaryCtxtSwitches
	}
	facts.VoluntarySwitches, facts.InvoluntarySwitches = number(voluntary), number(involuntary)
}

// limits reads how the process's own container is held back, in the file system that the process sees.
func limits(dir string, facts *result.ProcessFacts) {
	facts.CPULimitMillis, facts.ThrottledMicros = -1, -1
	groups, err := os.ReadFile(filepath.Join(dir, "cgroup"))
	if err != nil {
		return
	}
	root := os.DirFS(filepath.Join(dir, "root"))
	facts.CPULimitMillis = usage.LimitIn(root, string(groups))
	if t := usage.ThrottledIn(root, string(groups)); t >= 0 {
		facts.ThrottledMicros = t.Microseconds()
	}
}

// sizeOf the files in a folder and below it; 0 if it cannot be read. A file that is gone by the time it is looked at has none,
// and what the server's user may not read is not the server's.
func sizeOf(folder string) int64 {
	sum := int64(0)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if path != folder && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if info, err := entry.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	if err != nil {
		return 0
	}
	return sum
}

func micros(count uint) int64 {
	const ticks = 100 // how often a second the kernel counts CPU time for user programs, on every architecture
	return number(uint64(count)) * int64(time.Second/ticks/time.Microsecond)
}

func number(n uint64) int64 {
	return int64(n) //nolint:gosec // counters of the kernel that would take centuries
}
