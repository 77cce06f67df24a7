// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const mountinfo = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
23 22 0:5 / /proc rw,nosuid - proc proc rw
30 22 8:17 /vol/pvc-1 /var/lib/mysql rw,noatime shared:3 master:1 - xfs /dev/sdb1 rw,attr2,noquota
31 30 8:17 /vol/pvc-1/sub /var/lib/mysql\040two rw - xfs /dev/sdb1 rw
32 22 0:40 / /mem rw - tmpfs tmpfs rw,size=1g
33 32 0:41 / /mem ro - overlay overlay rw,lowerdir=/a:/b
damaged line
`

func TestMountOf(t *testing.T) {
	for path, want := range map[string]mount{
		"/":                   {device: "254:0", point: "/", filesystem: "ext4", source: "/dev/vda", options: "rw,relatime,discard"},
		"/var/lib/mysql":      {device: "8:17", point: "/var/lib/mysql", filesystem: "xfs", source: "/dev/sdb1", options: "rw,noatime,attr2,noquota"},
		"/var/lib/mysql/data": {device: "8:17", point: "/var/lib/mysql", filesystem: "xfs", source: "/dev/sdb1", options: "rw,noatime,attr2,noquota"},
		"/var/lib/mysqlx":     {device: "254:0", point: "/", filesystem: "ext4", source: "/dev/vda", options: "rw,relatime,discard"},
		"/var/lib/mysql two":  {device: "8:17", point: "/var/lib/mysql two", filesystem: "xfs", source: "/dev/sdb1", options: "rw"},
		"/mem/x":              {device: "0:41", point: "/mem", filesystem: "overlay", source: "overlay", options: "ro,lowerdir=/a:/b"},
	} {
		got, found := mountOf(mountinfo, path)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(mount{})); diff != "" || !found {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if _, found := mountOf("", "/"); found {
		t.Error("a mount was found in nothing")
	}
}

// sys makes files and symbolic links below a root. A link's target begins with ->.
func sys(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		var err error
		if target, isLink := cutLink(content); isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		must.Do(t, err)
	}
	return root
}

func cutLink(content string) (string, bool) {
	if len(content) > 2 && content[:2] == "->" {
		return content[2:], true
	}
	return "", false
}

func TestScheduler(t *testing.T) {
	root := sys(t, map[string]string{
		"sys/devices/pci/block/sdb/queue/scheduler":      "none [mq-deadline] kyber\n",
		"sys/devices/pci/block/sdb/sdb1/partition":       "1\n",
		"sys/devices/virtual/block/dm-0/queue/scheduler": "none\n",
		"sys/devices/virtual/block/dm-0/slaves/sdb1":     "->../../../../pci/block/sdb/sdb1",
		"sys/devices/pci/block/nvme0n1/queue/scheduler":  "[none] mq-deadline\n",
		"sys/dev/block/8:16":                             "->../../devices/pci/block/sdb",
		"sys/dev/block/8:17":                             "->../../devices/pci/block/sdb/sdb1",
		"sys/dev/block/253:0":                            "->../../devices/virtual/block/dm-0",
		"sys/class/block/nvme0n1":                        "->../../devices/pci/block/nvme0n1",
	})
	for _, tc := range []struct {
		name string
		m    mount
		want string
	}{
		{"disk", mount{device: "8:16", source: "/dev/sdb"}, "mq-deadline"},
		{"partition", mount{device: "8:17", source: "/dev/sdb1"}, "mq-deadline"},
		{"volume on a partition", mount{device: "253:0", source: "/dev/mapper/x"}, "mq-deadline"},
		{"btrfs", mount{device: "0:33", source: "/dev/nvme0n1"}, "none"},
		{"overlay", mount{device: "0:41", source: "overlay"}, ""},
		{"unknown device", mount{device: "9:9", source: "/dev/xyz"}, ""},
	} {
		must.Same(t, tc.name, tc.want, scheduler(root, tc.m))
	}
}

func TestReadAndEncode(t *testing.T) {
	data := t.TempDir()
	root := sys(t, map[string]string{
		"proc/sys/kernel/osrelease":                  "6.1.0-1\n",
		"proc/sys/vm/swappiness":                     "60\n",
		"proc/meminfo":                               "MemTotal:       1024 kB\nMemFree: 5 kB\n",
		"proc/cpuinfo":                               "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n\nprocessor\t: 1\nmodel name\t: Some CPU @ 3 GHz\n",
		"proc/self/mountinfo":                        "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n",
		"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
		"sys/dev/block/254:0/queue/scheduler":        "[none]\n",
		"sys/dev/block/254:0/dev":                    "254:0\n",
		"proc/self/cgroup":                           "0::/\n",
		"sys/fs/cgroup/io.max":                       "254:0 rbps=max wbps=max riops=max wiops=100\n",
	})
	got := Read(t.Context(), root, data)
	latency := got.FdatasyncMicros
	if latency.Calls < 1 || latency.Calls > fully.most || latency.Median < 0 || latency.Max < latency.P95 || latency.P95 < latency.Median ||
		latency.Mean > latency.Max {
		t.Errorf("fdatasync %+v", latency)
	}
	got.FdatasyncMicros = result.FsyncLatency{}
	want := result.Fingerprint{
		Version: 1, Kernel: "6.1.0-1", CPUModel: "Some CPU @ 3 GHz", CPUs: 2, MemoryBytes: 1 << 20, Filesystem: "ext4",
		MountOptions: "rw,relatime", Device: "/dev/vda", IOScheduler: "none", BlockIO: "write 100/s on 254:0", Swappiness: "60", TransparentHugePages: "madvise",
		CPUGovernor: result.Unknown,
	}
	must.Same(t, "fingerprint", want, got)
	must.Same(t, "files in the data directory", 0, len(must.Get(os.ReadDir(data))(t)))
	encoded := must.Get(json.Marshal(got))(t)
	if back, err := result.DecodeFingerprint(string(encoded)); err != nil || !cmp.Equal(*back, got) {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestReadOfNothing(t *testing.T) {
	got := Read(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "missing"))
	plain := must.Get(json.Marshal(got))(t)
	var all map[string]any
	must.Do(t, json.Unmarshal(plain, &all))
	for _, name := range []string{
		"blockIO", "kernel", "cpuModel", "filesystem", "mountOptions", "device", "ioScheduler", "swappiness", "transparentHugePages", "cpuGovernor",
	} {
		must.Same(t, name, result.Unknown, all[name])
	}
	if want := (result.FsyncLatency{Median: -1, P95: -1, Max: -1}); got.FdatasyncMicros != want || got.MemoryBytes != -1 || got.CPUs < 1 {
		t.Errorf("%+v", got)
	}
}

func TestARMProcessor(t *testing.T) {
	model, n := cpu("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")
	if model != "implementer 0x41, part 0xd0c" || n != 1 {
		t.Errorf("%s, %d", model, n)
	}
}

func TestSummarize(t *testing.T) {
	var took []time.Duration
	for i := range 100 {
		took = append(took, time.Duration(100-i)*time.Microsecond)
	}
	want := result.FsyncLatency{Calls: 100, Median: 51, Mean: 50, P95: 96, Max: 100}
	must.Same(t, "latency", want, summarize(took))
}

func TestFdatasyncStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := fully.fdatasync(ctx, t.TempDir()); got.Calls != 0 {
		t.Errorf("%+v", got)
	}
}

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
		must.Same(t, name, tc.want, blockIO(sys(t, files), mount{device: tc.device}))
	}
	must.Same(t, "without control groups", "", blockIO(sys(t, disks), mount{device: "8:17"}))
}

func TestDisk(t *testing.T) {
	for mounts, want := range map[string]string{
		"30 1 8:1 / / rw - ext4 /dev/sda1 rw\n": "sda", "30 1 0:45 / / rw - tmpfs tmpfs rw\n": result.Unknown,
	} {
		root := sys(t, map[string]string{
			"proc/self/mountinfo": mounts, "sys/devices/pci/block/sda/sda1/partition": "1\n",
			"sys/dev/block/8:1": "->../../devices/pci/block/sda/sda1",
		})
		must.Same(t, "the disk", want, Disk(root, "/data"))
	}
}
