// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestThrottled(t *testing.T) {
	const v1, v2 = "nr_periods 5\nnr_throttled 2\nthrottled_time 7000000\n", "usage_usec 9\nthrottled_usec 7000\n"
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for name, tc := range map[string]struct {
		root fstest.MapFS
		want time.Duration
	}{
		"version 2 in a container": {fstest.MapFS{
			"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/cpu.stat": file(v2),
		}, 7 * time.Millisecond},
		"version 2 below the host's": {fstest.MapFS{
			"proc/self/cgroup":                     file("0::/kubepods/pod1\n"),
			"sys/fs/cgroup/kubepods/pod1/cpu.stat": file(v2), "sys/fs/cgroup/cpu.stat": file("usage_usec 1\n"),
		}, 7 * time.Millisecond},
		"version 1 in a container": {fstest.MapFS{
			"proc/self/cgroup":                   file("3:memory:/x\n2:cpu,cpuacct:/kubepods/pod1\n0::/\n"),
			"sys/fs/cgroup/cpu,cpuacct/cpu.stat": file(v1), "sys/fs/cgroup/cpu.stat": file("throttled_usec 1\n"),
		}, 7 * time.Millisecond},
		"version 1 below the host's": {fstest.MapFS{
			"proc/self/cgroup":             file("2:cpu:/a\n"),
			"sys/fs/cgroup/cpu/a/cpu.stat": file(v1), "sys/fs/cgroup/cpu/cpu.stat": file("throttled_time 1\n"),
		}, 7 * time.Millisecond},
		"a root without limits": {fstest.MapFS{
			"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/cpu.stat": file("usage_usec 1\n"),
		}, -1},
		"nothing": {fstest.MapFS{}, -1},
		"damaged": {fstest.MapFS{"proc/self/cgroup": file("nonsense\n::\n")}, -1},
	} {
		must.Same(t, name, tc.want, Throttled(tc.root))
	}
}

func TestUsageFacts(t *testing.T) {
	before := Usage{User: time.Second, System: time.Second, Throttled: time.Second}
	after := Usage{User: 3 * time.Second, System: 2 * time.Second, Throttled: 1500 * time.Millisecond, MaxRSSBytes: 5}
	want := result.ClientFacts{UserMicros: 2e6, SystemMicros: 1e6, ThrottledMicros: 5e5, MaxRSSBytes: 5}
	must.Same(t, "facts", want, after.Facts(before))
	before.Throttled, after.Throttled = -1, -1
	must.Same(t, "throttled for an unknown time", int64(-1), after.Facts(before).ThrottledMicros)
}

func TestOfAnotherProcess(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for name, tc := range map[string]struct {
		groups    string
		root      fstest.MapFS
		limit     int64
		throttled time.Duration
	}{
		"version 2, seen from a sibling": {"0::/../server\n", fstest.MapFS{
			"sys/fs/cgroup/cpu.stat": file("throttled_usec 7000\n"), "sys/fs/cgroup/cpu.max": file("150000 100000\n"),
		}, 1500, 7 * time.Millisecond},
		"version 2, no limit": {"0::/../server\n", fstest.MapFS{
			"sys/fs/cgroup/cpu.stat": file("throttled_usec 0\n"), "sys/fs/cgroup/cpu.max": file("max 100000\n"),
		}, 0, 0},
		"version 1": {"3:cpu,cpuacct:/kubepods/pod1/server\n", fstest.MapFS{
			"sys/fs/cgroup/cpu,cpuacct/cpu.stat":          file("throttled_time 7000000\n"),
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  file("5000\n"),
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": file("100000\n"),
		}, 50, 7 * time.Millisecond},
		"version 1, no limit": {"3:cpu:/x\n", fstest.MapFS{
			"sys/fs/cgroup/cpu/cpu.stat":          file("throttled_time 0\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  file("-1\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000\n"),
		}, 0, 0},
		"a quota without its period": {"3:cpu:/x\n", fstest.MapFS{
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": file("5000\n"),
		}, -1, -1},
		"damaged": {"0::/\n", fstest.MapFS{"sys/fs/cgroup/cpu.max": file("some\n")}, -1, -1},
		"nothing": {"", fstest.MapFS{}, -1, -1},
	} {
		if limit, throttled := LimitIn(tc.root, tc.groups), ThrottledIn(tc.root, tc.groups); limit != tc.limit || throttled != tc.throttled {
			t.Errorf("%s: limit %d, throttled %v; want %d, %v", name, limit, throttled, tc.limit, tc.throttled)
		}
	}
}

func TestBlockIO(t *testing.T) {
	const (
		groupV1 = "7:blkio:/kubepods/pod1/server\n2:cpu:/kubepods/pod1/server\n0::/\n"
		dirV1   = "sys/fs/cgroup/blkio/"
	)
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for name, tc := range map[string]struct {
		groups string
		root   fstest.MapFS
		want   []DeviceLimit
		known  bool
	}{
		"version 1": {groupV1, fstest.MapFS{
			dirV1 + "blkio.throttle.write_iops_device": file("254:0 100\n7:0 50\n"),
			dirV1 + "blkio.throttle.read_iops_device":  file("254:0 200\n"),
			dirV1 + "blkio.throttle.write_bps_device":  file("7:0 1048576\n"),
			dirV1 + "blkio.throttle.read_bps_device":   file(""),
		}, []DeviceLimit{{"254:0", "read 200/s, write 100/s on 254:0"}, {"7:0", "write 50/s, write 1048576 bytes/s on 7:0"}}, true},
		"version 1 below the host's": {groupV1, fstest.MapFS{
			dirV1 + "kubepods/pod1/server/blkio.throttle.write_iops_device": file("254:0 100\n"),
			dirV1 + "blkio.throttle.write_iops_device":                      file("254:0 7\n"),
		}, []DeviceLimit{{"254:0", "write 100/s on 254:0"}}, true},
		"version 1 without a limit": {groupV1, fstest.MapFS{dirV1 + "blkio.throttle.write_iops_device": file("")}, nil, true},
		"version 2": {"0::/../server\n", fstest.MapFS{
			"sys/fs/cgroup/io.max": file("8:16 rbps=9 wbps=2097152 riops=max wiops=120\n8:0 rbps=max wbps=max riops=max wiops=max\n"),
		}, []DeviceLimit{{"8:16", "write 120/s, read 9 bytes/s, write 2097152 bytes/s on 8:16"}}, true},
		"version 2 without a limit":      {"0::/\n", fstest.MapFS{"sys/fs/cgroup/io.max": file("")}, nil, true},
		"version 2 without a controller": {"0::/\n", fstest.MapFS{"sys/fs/cgroup/cpu.max": file("max 100000\n")}, nil, false},
		"damaged":                        {"0::/\n", fstest.MapFS{"sys/fs/cgroup/io.max": file("8:16 wiops\nx\n\n8:0 wiops=-3\n")}, nil, true},
	} {
		got, known := BlockIO(tc.root, tc.groups)
		if diff := cmp.Diff(tc.want, got); diff != "" || known != tc.known {
			t.Errorf("%s: known: %t (-want +got):\n%s", name, known, diff)
		}
	}
}
