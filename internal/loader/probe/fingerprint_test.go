// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
)

func TestBlockIO(t *testing.T) {
	const group = "7:blkio:/kubepods/pod1\n0::/\n"
	disks := map[string]string{
		"sys/devices/pci/block/sdb/dev":              "8:16\n",
		"sys/devices/pci/block/sdb/sdb1/dev":         "8:17\n",
		"sys/devices/pci/block/sdb/sdb1/partition":   "1\n",
		"sys/devices/virtual/block/dm-0/dev":         "253:0\n",
		"sys/devices/virtual/block/dm-0/slaves/sdb1": "->../../../../pci/block/sdb/sdb1",
		"sys/devices/virtual/block/loop1/dev":        "7:1\n",
		"sys/dev/block/8:17":                         "->../../devices/pci/block/sdb/sdb1",
		"sys/dev/block/253:0":                        "->../../devices/virtual/block/dm-0",
		"sys/dev/block/7:1":                          "->../../devices/virtual/block/loop1",
	}
	for name, tc := range map[string]struct {
		device, limits, want string
	}{
		"partition of the disk":                   {"8:17", "8:16 100\n", "write 100/s on 8:16"},
		"volume on that partition":                {"253:0", "8:16 100\n", "write 100/s on 8:16"},
		"volume and disk":                         {"253:0", "253:0 50\n8:16 100\n", "write 50/s on 253:0; write 100/s on 8:16"},
		"another disk":                            {"8:17", "254:0 100\n", "none"},
		"loop device, limit of the disk below":    {"7:1", "254:0 100\n", "write 100/s on 254:0"},
		"memory":                                  {"0:41", "254:0 100\n", "none"},
		"no limit":                                {"8:17", "", "none"},
		"loop device, no limit of the disk below": {"7:1", "", "none"},
	} {
		files := map[string]string{
			"proc/self/cgroup": group,
			"sys/fs/cgroup/blkio/blkio.throttle.write_iops_device": tc.limits,
		}
		maps.Copy(files, disks)
		if got := blockIO(sys(t, files), mount{device: tc.device}); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := blockIO(sys(t, disks), mount{device: "8:17"}); got != "" {
		t.Errorf("without control groups: %q", got)
	}
}

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
