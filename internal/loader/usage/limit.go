// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// LimitIn is the CPU limit, in thousandths of a CPU, of a process whose root is given, and the text of its control groups. 0
// is none; -1 if that cannot be read.
func LimitIn(root fs.FS, groups string) int64 {
	for _, file := range groupFiles(groups, "cpu.cfs_quota_us", "cpu.max") {
		data, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		text := string(data)
		if path.Base(file) == "cpu.cfs_quota_us" {
			period, err := fs.ReadFile(root, path.Join(path.Dir(file), "cpu.cfs_period_us"))
			if err != nil {
				continue
			}
			text += " " + string(period)
		}
		if limit, found := parseLimit(text); found {
			return limit
		}
	}
	return -1
}

// parseLimit reads a quota and the period that it is for: "max 100000" or, in version 1, "-1 100000" is no limit.
func parseLimit(text string) (millis int64, found bool) {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return 0, false
	}
	if fields[0] == "max" || fields[0] == "-1" {
		return 0, true
	}
	quota, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || quota <= 0 {
		return 0, false
	}
	period, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || period <= 0 {
		return 0, false
	}
	return quota * 1000 / period, true
}
