// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttuning

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func lease() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "system", Name: LeaseName("a"), UID: "01234567-89ab-cdef-0123-456789abcdef", Labels: map[string]string{"l": "v"},
	}}
}

// Each step has a Job of its own, and each attempt to restore a node another one. No step is given values that it must not know.
func TestJobOfAStep(t *testing.T) {
	r := New(&v1alpha1.HostTuningSpec{
		Swappiness: ptr.To[int32](0), IOScheduler: "none", DropPageCache: v1alpha1.DropPageCacheBeforeEachTrial,
	}, "a", "sda")
	r.Before, r.Drop = &result.HostSettings{Swappiness: "60", IOScheduler: "bfq"}, "run-t1-a1"
	names := map[string]bool{}
	for step, want := range map[Step]string{
		StepRead:    "host read --disk=sda --swappiness=0 --io-scheduler=none",
		StepSet:     "host set --disk=sda --swappiness=0 --io-scheduler=none",
		StepDrop:    "host drop-page-cache",
		StepRestore: "host set --disk=sda --swappiness=60 --io-scheduler=bfq",
	} {
		job := Job(lease(), &r, step, podutil.Images{Loader: "loader:1", Registry: "registry.example.com", PullSecrets: []string{"pull"}})
		spec := job.Spec.Template.Spec
		if got := strings.Join(spec.Containers[0].Args, " "); got != want {
			t.Errorf("%s: %s", step, got)
		}
		if job.Namespace != "system" || spec.NodeName != "a" || job.OwnerReferences[0].UID != lease().UID || len(job.Name) > 63 {
			t.Errorf("%s: %+v", step, job)
		}
		if spec.Containers[0].Image != "registry.example.com/loader:1" || spec.ImagePullSecrets[0].Name != "pull" {
			t.Errorf("%s: image %s, secrets %v", step, spec.Containers[0].Image, spec.ImagePullSecrets)
		}
		names[job.Name] = true
	}
	again, other := r, r
	again.Attempts, other.Drop = 1, "run-t2-a1"
	names[JobName(lease(), &again, StepRestore)], names[JobName(lease(), &other, StepDrop)] = true, true
	if len(names) != 6 {
		t.Errorf("names are %v", names)
	}
}

// What a Job has left counts only if it is its own Pod's, and whole.
func TestOutcomeOf(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: "job"}}
	pod := func(owner string, code int32, message string) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "job", Controller: ptr.To(owner == "job")}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
				Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}},
			}}},
		}
	}
	const good = `{"version":1,"settings":{"swappiness":"60"}}`
	report := &result.HostReport{Version: 1, Settings: sixty}
	for name, tc := range map[string]struct {
		condition batchv1.JobConditionType
		pods      []corev1.Pod
		warning   string
		want      Outcome
	}{
		"running":       {"", []corev1.Pod{pod("job", 0, good)}, "", Outcome{Exists: true}},
		"criteria met":  {batchv1.JobSuccessCriteriaMet, []corev1.Pod{pod("job", 0, good)}, "", Outcome{Exists: true}},
		"complete":      {batchv1.JobComplete, []corev1.Pod{pod("job", 1, ""), pod("job", 0, good)}, "", Outcome{true, true, report, "said: exit code 1: "}},
		"somebody's":    {batchv1.JobComplete, []corev1.Pod{pod("other", 0, good)}, "", Outcome{true, true, nil, "said"}},
		"garbled":       {batchv1.JobComplete, []corev1.Pod{pod("job", 0, "{")}, "", Outcome{true, true, nil, "reading the report about the node: unexpected end of JSON input"}},
		"of the future": {batchv1.JobComplete, []corev1.Pod{pod("job", 0, `{"version":2}`)}, "", Outcome{true, true, nil, "the report about the node has version 2, this program reads 1"}},
		"no Pod":        {batchv1.JobFailed, nil, "forbidden", Outcome{true, true, nil, "said: forbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			job := job.DeepCopy()
			if tc.condition != "" {
				job.Status.Conditions = []batchv1.JobCondition{{Type: tc.condition, Status: corev1.ConditionTrue, Message: "said"}}
			}
			got := OutcomeOf(job, tc.pods, tc.warning)
			if got.Report != nil {
				got.Failure = tc.want.Failure
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// A record comes back as it was, and one of another version does not.
func TestRecord(t *testing.T) {
	r := record(set, restored)
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "{}", `{"version":2,"node":"a"}`, `{"version":1}`, "["} {
		if r, err := Decode(bad); err == nil {
			t.Errorf("%q is %+v", bad, r)
		}
	}
}

func TestLeaseName(t *testing.T) {
	if got := LeaseName("worker-1"); got != "worker-1.host.benchrun.dev" {
		t.Error(got)
	}
	long, other := LeaseName(strings.Repeat("a", 253)), LeaseName(strings.Repeat("a", 252)+"b")
	if len(long) > 253 || long == other || !strings.HasSuffix(long, ".host.benchrun.dev") {
		t.Errorf("%s and %s", long, other)
	}
}
