// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

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
