// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"maps"
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

func TestDisk(t *testing.T) {
	for mounts, want := range map[string]string{
		"30 1 8:1 / / rw - ext4 /dev/sda1 rw\n": "sda", "30 1 0:45 / / rw - tmpfs tmpfs rw\n": result.Unknown,
	} {
		root := sys(t, map[string]string{
			"proc/self/mountinfo": mounts, "sys/devices/pci/block/sda/sda1/partition": "1\n",
			"sys/dev/block/8:1": "->../../devices/pci/block/sda/sda1",
		})
		if got := Disk(root, "/data"); got != want {
			t.Errorf("the disk is %q, want %q", got, want)
		}
	}
}
