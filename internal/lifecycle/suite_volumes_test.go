// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// onVolumes puts the data of the first variant on ext4 with a limit, and that of the second on XFS without.
func onVolumes(seen *SuiteObserved, p *SuitePlan) {
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

func TestVolumesOfSuite(t *testing.T) {
	s := suite(fixedRounds(4))
	p := planOfSuite(t, s)
	seen := measuredRuns(s, p, 8)
	if got := statusOfSuite(t, s, seen).Volumes; got != nil {
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
	got := statusOfSuite(t, s, seen)
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
	for i := range texts {
		if got := VolumeText(&want[i]); got != texts[i] {
			t.Errorf("%q, want %q", got, texts[i])
		}
	}
	seen.Members[7].Run.Status.Environment.Filesystem = "btrfs" // the last run: A B, B A, A B, B A
	all := strings.Join(statusOfSuite(t, s, seen).Warnings, "\n")
	if !strings.Contains(all, "the runs of durable had different file systems: ext4, btrfs") {
		t.Errorf("warnings: %s", all)
	}
}

// Where commits hardly wait for the disk, a claim about slow disks does not hold, and the detail says what they wait for in each
// variant.
func TestReasonsOfSuiteClaims(t *testing.T) {
	const reason = "; a commit waits for the disk, and here fdatasync takes 9.87 ms (mean; median 0.25 ms) in durable, 0.25 ms (median) in lazy"
	about := func(variant string) v1alpha1.Claims {
		at := func(points string) v1alpha1.PointSelector {
			s := rows(points)
			s.Variant = variant
			return s
		}
		return v1alpha1.Claims{{Name: "tenfold", Ratio: &v1alpha1.RatioClaim{Of: at("16"), To: at("1"), AtLeast: "10"}}}
	}
	for name, tc := range map[string]struct {
		variant string
		fsyncs  float64
		through bool
		want    string
	}{
		"a fast disk":                           {"lazy", 1, false, reason},
		"a fast disk, commits that do not wait": {"lazy", 0, false, ""},
		"a fast disk, log written through":      {"lazy", 0, true, reason},
		"a slow disk":                           {"durable", 1, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := suite(fixedRounds(4), func(s *v1alpha1.BenchmarkSuite) {
				s.Spec.Template.Spec.Workload.CommitSize.RowsPerCommit = 0
				s.Spec.Template.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
				s.Spec.Template.Spec.Database.Settings.FlushLogAtTrxCommit = ptr.To[int32](1)
				if tc.through {
					s.Spec.Template.Spec.Database.Variables = map[string]v1alpha1.VariableValue{"innodb_log_file_write_through": "ON"}
				}
				s.Spec.Claims = about(tc.variant)
			})
			p := planOfSuite(t, s)
			seen := measuredRuns(s, p, 8)
			onVolumes(seen, p)
			for _, m := range seen.Members {
				m.Measured.Others = []MetricValues{{
					Metric: result.Metric{Name: "innodbFsyncsPerTransaction", Unit: "fsyncs/transaction"}, Values: []float64{tc.fsyncs, tc.fsyncs},
				}}
			}
			got := ClaimsOfSuite(s, p, seen, 4)[0]
			if want := "1 times (1–1), at least 10 was claimed" + tc.want; got.Detail != want {
				t.Errorf("detail %q, want %q", got.Detail, want)
			}
		})
	}
}
