// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// tunable is a root with the settings of a node; its disk sda has the partition sda1, on which /data is.
func tunable(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"proc/sys/vm/swappiness":                     "60\n",
		"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
		"proc/self/mountinfo":                        "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
		"sys/devices/pci/block/sda/queue/scheduler":  "none [mq-deadline]\n",
		"sys/devices/pci/block/sda/sda1/partition":   "1\n",
		"sys/devices/pci/block/sda/sda1/uevent":      "",
	} {
		file := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(root, "sys/dev/block/8:1")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "sys/devices/pci/block/sda/sda1"), link); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestDisk(t *testing.T) {
	root := tunable(t)
	if got := Disk(root, "/data"); got != "sda" {
		t.Errorf("the disk of a partition is %q", got)
	}
	if err := os.WriteFile(filepath.Join(root, "proc/self/mountinfo"), []byte("30 1 0:45 / / rw - tmpfs tmpfs rw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Disk(root, "/data"); got != result.Unknown {
		t.Errorf("the disk of a tmpfs is %q", got)
	}
}

// It waits for what is asked alone, until the node has it or it is told to stop.
func TestAwait(t *testing.T) {
	root := tunable(t)
	for _, requested := range []result.HostSettings{
		{}, {Swappiness: "60"}, {IOScheduler: "mq-deadline", TransparentHugePages: "madvise"},
	} {
		if err := Await(t.Context(), root, "/data", requested); err != nil {
			t.Errorf("%+v: %v", requested, err)
		}
	}
	errStopped := errors.New("stopped")
	for _, requested := range []result.HostSettings{
		{Swappiness: "6"}, {IOScheduler: "none"}, {TransparentHugePages: "never"}, {Swappiness: "60", IOScheduler: "none"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStopped)
		if err := Await(ctx, root, "/data", requested); !errors.Is(err, errStopped) {
			t.Errorf("%+v: %v", requested, err)
		}
	}
}

// It looks again until the node is tuned, and goes on then.
func TestAwaitEnds(t *testing.T) {
	looks := 0
	look := func() result.HostSettings {
		if looks++; looks < 3 {
			return result.HostSettings{Swappiness: "60"}
		}
		return result.HostSettings{Swappiness: "1"}
	}
	if err := await(t.Context(), look, result.HostSettings{Swappiness: "1"}); err != nil || looks != 3 {
		t.Errorf("%v, after %d looks", err, looks)
	}
}
