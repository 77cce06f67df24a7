// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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
			must.Same(t, "environment", tc.want, got)
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
	analysis.AddFingerprint(&e, &result.Fingerprint{VolumeBenchmark: []result.IOPattern{
		{Name: "randomRead16KiB", PerSecond: 9000, BytesPerSecond: 147456000, Median: 90, P95: 200, P99: 300, Max: 4000},
	}})
	want := []v1alpha1.VolumePattern{{
		Pattern: "randomRead16KiB", OperationsPerSecond: ptr.To[int64](9000), BytesPerSecond: ptr.To[int64](147456000),
		MedianMicros: ptr.To[int64](90), P99Micros: ptr.To[int64](300),
	}}
	must.Same(t, "baseline", want, e.VolumeBenchmark)
}

// A run measures under the class that it asks for, or not at all.
func TestBlockIOClass(t *testing.T) {
	requested := func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Storage.BlockIOClass = "disk-100" }
	probed := func(limit string) func(*Instance) {
		return func(i *Instance) {
			i.Pod.Spec.NodeName = "worker"
			text := strings.Replace(testutil.Fingerprint, `"ioScheduler"`, limit+`"ioScheduler"`, 1)
			i.Pod.Status.InitContainerStatuses[0].State.Terminated.Message = text
		}
	}
	refused := func(i *Instance) {
		i.Pod.Spec.NodeName = "worker"
		i.Pod.Annotations = map[string]string{database.AnnotationBlockIO: "disk-100"}
		i.Pod.Status = corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{
			Name: database.ProbeContainer, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "CreateContainerError", Message: `blockio disabled, refusing to set blockio class of container "probe" to "disk-100"`,
			}},
		}}}
	}
	const remedy = "; the administrator of the nodes defines the classes in the configuration of the container runtime"
	for name, tc := range map[string]struct {
		run     func(*v1alpha1.BenchmarkRun)
		changes []func(*Instance)
		want    string
	}{
		"in force":               {requested, []func(*Instance){probed(`"blockIO":"write 100/s on 254:0",`)}, ""},
		"not asked for":          {nil, []func(*Instance){probed(`"blockIO":"none",`)}, ""},
		"not asked for, v1":      {nil, []func(*Instance){probed("")}, ""},
		"not yet known":          {requested, []func(*Instance){starting, func(i *Instance) { i.Pod.Status.InitContainerStatuses = nil }}, ""},
		"no Pod yet":             {requested, []func(*Instance){withoutPod}, ""},
		"no limit":               {requested, []func(*Instance){probed(`"blockIO":"none",`)}, "block I/O class disk-100 does not limit the disk of the data volume (/dev/vda) on node worker" + remedy},
		"not known":              {requested, []func(*Instance){probed(`"blockIO":"unknown",`)}, "cannot read whether block I/O class disk-100 is in force on node worker"},
		"unknown to the probe":   {requested, []func(*Instance){probed("")}, "cannot read whether block I/O class disk-100 is in force on node worker"},
		"unknown to the runtime": {requested, []func(*Instance){refused}, "the container runtime of node worker has no block I/O class disk-100" + remedy},
	} {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 1)
			if tc.run != nil {
				tc.run(run)
			}
			d := next(t, run, &Observed{Instances: []Instance{instanceOf(1, "u", tc.changes...)}}, now)
			got := ""
			if d.Failure != nil {
				got = d.Failure.Message
				if d.Failure.Reason != v1alpha1.ReasonBlockIOClassNotEffective {
					t.Errorf("the run ends %s", d.Failure.Reason)
				}
			}
			if got != tc.want {
				t.Errorf("the run ends with %q, want %q", got, tc.want)
			}
		})
	}
}

func TestThrottled(t *testing.T) {
	limit := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	none := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	const foreign = "look for a LimitRange or a resized Pod, or accept the limit with trials.maxThrottledPercent"
	for name, tc := range map[string]struct {
		requested corev1.ResourceRequirements
		bound     *int32
		had       int64
		throttled int64
		want      string
	}{
		"never held back":             {limit("1"), nil, 1000, 0, ""},
		"at the limit asked for":      {limit("1"), nil, 1000, 9_000_000, ""},
		"at the default limit":        {corev1.ResourceRequirements{}, nil, 1000, 9_000_000, ""},
		"on several CPUs":             {limit("4"), nil, 4000, 90_000_000, ""},
		"rounded by the runtime":      {limit("333m"), nil, 330, 5_000_000, ""},
		"unknown":                     {none, nil, -1, -1, ""},
		"limit unknown":               {none, nil, -1, 5_000_000, ""},
		"a foreign limit, hardly":     {none, nil, 500, 100_000, ""},
		"a higher limit than asked":   {limit("1"), nil, 2000, 5_000_000, ""},
		"allowed by the bound":        {limit("1"), ptr.To[int32](20), 1000, 2_000_000, ""},
		"a foreign limit, accepted":   {none, ptr.To[int32](100), 500, 9_000_000, ""},
		"beyond a bound of nothing":   {limit("1"), ptr.To[int32](0), 1000, 1, "the server was throttled at its CPU limit (1) for 0.00 s of the measured 10.00 s, 0.0%; trials.maxThrottledPercent allows 0%: raise database.resources.limits.cpu, or allow more"},
		"beyond the bound":            {limit("1500m"), ptr.To[int32](20), 1500, 2_500_000, "the server was throttled at its CPU limit (1500m) for 2.50 s of the measured 10.00 s, 25.0%; trials.maxThrottledPercent allows 20%: raise database.resources.limits.cpu, or allow more"},
		"a limit nobody asked for":    {none, nil, 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; without trials.maxThrottledPercent, a limit that the run did not set may throttle the server for at most 1%: the run requests no CPU limit; " + foreign},
		"a lower limit than asked":    {limit("2"), nil, 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; without trials.maxThrottledPercent, a limit that the run did not set may throttle the server for at most 1%: the run requests limits.cpu 2; " + foreign},
		"a foreign limit and a bound": {limit("2"), ptr.To[int32](5), 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; trials.maxThrottledPercent allows 5%: the run requests limits.cpu 2; " + foreign},
	} {
		run := testutil.MakeRun("run", "ns").Obj()
		run.Spec.Database.Resources, run.Spec.Trials.MaxThrottledPercent = tc.requested, tc.bound
		s := &result.Summary{
			Totals:   result.Totals{Micros: 10_000_000},
			Observed: &result.ObservedSummary{ThrottledMicros: tc.throttled, CPULimitMillis: tc.had},
		}
		if got := throttled(&run.Spec, s); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tc.want)
		}
	}
	if got := throttled(&testutil.MakeRun("run", "ns").Obj().Spec, &result.Summary{}); got != "" {
		t.Errorf("without an observer: %s", got)
	}
}
