// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

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
		}, []DeviceLimit{{Device: "254:0", Reads: 200, Writes: 100}, {Device: "7:0", Writes: 50, WriteBytes: 1 << 20}}, true},
		"version 1 below the host's": {groupV1, fstest.MapFS{
			dirV1 + "kubepods/pod1/server/blkio.throttle.write_iops_device": file("254:0 100\n"),
			dirV1 + "blkio.throttle.write_iops_device":                      file("254:0 7\n"),
		}, []DeviceLimit{{Device: "254:0", Writes: 100}}, true},
		"version 1 without a limit": {groupV1, fstest.MapFS{dirV1 + "blkio.throttle.write_iops_device": file("")}, nil, true},
		"version 2": {"0::/../server\n", fstest.MapFS{
			"sys/fs/cgroup/io.max": file("8:16 rbps=max wbps=2097152 riops=max wiops=120\n8:0 rbps=max wbps=max riops=max wiops=max\n"),
		}, []DeviceLimit{{Device: "8:16", Writes: 120, WriteBytes: 2 << 20}}, true},
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

func TestDeviceLimitString(t *testing.T) {
	for want, l := range map[string]DeviceLimit{
		"write 100/s on 254:0": {Device: "254:0", Writes: 100},
		"read 9/s, write 100/s, read 8 bytes/s, write 7 bytes/s on 7:0": {
			Device: "7:0", Reads: 9, Writes: 100, ReadBytes: 8, WriteBytes: 7,
		},
	} {
		if got := l.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
