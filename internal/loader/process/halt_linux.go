// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const (
	// haltAtMost is how long the kernel may take to stop all threads of a program: one that waits for a disk stops after it.
	haltAtMost = 10 * time.Second
	haltEvery  = 500 * time.Microsecond
)

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

// stopped says whether no thread of a process runs.
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
