// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"cmp"
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

// member is one of the server's processes.
type member struct {
	procfs.Proc
	stat procfs.ProcStat
}

// read finds the server's process, by the names that it may have, in a proc file system, and reads what the kernel says of it. Of
// a server of several, it is the sums of all that are there, and of those that the first one has seen end; how often they waited
// is then unknown.
func read(proc string, names []string, several bool) (*result.ProcessFacts, error) {
	fs, all, err := find(proc, names)
	if err != nil {
		return nil, err
	}
	first := all[0]
	facts := &result.ProcessFacts{
		Process:           fmt.Sprintf("%d@%d", first.PID, first.stat.Starttime),
		VoluntarySwitches: -1, InvoluntarySwitches: -1, MaxRSSBytes: -1,
	}
	limits(filepath.Join(proc, strconv.Itoa(first.PID)), facts)
	if !several {
		all = all[:1]
		switches(fs, first.PID, facts)
	} else {
		facts.UserMicros, facts.SystemMicros = micros(uint(max(first.stat.CUTime, 0))), micros(uint(max(first.stat.CSTime, 0)))
		facts.MinorFaults, facts.MajorFaults = number(uint64(first.stat.CMinFlt)), number(uint64(first.stat.CMajFlt))
	}
	if _, err := first.IO(); err != nil {
		facts.ReadBytes, facts.WriteBytes, facts.ReadCalls, facts.WriteCalls = -1, -1, -1, -1
	}
	for _, p := range all {
		p.addTo(facts)
	}
	return facts, nil
}

func (p member) addTo(facts *result.ProcessFacts) {
	facts.UserMicros += micros(p.stat.UTime)
	facts.SystemMicros += micros(p.stat.STime)
	facts.MinorFaults += number(uint64(p.stat.MinFlt))
	facts.MajorFaults += number(uint64(p.stat.MajFlt))
	if status, err := p.NewStatus(); err == nil {
		facts.MaxRSSBytes = max(facts.MaxRSSBytes, number(status.VmHWM))
	}
	io, err := p.IO()
	if err != nil || facts.ReadBytes < 0 { // of one that has ended meanwhile, the kernel adds the counts to those of the first
		return
	}
	facts.ReadBytes += number(io.ReadBytes)
	facts.WriteBytes += number(io.WriteBytes)
	facts.ReadCalls += number(io.SyscR)
	facts.WriteCalls += number(io.SyscW)
}

// find returns the processes of those names, of which there is one at least. The first has begun first.
func find(proc string, names []string) (procfs.FS, []member, error) {
	fs, err := procfs.NewFS(proc)
	if err != nil {
		return fs, nil, fmt.Errorf("opening %s: %w", proc, err)
	}
	all, err := fs.AllProcs()
	if err != nil {
		return fs, nil, fmt.Errorf("listing processes: %w", err)
	}
	var found []member
	for _, p := range all {
		stat, err := p.Stat()
		if err != nil || !slices.Contains(names, stat.Comm) || stat.State == "Z" {
			continue // it may have ended meanwhile
		}
		found = append(found, member{p, stat})
	}
	if found == nil {
		return fs, nil, errNoServer
	}
	slices.SortStableFunc(found, func(a, b member) int { return cmp.Compare(a.stat.Starttime, b.stat.Starttime) })
	return fs, found, nil
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
