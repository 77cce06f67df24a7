// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// onVolumes puts the data of the first variant on ext4 with a limit, and that of the second on XFS without.
func onVolumes(seen *ComparisonObserved, p *analysis.ComparisonPlan) {
	for i, m := range seen.Members {
		if m.Run == nil {
			continue
		}
		e := &m.Run.Status.Environment
		e.Filesystem, e.MountOptions, e.IOScheduler, e.BlockIO = "ext4", "rw,relatime", "none", "write 100/s on 254:0"
		e.FdatasyncMicros, e.FdatasyncMeanMicros = 250, 9870
		if p.Members[i].Variant == 1 {
			e.Filesystem, e.BlockIO, e.FdatasyncMeanMicros = "xfs", "none", 260
		}
	}
}

func TestVolumesOfComparison(t *testing.T) {
	s := testutil.Pair(testutil.FixedRounds(6))
	p := planOfComparison(t, s)
	seen := measuredRuns(s, p, 12)
	if got := statusOfComparison(t, s, seen).Volumes; got != nil {
		t.Errorf("nothing is known, and the status has %+v", got)
	}
	onVolumes(seen, p)
	want := []v1alpha1.VolumeStatus{
		{
			Variant: "durable", Filesystem: "ext4", MountOptions: "rw,relatime", IOScheduler: "none", BlockIO: "write 100/s on 254:0",
			FdatasyncMicros: 250, FdatasyncMeanMicros: 9870,
		},
		{
			Variant: "lazy", Filesystem: "xfs", MountOptions: "rw,relatime", IOScheduler: "none", BlockIO: "none",
			FdatasyncMicros: 250, FdatasyncMeanMicros: 260,
		},
	}
	got := statusOfComparison(t, s, seen)
	if diff := cmp.Diff(want, got.Volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	if len(got.Warnings) != 0 {
		t.Errorf("warnings about variants that each have one file system: %q", got.Warnings)
	}
	texts := []string{
		"ext4 (rw,relatime), I/O scheduler none, block I/O limited: write 100/s on 254:0, fdatasync takes 9.87 ms (mean; median 0.25 ms)",
		"xfs (rw,relatime), I/O scheduler none, fdatasync takes 0.25 ms (median)",
	}
	analysed := analysis.OfComparison(s, p, &seen.ComparisonRuns, seen.Judged)
	for i := range texts {
		if got := analysed.Variants[i].Volume.String(); got != texts[i] {
			t.Errorf("%q, want %q", got, texts[i])
		}
	}
	for i := range seen.Members[:2] {
		if p.Members[i].Variant == p.Baseline {
			seen.Members[i].Run.Status.Environment.Filesystem = "btrfs" // its other runs have ext4
		}
	}
	all := strings.Join(statusOfComparison(t, s, seen).Warnings, "\n")
	if !strings.Contains(all, "the runs of durable had different file systems: btrfs, ext4") {
		t.Errorf("warnings: %s", all)
	}
}
