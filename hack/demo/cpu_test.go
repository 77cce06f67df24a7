// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// fake makes a /proc of these processes.
func fake(t *testing.T, all ...process) string {
	t.Helper()
	proc := t.TempDir()
	for _, p := range all {
		dir := filepath.Join(proc, fmt.Sprint(p.pid))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		n := int(p.cpu/ticks) / 4
		line := fmt.Sprintf("%d (%s) S %d 1 1 0 -1 4194560 9 9 0 0 %d %d %d %d 20 0 1 0 100 1000 10 18446744073709551615\n",
			p.pid, p.name, p.parent, n, n, n, n)
		if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return proc
}

func TestDockerIsItsDaemonsAndAllBelowThem(t *testing.T) {
	proc := fake(t,
		process{1, 0, "init", time.Hour},
		process{10, 1, "dockerd", 4 * time.Second},
		process{11, 10, "containerd", 8 * time.Second},
		process{20, 1, "containerd-shim", 12 * time.Second},
		process{21, 20, "entrypoint (x)", 16 * time.Second},
		process{22, 21, "kubelet", 20 * time.Second},
		process{30, 1, "compile", time.Hour},
	)
	if got := dockerCPU(proc); got != time.Minute {
		t.Errorf("got %s", got)
	}
}

func TestDockerIsNothingWhereThereIsNoProc(t *testing.T) {
	if got := dockerCPU(t.TempDir()); got != 0 {
		t.Errorf("got %s", got)
	}
}

func TestTheParentCountsOnlyIfItCompiledThisProgram(t *testing.T) {
	proc := fake(t, process{5, 1, "go", 4 * time.Second}, process{6, 1, "make", 8 * time.Second})
	if got := parentCPU(proc, 5); got != 4*time.Second {
		t.Errorf("go: %s", got)
	}
	if got := parentCPU(proc, 6); got != 0 {
		t.Errorf("make: %s", got)
	}
}

func TestParseStatRefusesWhatIsNoSuchLine(t *testing.T) {
	for _, line := range []string{"", "12 (x", "x (y) S 1", "12 (x) S 1 2 3"} {
		if _, ok := parseStat(line); ok {
			t.Errorf("%q was read", line)
		}
	}
}
