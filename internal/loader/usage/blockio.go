// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// DeviceLimit is what a control group may read from a block device and write to it, each second. 0 is no limit.
type DeviceLimit struct {
	// Device is its number, major:minor.
	Device string
	// Reads and Writes are operations, ReadBytes and WriteBytes bytes.
	Reads, Writes, ReadBytes, WriteBytes int64
}

// String says the limit, for example "write 100/s on 254:0".
func (l DeviceLimit) String() string {
	var parts []string
	for _, part := range []struct {
		what  string
		n     int64
		bytes bool
	}{{"read", l.Reads, false}, {"write", l.Writes, false}, {"read", l.ReadBytes, true}, {"write", l.WriteBytes, true}} {
		switch {
		case part.n == 0:
		case part.bytes:
			parts = append(parts, fmt.Sprintf("%s %d bytes/s", part.what, part.n))
		default:
			parts = append(parts, fmt.Sprintf("%s %d/s", part.what, part.n))
		}
	}
	return strings.Join(parts, ", ") + " on " + l.Device
}

// set a limit by the name that version 2 has for it.
func (l *DeviceLimit) set(name string, n int64) {
	switch name {
	case "riops":
		l.Reads = n
	case "wiops":
		l.Writes = n
	case "rbps":
		l.ReadBytes = n
	case "wbps":
		l.WriteBytes = n
	}
}

// blockIOFiles are those of version 1, with the name that version 2 has for the same limit.
var blockIOFiles = map[string]string{
	"blkio.throttle.read_iops_device": "riops", "blkio.throttle.write_iops_device": "wiops",
	"blkio.throttle.read_bps_device": "rbps", "blkio.throttle.write_bps_device": "wbps",
}

// BlockIO are the limits of a process whose root is given, and the text of its control groups, in the order of the devices. It is
// false if they cannot be read.
func BlockIO(root fs.FS, groups string) (limits []DeviceLimit, known bool) {
	found := map[string]*DeviceLimit{}
	limit := func(device string) *DeviceLimit {
		if found[device] == nil {
			found[device] = &DeviceLimit{Device: device}
		}
		return found[device]
	}
	for file, name := range blockIOFiles {
		text, ok := first(root, filesOf(groups, "blkio", file, ""))
		known = known || ok
		for line := range strings.Lines(text) {
			if fields := strings.Fields(line); len(fields) == 2 {
				limit(fields[0]).set(name, positive(fields[1]))
			}
		}
	}
	if !known {
		var text string
		text, known = first(root, filesOf(groups, "blkio", "", "io.max"))
		for line := range strings.Lines(text) {
			fields := strings.Fields(line)
			for _, field := range fields[min(1, len(fields)):] {
				name, value, _ := strings.Cut(field, "=")
				limit(fields[0]).set(name, positive(value))
			}
		}
	}
	for _, l := range found {
		if *l != (DeviceLimit{Device: l.Device}) {
			limits = append(limits, *l)
		}
	}
	slices.SortFunc(limits, func(a, b DeviceLimit) int { return strings.Compare(a.Device, b.Device) })
	return limits, known
}

// first of some files that is there.
func first(root fs.FS, files []string) (text string, found bool) {
	for _, file := range files {
		if data, err := fs.ReadFile(root, file); err == nil {
			return string(data), true
		}
	}
	return "", false
}

// positive is a number, or 0 for what is none: "max" is no limit.
func positive(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}
