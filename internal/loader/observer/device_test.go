// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// The device of a folder is found by its number, and what the kernel does not say is unknown.
func TestDevice(t *testing.T) {
	folder := t.TempDir()
	var at unix.Stat_t
	if err := unix.Stat(folder, &at); err != nil {
		t.Fatal(err)
	}
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
