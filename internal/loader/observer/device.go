// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"github.com/prometheus/procfs/blockdevice"
	"golang.org/x/sys/unix"
)

// device counts the reads and writes that the block device of a folder has completed, of whoever on the node; -1 if the folder is
// on none, or the kernel does not say. It needs the file systems proc and sys.
func device(proc, sys, folder string) (reads, writes int64) {
	var at unix.Stat_t
	if err := unix.Stat(folder, &at); err != nil {
		return -1, -1
	}
	fs, err := blockdevice.NewFS(proc, sys)
	if err != nil {
		return -1, -1
	}
	all, err := fs.ProcDiskstats()
	if err != nil {
		return -1, -1
	}
	for i := range all {
		if d := &all[i]; d.MajorNumber == unix.Major(at.Dev) && d.MinorNumber == unix.Minor(at.Dev) {
			return number(d.ReadIOs), number(d.WriteIOs)
		}
	}
	return -1, -1
}
