// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/datacopy"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

// newCopiedTrial is a short trial of a run that has a copy of its data put aside, by an observer of a process that stands for the
// server's, which may run in another machine.
func newCopiedTrial(t *testing.T, script string, copyTo string) *trial {
	t.Helper()
	name, data := filepath.Join(t.TempDir(), "standin"), t.TempDir()
	if err := os.Symlink("/bin/sleep", name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "ibdata1"), []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	standin := exec.CommandContext(t.Context(), name, "600")
	if err := standin.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standin.Process.Kill(); _ = standin.Wait() })
	tr := newKeptTrial(t, sysbench.Parameters{Script: script, Events: 20})
	tr.cfg.CopyData, tr.cfg.Server.ObserverPort = true, freePort(t)
	o := &observer.Observer{
		Port: tr.cfg.Server.ObserverPort, Processes: []string{"standin"}, Data: data, Copy: copyTo,
		PasswordFile: tr.cfg.Server.PasswordFile, Proc: "/proc",
	}
	go o.Run(t.Context())
	return tr
}

// A copy is made of what was prepared, and not of what a trial has written; data that are there already are what the copy has.
func TestSysbenchCopiesData(t *testing.T) {
	keptData(t)
	for _, step := range []struct {
		script string
		want   []string
		copied bool
	}{
		{"update-index", []string{"Prepared", "cleanup", "prepare", "run"}, true}, // and has spent them
		{"scan", []string{"Prepared", "cleanup", "prepare", "run"}, true},
		{"scan", []string{"Kept", "run"}, false},
	} {
		at := t.TempDir()
		_, doc := newCopiedTrial(t, step.script, at).mustRun(t)
		if diff := cmp.Diff(step.want, verbs(doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.script, diff)
		}
		if got := datacopy.Whole(at); got != step.copied {
			t.Errorf("%s, %s: copied is %t", step.script, step.want[0], got)
		}
	}
}

// Without a copy the number is what it is, and a finding says what the next server lacks.
func TestSysbenchWithoutACopy(t *testing.T) {
	keptData(t)
	_, doc := newCopiedTrial(t, "scan", filepath.Join(t.TempDir(), "missing", "folder")).mustRun(t)
	if !slices.ContainsFunc(doc.Findings, func(f finding.Finding) bool { return f.Code == finding.DataNotCopied }) {
		t.Errorf("findings %+v", doc.Findings)
	}
}
