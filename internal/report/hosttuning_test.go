// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

func TestTuned(t *testing.T) {
	got := tuned([]result.HostTuning{
		{
			Node: "a", Disk: "sda", Restored: true,
			Before: result.HostSettings{Swappiness: "60", IOScheduler: "mq-deadline", TransparentHugePages: "madvise"},
			After:  result.HostSettings{Swappiness: "1", IOScheduler: "none", TransparentHugePages: "never"},
		},
		{Node: "b", Before: result.HostSettings{Swappiness: "60"}, After: result.HostSettings{Swappiness: "0"}, Message: "it is off"},
	})
	want := []string{
		"node a was tuned: swappiness 1 instead of 60, I/O scheduler of sda none instead of mq-deadline, " +
			"transparent huge pages never instead of madvise; restored afterwards",
		"node b was tuned: swappiness 0 instead of 60; NOT RESTORED: it is off",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
