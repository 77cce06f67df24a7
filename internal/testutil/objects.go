// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package testutil

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// Fingerprint as a probe leaves it.
const Fingerprint = `{"version":1,"kernel":"6.1.0","cpuModel":"Test CPU","cpus":2,"memoryBytes":8589934592,` +
	`"filesystem":"ext4","mountOptions":"rw,relatime","device":"/dev/vda","ioScheduler":"none","swappiness":"60",` +
	`"transparentHugePages":"madvise","cpuGovernor":"unknown","fdatasyncMicros":{"calls":300,"median":110,"p95":180,"max":900}}`

// DatabaseAddress is that of the Pods of databases.
const DatabaseAddress = "192.0.2.10"

// ReadyDatabasePod makes a Pod look as if its server answers.
func ReadyDatabasePod(pod *corev1.Pod) {
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, DatabaseAddress
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: database.ProbeContainer, ImageID: "loader@sha256:1111",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 0, Message: Fingerprint}},
	}}
	if slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == database.DiskContainer }) {
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{
			Name: database.DiskContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "sda"}},
		})
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: database.ServerContainer, ImageID: "mariadb@sha256:2222", Ready: true, Started: ptr.To(true),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}}
}

// RefusedDatabasePod makes a Pod look as if its server has ended at once, with that log.
func RefusedDatabasePod(pod *corev1.Pod, log string) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: database.ServerContainer, Started: ptr.To(false), RestartCount: 1,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: log},
		},
	}}
}

// EndedLoaderPod makes a Pod look as if its loader has ended, leaving a termination message.
func EndedLoaderPod(pod *corev1.Pod, exitCode int32, message string, at time.Time) {
	pod.Status.Phase = corev1.PodSucceeded
	if exitCode != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: trial.Container, ImageID: "loader@sha256:1111",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, Reason: "Completed", Message: message, FinishedAt: metav1.NewTime(at),
		}},
	}}
}

// JobCondition makes a Job look as if it has ended.
func JobCondition(job *batchv1.Job, kind batchv1.JobConditionType, reason string) {
	job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
		Type: kind, Status: corev1.ConditionTrue, Reason: reason,
	})
}

// Document is a small, whole result of the Pod with that UID, with the given rate.
func Document(podUID types.UID, trialNumber, attempt int, rowsPerSecond float64) *result.Document {
	return &result.Document{
		Version: result.DocumentVersion,
		Identity: result.Identity{
			Trial: trialNumber, Attempt: attempt, PodUID: string(podUID), Loader: "test",
			Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Ended: time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC),
		},
		Totals: result.Totals{Rows: 100, Transactions: 100, Statements: 200, Micros: 1_000_000, StoppedBy: result.StoppedByRows},
		Metrics: []result.Metric{
			{Name: "rowsPerSecond", Value: rowsPerSecond, Unit: "rows/s", Better: "higher"},
			{Name: "clientCPUPerRow", Value: 12.5, Unit: "µs", Better: "lower"},
		},
		Latencies: []result.Latency{{
			Operation: "commit", Count: 100, MinMicros: 90, MeanMicros: 120, P50Micros: 110, P95Micros: 180, P99Micros: 250,
			P999Micros: 400, MaxMicros: 500,
		}},
		Server: result.ServerFacts{
			Version: "11.8.3-MariaDB", SettingsDigest: "sha256:abcd",
			Settings: []result.AppliedSetting{{Name: "sync_binlog", Requested: "1", Effective: "1", Outcome: result.SettingEffective}},
		},
		Checks: []result.Check{{Name: "rows", Passed: true}},
	}
}

// Record is an accepted attempt's.
func Record(trialNumber, attempt int, parameters map[string]string, rowsPerSecond float64) *result.Record {
	doc := Document("pod", trialNumber, attempt, rowsPerSecond)
	summary := doc.Summarize(result.EncodedDocument{SHA256: "feed", Gzip: []byte("gzip")})
	fingerprint, err := result.DecodeFingerprint(Fingerprint)
	if err != nil {
		panic(err)
	}
	return &result.Record{
		Version: result.RecordVersion, Trial: trialNumber, Attempt: attempt, Instance: 1, Parameters: parameters,
		Outcome: result.OutcomeAccepted, Summary: &summary, Fingerprint: fingerprint,
		Place: result.Place{
			DatabaseNode: "worker", LoaderNode: "worker2", DatabasePodUID: "db-pod", LoaderPodUID: "pod",
			DatabaseImage: "mariadb@sha256:2222", LoaderImage: "loader@sha256:1111",
		},
		Recorded: time.Date(2026, 1, 2, 3, 5, trialNumber, 0, time.UTC),
	}
}
