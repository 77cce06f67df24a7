// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// endAtMost is how long the kernel may take to end processes that were killed.
	endAtMost = 10 * time.Second
	// endEvery is how long a look at them is apart from the next.
	endEvery = 2 * time.Millisecond
)

// contained says whether this process is the parent of all that its programs leave behind.
var contained atomic.Bool

// Contain separates this process from the programs that it starts, which run as the same user. They can neither open its standard
// output, its memory or its environment by /proc, nor trace it; and what they leave running becomes its child, which EndAll
// finds. It is for a process that does nothing else than to execute programs, one at a time.
func Contain() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hiding this process from the programs that it starts: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopting the processes that programs leave behind: %w", err)
	}
	// What this process was started with beyond its standard files is none of theirs. A kernel before 5.11 cannot say so at
	// once; there it is what a container runtime leaves open, which is nothing.
	err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("keeping open files from the programs that it starts: %w", err)
	}
	contained.Store(true)
	return nil
}

// EndAll ends every process that programs have left behind, in whatever group or session, and returns when none is left. Without
// Contain it does nothing.
func EndAll() error {
	if !contained.Load() {
		return nil
	}
	for until := time.Now().Add(endAtMost); ; time.Sleep(endEvery) {
		left, err := endChildren()
		switch {
		case err != nil || len(left) == 0:
			return err
		case time.Now().After(until):
			return fmt.Errorf("the program left processes that the kernel did not end within %s: %s", endAtMost, names(left))
		}
	}
}

// endChildren kills all children, and takes leave of those that have ended; their own children are then this process's. It
// returns those that were there.
func endChildren() ([]int, error) {
	if os.Getpid() == 1 {
		// All of this namespace at once: a process that starts others cannot outrun it.
		if err := syscall.Kill(-1, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return nil, fmt.Errorf("ending the processes of this container: %w", err)
		}
	}
	all, err := children()
	if err != nil {
		return nil, err
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // it may not have ended yet: the next look finds it again
	}
	return all, nil
}

// children of this process, from the table of all processes: not every kernel has a list of them.
func children() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for the processes of the program: %w", err)
	}
	parent := strconv.Itoa(os.Getpid())
	var all []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// "PID (NAME) STATE PARENT …", where the name may have anything in it.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == parent {
			all = append(all, pid)
		}
	}
	return all, nil
}

// names are processes by their numbers and names, for a message.
func names(pids []int) string {
	var all []string
	for _, pid := range pids {
		name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm")) // empty once it has ended
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d %s", pid, name)))
	}
	return strings.Join(all, ", ")
}
