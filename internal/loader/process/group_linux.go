// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// haltAtMost is how long the kernel may take to stop all threads of a program: one that waits for a disk stops after it.
const haltAtMost, haltEvery = 10 * time.Second, 500 * time.Microsecond

// Halt stops all processes of a program, in whatever group or session, and returns when none of their threads runs. It is an
// error if a process cannot be stopped, or has left the program. One that has ended is halted.
func (p *Program) Halt() error {
	_ = p.signal(syscall.SIGSTOP) // usually, that is all of them
	before := -1
	for until := time.Now().Add(haltAtMost); ; time.Sleep(haltEvery) {
		all, err := p.processes()
		if err != nil {
			return err
		}
		going := slices.DeleteFunc(slices.Clone(all), stopped)
		for _, pid := range going {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			releaseFork(pid, all)
		}
		// Twice, because one that is being stopped may have started another one meanwhile.
		if len(going) == 0 && len(all) == before {
			return running.checkLeft()
		}
		if before = len(all); len(going) > 0 {
			before = -1
		}
		if time.Now().After(until) {
			return fmt.Errorf("the program was not halted within %s: %s", haltAtMost, names(going))
		}
	}
}

// releaseFork has the children of a process go on for which it waits in vfork: it cannot be stopped before they are programs of
// their own, and they were stopped already.
func releaseFork(pid int, all []int) {
	if it, there := processOf(statOf(pid)); !there || it.state != "D" {
		return
	}
	for _, other := range all {
		if child, there := processOf(statOf(other)); there && child.parent == pid && child.state == "T" {
			_ = syscall.Kill(other, syscall.SIGCONT)
		}
	}
}

// Continue has all processes of a halted program go on.
func (p *Program) Continue() error {
	all, err := p.processes()
	if err != nil {
		return err
	}
	for _, pid := range all {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("continuing the program: %w", err)
		}
	}
	return nil
}

// processes are the program and all that descend from it, those that have ended left out.
func (p *Program) processes() ([]int, error) {
	table, err := processes()
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(table, func(_ int, it process) bool { return it.state == "Z" || it.state == "X" })
	var all []int
	if _, there := table[p.cmd.Process.Pid]; there {
		all = append(all, p.cmd.Process.Pid)
	}
	for i := 0; i < len(all); i++ {
		for pid, it := range table {
			if it.parent == all[i] {
				all = append(all, pid)
			}
		}
	}
	return all, nil
}

func stopped(pid int) bool {
	threads, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	if err != nil {
		return true // it has ended
	}
	for _, thread := range threads {
		it, there := processOf(filepath.Join("/proc", strconv.Itoa(pid), "task", thread.Name(), "stat"))
		if there && it.state != "T" && it.state != "t" && it.state != "Z" && it.state != "X" {
			return false
		}
	}
	return true
}

// endAtMost is how long the kernel may take to end processes that were killed, endEvery how long two looks at them are apart.
const endAtMost, endEvery = 10 * time.Second, 2 * time.Millisecond

// contained says whether this process is the parent of all that its programs leave behind.
var contained atomic.Bool

// Contain separates this process from the programs that it starts, which run as the same user. They can neither open its standard
// output, its memory or its environment by /proc, nor trace it; and what they leave running becomes its child, which EndAll
// finds. It is for a process that does nothing else than to execute programs.
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

// programs are those that run, of which there are several if several sides are measured. What else this process has for children
// was left behind by a program.
type programs struct {
	mu   sync.Mutex
	pids map[int]bool
}

var running = programs{pids: map[int]bool{}}

func (p *programs) start(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	p.pids[cmd.Process.Pid] = true
	return nil
}

func (p *programs) ended(cmd *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pids, cmd.Process.Pid)
}

// EndAll ends every process that programs have left behind, in whatever group or session, and returns when none is left. While
// other programs run, one may be theirs, and is waited for only. Without Contain it does nothing.
func EndAll() error {
	if !contained.Load() {
		return nil
	}
	for until := time.Now().Add(endAtMost); ; time.Sleep(endEvery) {
		left, err := running.endLeft()
		switch {
		case err != nil || len(left) == 0:
			return err
		case time.Now().After(until):
			return fmt.Errorf("the program left processes that did not end within %s: %s", endAtMost, names(left))
		}
	}
}

// endLeft kills all children but the programs that run, and takes leave of those that have ended; their own children are then
// this process's. It returns those that were there.
func (p *programs) endLeft() ([]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	alone := len(p.pids) == 0
	if alone && os.Getpid() == 1 {
		// All of this namespace at once: a process that starts others cannot outrun it.
		if err := syscall.Kill(-1, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return nil, fmt.Errorf("ending the processes of this container: %w", err)
		}
	}
	all, err := p.left()
	for _, pid := range all {
		if alone {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // it may not have ended yet: the next look finds it again
	}
	return all, err
}

// checkLeft is the error that a program has left a process behind while it runs.
func (p *programs) checkLeft() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, err := p.left()
	if err != nil || len(all) == 0 || !contained.Load() { // otherwise, what has left the program is another's child
		return err
	}
	return fmt.Errorf("the program leaves processes behind, which cannot be halted with it: %s; use alternation: Trials", names(all))
}

func (p *programs) left() ([]int, error) {
	table, err := processes()
	var all []int
	for pid, it := range table {
		if it.parent == os.Getpid() && !p.pids[pid] {
			all = append(all, pid)
		}
	}
	return all, err
}

type process struct {
	parent int
	// state is a letter: T is stopped, Z has ended.
	state string
}

// processes are those of this container by their numbers, from the table of all: not every kernel has a list of children.
func processes() (map[int]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("looking for the processes of the program: %w", err)
	}
	table := map[int]process{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if it, there := processOf(statOf(pid)); there {
			table[pid] = it
		}
	}
	return table, nil
}

func statOf(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid), "stat") }

// processOf reads a file stat of a process or of a thread; false if that has ended.
func processOf(file string) (process, bool) {
	stat, err := os.ReadFile(file)
	if err != nil {
		return process{}, false
	}
	// "PID (NAME) STATE PARENT …", where the name may have anything in it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return process{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	return process{parent: parent, state: fields[0]}, err == nil
}

func names(pids []int) string {
	var all []string
	for _, pid := range pids {
		name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm")) // empty once it has ended
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d %s", pid, name)))
	}
	return strings.Join(all, ", ")
}
