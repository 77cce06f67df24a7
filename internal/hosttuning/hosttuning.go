// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hosttuning decides how a node is tuned for a run and restored afterwards. A node is tuned by the run that has created
// its Lease, in the operator's namespace. The Lease has a Record, whose state says which Job is at work:
//
//	Reading -> Setting -> Tuned, the run measures -> Restoring -> Ended, and the Lease is deleted
//	      \________\____> Failed ____________________/
//
// Nothing is changed before the values that the node had are in the record, and the Lease stays until they were read back. An
// operator that is killed between any two writes therefore knows what to restore, and to what.
package hosttuning

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

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

// State of a node. A Job is at work while it is being read, set or restored, and nothing is left to do when it has Ended.
type State string

// States of a node.
const (
	Reading   State = "Reading"
	Setting   State = "Setting"
	Tuned     State = "Tuned"
	Failed    State = "Failed"
	Restoring State = "Restoring"
	Ended     State = "Ended"
)

const recordVersion = 2

// Record is what is known of a tuned node, or one that is to be tuned.
type Record struct {
	Version   int                   `json:"version"`
	State     State                 `json:"state"`
	Requested v1alpha1.HostSettings `json:"requested"`
	// The status is what the run's has about the node, once it has the values from before.
	v1alpha1.HostTuningStatus `json:"status"`
	// Reason and Failure are those of the run if the node could not be tuned.
	Reason  string `json:"reason,omitempty"`
	Failure string `json:"failure,omitempty"`
	// Release: the run that has tuned the node no longer needs it.
	Release bool `json:"release,omitempty"`
	// Attempts to restore the node have failed. Tried is when the last one did, or when the node has ended.
	Attempts int       `json:"attempts,omitempty"`
	Tried    time.Time `json:"tried,omitzero"`
}

// New is the record of a node that is to be tuned for a run.
func New(spec *v1alpha1.HostTuningSpec, node, disk string) Record {
	r := Record{Version: recordVersion, State: Reading, Requested: Settings(spec)}
	if r.Node = node; r.Requested.IOScheduler != "" {
		r.Disk = result.Truncate(disk, 64)
	}
	return r
}

// Settings are what a run asks for, in the kernel's words.
func Settings(spec *v1alpha1.HostTuningSpec) v1alpha1.HostSettings {
	s := v1alpha1.HostSettings{IOScheduler: spec.IOScheduler, TransparentHugePages: spec.TransparentHugePages}
	if spec.Swappiness != nil {
		s.Swappiness = strconv.Itoa(int(*spec.Swappiness))
	}
	return s
}

// Decode reads the annotation of a Lease.
func Decode(text string) (*Record, error) {
	r, err := result.Versioned([]byte(text), "the record of a tuned node", func(r *Record) int { return r.Version }, recordVersion)
	if err == nil && r.Node == "" {
		return nil, fmt.Errorf("the record of a tuned node has version %d, this program reads %d", r.Version, recordVersion)
	}
	return r, err
}

// Changes says whether the node has, or may have had, other values than before.
func (r *Record) Changes() bool { return r.Before != (v1alpha1.HostSettings{}) }

// Settled says whether the node is restored, or counts as one that could not be.
func (r *Record) Settled() bool { return r.State == Ended || r.Restored != nil }

// Observed is what a decision about a node depends on, beside its record.
type Observed struct {
	// Needed: the run that has tuned the node is under way. Noted: its status says that the node is restored, or the run is gone.
	Needed, Noted bool
	// NodeGone: the node no longer exists.
	NodeGone bool
	// Job of the state.
	Job Outcome
}

// Decision is what to do next about a node: start the Job of its state, forget the node by deleting its Lease, write this record
// in place of the old one, or wait.
type Decision struct {
	Start, Forget bool
	Write         *Record
}

const (
	// retry is the time after which a node that was not restored is tried again.
	retry = time.Minute
	// noteTime is how long a node that has ended waits for its run to take note, and one that is gone for its return.
	noteTime = 5 * time.Minute
)

// Next decides about a node. One that is being set is restored when that has ended, not before.
func Next(r Record, seen Observed, now time.Time) Decision {
	release, idle := r.Release || !seen.Needed, r.State == Tuned || r.State == Failed
	switch {
	case r.State == Ended:
		return r.ended(seen, now)
	case r.State == Restoring && seen.NodeGone:
		r.restored(Ended, "node "+r.Node+" no longer exists", now)
	case release && !r.Changes():
		r.restored(Ended, "", now)
	case release && idle:
		r.State = Restoring
	case idle, seen.Job.Exists && !seen.Job.Ended:
		return Decision{}
	case !seen.Job.Exists:
		return Decision{Start: r.Attempts == 0 || now.Sub(r.Tried) >= retry}
	default:
		r.advance(seen.Job, now)
	}
	return Decision{Write: &r}
}

// ended forgets a node, or restores one that has come back.
func (r *Record) ended(seen Observed, now time.Time) Decision {
	restored := r.Restored != nil && *r.Restored
	if !restored && !seen.NodeGone {
		r.State = Restoring
		return Decision{Write: r}
	}
	return Decision{Forget: now.Sub(r.Tried) >= noteTime || restored && (seen.Noted || !r.Changes())}
}

// restored writes down that the node has its values again, or why not.
func (r *Record) restored(state State, problem string, now time.Time) {
	restored := problem == ""
	r.State, r.Tried, r.Restored, r.Message = state, now, &restored, result.Truncate(problem, 1024)
}

// advance writes down what the Job of the state has done.
func (r *Record) advance(o Outcome, now time.Time) {
	have, problem := v1alpha1.HostSettings{}, "its Job failed: "+o.Failure
	if o.Report != nil {
		have, problem = v1alpha1.HostSettings(o.Report.Settings), o.Report.Problem
	}
	differs := func(want v1alpha1.HostSettings) string {
		if problem == "" && have != want {
			return fmt.Sprintf("read back %+v, not %+v", have, want)
		}
		return problem
	}
	switch {
	case r.State == Restoring && differs(r.Before) == "":
		r.restored(Ended, "", now)
		return
	case r.State == Restoring:
		r.Attempts++
		r.restored(Restoring, differs(r.Before), now)
		return
	case r.State == Setting:
		r.State, r.After, problem = Tuned, have, differs(r.Requested)
	case problem == "" && len(Flags(have)) != len(Flags(r.Requested)):
		problem = fmt.Sprintf("%+v was read, but %+v is requested", have, r.Requested)
	case problem == "":
		r.State, r.Before = Setting, have
	}
	if problem != "" {
		r.State, r.Reason, r.Failure = Failed, v1alpha1.ReasonHostTuningFailed, "node "+r.Node+": "+problem
		if o.Report != nil {
			r.Reason = v1alpha1.ReasonSettingNotEffective
		}
	}
}

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
