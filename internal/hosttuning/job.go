// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttuning

import (
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// container is the name of the container that reads and changes a node's settings.
const container = "host"

const (
	// jobSeconds is how long a Job may take.
	jobSeconds int64 = 60
	// keepSeconds is how long a Job that has ended stays, unless the Lease that it belongs to is deleted before.
	keepSeconds int32 = 3600
)

// JobName is the name of the Job of a step for a Lease.
func JobName(lease *coordinationv1.Lease, r *Record, step Step) string {
	name := fmt.Sprintf("host-%.16s-%s", hash(string(lease.UID)), step)
	switch step {
	case StepDrop:
		return name + "-" + hash(r.Drop)
	case StepRestore:
		return fmt.Sprintf("%s-%d", name, r.Attempts)
	case StepRead, StepSet:
	}
	return name
}

// Job of a step. Its Pod is privileged: that is how it sees the node's /proc/sys and /sys. It mounts nothing of the node, has no
// token, and is bound to the node past the scheduler, so that it runs where there is no room and on nodes that are cordoned.
func Job(lease *coordinationv1.Lease, r *Record, step Step, images podutil.Images) *batchv1.Job {
	labels := maps.Clone(lease.Labels)
	spec := corev1.PodSpec{
		NodeName:                     r.Node,
		Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		Containers: []corev1.Container{{
			Name:            container,
			Image:           images.Loader,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Args:            args(r, step),
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
				},
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
			},
			SecurityContext: &corev1.SecurityContext{
				Privileged: ptr.To(true), ReadOnlyRootFilesystem: ptr.To(true),
				RunAsUser: ptr.To[int64](0), RunAsGroup: ptr.To[int64](0), RunAsNonRoot: ptr.To(false),
			},
		}},
	}
	images.Complete(&spec, nil)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: lease.Namespace, Name: JobName(lease, r, step), Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease", Name: lease.Name, UID: lease.UID,
				Controller: ptr.To(true),
			}},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:            ptr.To[int32](1),
			PodReplacementPolicy:    ptr.To(batchv1.Failed),
			ActiveDeadlineSeconds:   ptr.To(jobSeconds),
			TTLSecondsAfterFinished: ptr.To(keepSeconds),
			Template:                corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels)}, Spec: spec},
		},
	}
}

// args of the loader's program.
func args(r *Record, step Step) []string {
	list := []string{"host", string(step)}
	settings := r.Requested
	switch step {
	case StepDrop:
		return []string{"host", "drop-page-cache"}
	case StepRestore:
		list[1], settings = string(StepSet), ptr.Deref(r.Before, result.HostSettings{})
	case StepRead, StepSet:
	}
	if r.Disk != "" {
		list = append(list, "--disk="+r.Disk)
	}
	return append(list, Flags(settings)...)
}

// Flags of the loader's program for settings.
func Flags(s result.HostSettings) []string {
	var list []string
	for _, flag := range []struct{ name, value string }{
		{"swappiness", s.Swappiness}, {"io-scheduler", s.IOScheduler}, {"transparent-huge-pages", s.TransparentHugePages},
	} {
		if flag.value != "" {
			list = append(list, "--"+flag.name+"="+flag.value)
		}
	}
	return list
}

// OutcomeOf a Job and its Pods. The warning is the cluster's latest about the Job, or empty.
func OutcomeOf(job *batchv1.Job, pods []corev1.Pod, warning string) Outcome {
	o := Outcome{Exists: true}
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			o.Ended, o.Failure = true, c.Message
		}
	}
	if !o.Ended {
		return o
	}
	if warning != "" {
		o.Failure += ": " + warning
	}
	for i := range pods {
		end := podutil.Ended(&pods[i], container)
		if !metav1.IsControlledBy(&pods[i], job) || end == nil {
			continue
		}
		if end.ExitCode != 0 {
			o.Failure = fmt.Sprintf("exit code %d: %s", end.ExitCode, end.Message)
			continue
		}
		report, err := result.DecodeHostReport(end.Message)
		if err != nil {
			o.Failure = err.Error()
			continue
		}
		o.Report = report
	}
	return o
}
