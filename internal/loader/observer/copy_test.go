// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/loader/datacopy"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// writer is a process that writes to a file of its data directory all the time, and an observer of it with a folder for a copy.
func writer(t *testing.T) (*Observer, *Client) {
	t.Helper()
	dir, data := t.TempDir(), t.TempDir()
	files(t, dir, map[string]string{"password": secret})
	files(t, data, map[string]string{"file": ""})
	name := filepath.Join(dir, "writer"+strconv.Itoa(os.Getpid()%1000))
	must.Do(t, os.Symlink("/bin/sh", name))
	cmd := exec.CommandContext(t.Context(), name, "-c", "while :; do echo x >> "+filepath.Join(data, "file")+"; done")
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	o := &Observer{
		Processes: []string{filepath.Base(name)}, Data: data, Copy: t.TempDir(), PasswordFile: filepath.Join(dir, "password"), Proc: "/proc",
	}
	eventually(t, "the process is seen", func() bool { _, err := o.server(); return err == nil })
	return o, NewClient(serving(t, o))
}

// size of the file that the writer writes.
func size(t *testing.T, o *Observer) int64 {
	t.Helper()
	info := must.Get(os.Stat(filepath.Join(o.Data, "file")))(t)
	return info.Size()
}

// goesOn says that the writer writes.
func goesOn(t *testing.T, o *Observer) {
	t.Helper()
	before := size(t, o)
	eventually(t, "the process writes", func() bool { return size(t, o) > before })
}

// The server stands still while it is copied, and goes on afterwards; there is one copy.
func TestCopy(t *testing.T) {
	o, c := writer(t)
	goesOn(t, o)
	made, err := c.Copy(t.Context())
	if err != nil || made.Bytes == 0 || !datacopy.Whole(o.Copy) {
		t.Fatalf("made %+v, %v", made, err)
	}
	goesOn(t, o)
	again, err := c.Copy(t.Context())
	if err != nil || again != (result.DataCopy{}) {
		t.Errorf("a second copy: %+v, %v", again, err)
	}
	copied, err := os.Stat(filepath.Join(o.Copy, "data", "file"))
	if err != nil || copied.Size() != made.Bytes {
		t.Errorf("the copy has %v, %v", copied, err)
	}
}

// A copy that cannot be made says why, and the server goes on.
func TestCopyFails(t *testing.T) {
	o, c := writer(t)
	o.Copy = filepath.Join(o.Data, "file", "no-folder")
	if _, err := c.Copy(t.Context()); err == nil || !strings.Contains(err.Error(), "500") || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("%v", err)
	}
	goesOn(t, o)
}

// An observer that begins has a server go on that the one before has stopped.
func TestGoOn(t *testing.T) {
	o, _ := writer(t)
	server := must.Get(o.server())(t)
	must.Do(t, unix.Kill(server.PID, unix.SIGSTOP))
	must.Do(t, waitStopped(t.Context(), server))
	o.goOn()
	goesOn(t, o)
}

// Without a folder for it there is nothing to ask for.
func TestNoCopy(t *testing.T) {
	server := serve(t, t.TempDir())
	if _, err := NewClient(server).Copy(t.Context()); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
}

// The device of a folder is found by its number, and what the kernel does not say is unknown.
func TestDevice(t *testing.T) {
	folder := t.TempDir()
	var at unix.Stat_t
	must.Do(t, unix.Stat(folder, &at))
	line := "%4d %7d disk 70 1 900 3 80 2 700 5 0 8 9 0 0 0 0 0 0\n"
	other, ours := fmt.Sprintf(line, 250, 250), fmt.Sprintf(line, unix.Major(at.Dev), unix.Minor(at.Dev))
	for name, tc := range map[string]struct {
		stats, folder string
		reads, writes int64
	}{
		"its device":    {other + ours, folder, 70, 80},
		"no device":     {other, folder, -1, -1},
		"nonsense":      {"x\n", folder, -1, -1},
		"no such place": {ours, folder + "/none", -1, -1},
	} {
		proc := t.TempDir()
		files(t, proc, map[string]string{"diskstats": tc.stats})
		if reads, writes := device(proc, t.TempDir(), tc.folder); reads != tc.reads || writes != tc.writes {
			t.Errorf("%s: %d reads and %d writes, want %d and %d", name, reads, writes, tc.reads, tc.writes)
		}
	}
	if reads, writes := device(t.TempDir(), t.TempDir(), folder); reads != -1 || writes != -1 {
		t.Errorf("without statistics: %d reads and %d writes", reads, writes)
	}
}
