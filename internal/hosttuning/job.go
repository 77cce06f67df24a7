// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttuning

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// container is the name of the container that reads and changes a node's settings.
const container = "host"

// Job of a node's state. Its Pod is privileged: that is how it sees the node's /proc/sys and /sys. It mounts nothing of the node,
// has no token, and is bound to the node past the scheduler, so that it runs where there is no room and on cordoned nodes.
func Job(lease *coordinationv1.Lease, r *Record, images podutil.Images) *batchv1.Job {
	spec := corev1.PodSpec{
		NodeName:                     r.Node,
		Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		Containers: []corev1.Container{{
			Name: container, Image: images.Loader, ImagePullPolicy: corev1.PullIfNotPresent, Args: args(r),
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
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
			Namespace: lease.Namespace, Labels: lease.Labels,
			Name: fmt.Sprintf("host-%s-%s-%d", lease.UID, strings.ToLower(string(r.State)), r.Attempts),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Name: lease.Name, UID: lease.UID, Controller: ptr.To(true),
			}},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:            ptr.To[int32](1),
			PodReplacementPolicy:    ptr.To(batchv1.Failed),
			ActiveDeadlineSeconds:   ptr.To[int64](60),
			TTLSecondsAfterFinished: ptr.To[int32](3600),
			Template:                corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: lease.Labels}, Spec: spec},
		},
	}
}

// args of the loader's program.
func args(r *Record) []string {
	list, settings := []string{"host"}, r.Requested
	if r.State == Restoring {
		settings = r.Before
	}
	if r.State != Reading {
		list = append(list, "--set")
	}
	if r.Disk != "" {
		list = append(list, "--disk="+r.Disk)
	}
	return append(list, Flags(settings)...)
}

// Flags of the loader's program for settings.
func Flags(s v1alpha1.HostSettings) []string {
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

// Outcome of a Job.
type Outcome struct {
	Exists, Ended bool
	// Report that it has left, or nil: then Failure says why there is none.
	Report  *result.HostReport
	Failure string
}

// OutcomeOf a Job and its Pods. Of a Job that has ended without a report, the warning is the cluster's latest about it.
func OutcomeOf(job *batchv1.Job, pods []corev1.Pod, warning func() string) Outcome {
	o := Outcome{Exists: true}
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			o.Ended, o.Failure = true, c.Message
		}
	}
	for i := range pods {
		end := podutil.Ended(&pods[i], container)
		if !metav1.IsControlledBy(&pods[i], job) || end == nil {
			continue
		}
		err := json.Unmarshal([]byte(end.Message), &o.Report)
		if err == nil && o.Report != nil {
			return o
		}
		o.Report, o.Failure = nil, fmt.Sprintf("exit code %d: %q: %v", end.ExitCode, end.Message, err)
	}
	if o.Ended {
		o.Failure = strings.Trim(o.Failure+": "+warning(), ": ")
	}
	return o
}

// LeaseName is the name of the Lease of a node. The name of a node that is too long for that is replaced by its hash.
func LeaseName(node string) string {
	const suffix, longest = ".host.benchrun.dev", 253
	if len(node)+len(suffix) > longest {
		node = fmt.Sprintf("%x", sha256.Sum256([]byte(node)))
	}
	return node + suffix
}
