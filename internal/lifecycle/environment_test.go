// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestEnvironment(t *testing.T) {
	machine := v1alpha1.Environment{
		Kernel: "6.1.0", CPUModel: "Test CPU", CPUs: 2, MemoryBytes: 8 << 30, Filesystem: "ext4", MountOptions: "rw,relatime",
		IOScheduler: "none", Swappiness: "60", TransparentHugePages: "madvise", FdatasyncMicros: 110,
	}
	early := machine
	early.DatabaseNode, early.DatabaseImage = "worker", "mariadb@sha256:2222"
	whole := early
	whole.LoaderNode, whole.LoaderImage = "worker2", "loader@sha256:1111"
	silent := whole // the loader left no summary
	whole.ServerVersion, whole.SettingsDigest = "11.8.3-MariaDB", "sha256:abcd"
	moved := whole
	moved.DatabaseNode = "worker9"
	movedRecord := testutil.Record(2, 1, nil, 1000)
	movedRecord.Place.DatabaseNode = "worker9"
	unread := testutil.Record(1, 1, nil, 1000)
	unread.Fingerprint = nil
	evicted := disturbed(3, 1, result.OutcomeInvalidated, result.CauseEvicted)
	placeless := disturbed(1, 1, result.OutcomeInvalidated, result.CausePodDeleted)
	placeless.Place, placeless.Fingerprint = result.Place{}, nil
	garbled := func(i *Instance) { i.Pod.Status.InitContainerStatuses[0].State.Terminated.Message = "garbage" }
	cases := map[string]struct {
		seen Observed
		want v1alpha1.Environment
	}{
		"nothing":                          {},
		"no Pod":                           {Observed{Instances: []Instance{instanceOf(1, "u", withoutPod)}}, v1alpha1.Environment{}},
		"by the database's Pod":            {Observed{Instances: []Instance{instanceOf(1, "u")}}, early},
		"the probe's answer is garbage":    {Observed{Instances: []Instance{instanceOf(1, "u", garbled)}}, v1alpha1.Environment{DatabaseNode: "worker", DatabaseImage: "mariadb@sha256:2222"}},
		"by the latest accepted attempt":   {Observed{Records: []*result.Record{testutil.Record(1, 1, nil, 1000), movedRecord, evicted}}, moved},
		"by the latest, if none counts":    {Observed{Records: []*result.Record{placeless, evicted}}, silent},
		"records come before Pods":         {Observed{Records: records(1), Instances: []Instance{instanceOf(1, "u", garbled)}}, whole},
		"the probe's answer was not known": {Observed{Records: []*result.Record{unread}}, v1alpha1.Environment{DatabaseNode: "worker", DatabaseImage: "mariadb@sha256:2222", LoaderNode: "worker2", LoaderImage: "loader@sha256:1111", ServerVersion: "11.8.3-MariaDB", SettingsDigest: "sha256:abcd"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 3)
			p := planOf(t, run)
			a := analysis.OfRun(run, p, tc.seen.Records)
			got := newSituation(run, p, &tc.seen, now).environment(a)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodFingerprint(t *testing.T) {
	if f := PodFingerprint(&corev1.Pod{}); f != nil {
		t.Errorf("fingerprint of a Pod without status: %+v", f)
	}
	if f := PodFingerprint(instanceOf(1, "u").Pod); f == nil || f.Kernel != "6.1.0" {
		t.Errorf("fingerprint is %+v", f)
	}
}

func TestEnvironmentHasTheVolumeBenchmark(t *testing.T) {
	var e v1alpha1.Environment
	fingerprint(&e, &result.Fingerprint{VolumeBenchmark: []result.IOPattern{
		{Name: "randomRead16KiB", PerSecond: 9000, BytesPerSecond: 147456000, Median: 90, P95: 200, P99: 300, Max: 4000},
	}})
	want := []v1alpha1.VolumePattern{{
		Pattern: "randomRead16KiB", OperationsPerSecond: ptr.To[int64](9000), BytesPerSecond: ptr.To[int64](147456000),
		MedianMicros: ptr.To[int64](90), P99Micros: ptr.To[int64](300),
	}}
	if diff := cmp.Diff(want, e.VolumeBenchmark); diff != "" {
		t.Errorf("baseline (-want +got):\n%s", diff)
	}
}
