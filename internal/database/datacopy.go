// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

const (
	// RestoreContainer has the server begin with a copy of prepared data, if there is one.
	RestoreContainer = "restore"

	copyVolume, copyPath = "copy", "/copy"
)

// DataCopy is the claim with the copy of a run's prepared data, which outlives the instances; nil if it keeps none.
func DataCopy(run *v1alpha1.BenchmarkRun) *corev1.PersistentVolumeClaim {
	if !plan.CopiesData(run) {
		return nil
	}
	requested := storage(&run.Spec.Database)
	return claimOf(metav1.ObjectMeta{
		Name: plan.DataCopyName(run), Namespace: run.Namespace, Labels: plan.DataCopyLabels(run),
	}, requested.Size, requested.StorageClassName)
}

// addRestore adds the volume of the copy, and the container that comes before all others.
func addRestore(spec *corev1.PodSpec, e *engine.Engine, run *v1alpha1.BenchmarkRun, images podutil.Images) {
	if !plan.CopiesData(run) {
		return
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: copyVolume, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: plan.DataCopyName(run)},
	}})
	spec.InitContainers = slices.Insert(spec.InitContainers, 0, corev1.Container{
		Name:            RestoreContainer,
		Image:           images.Loader,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args:            []string{"restore", "--data=" + e.Image.DataPath, "--copy=" + copyPath},
		// The same as the server's, so that the Pod keeps its class of service; they do not add up.
		Resources: resources(&run.Spec.Database, e.Image.Memory),
		VolumeMounts: []corev1.VolumeMount{
			{Name: dataVolume, MountPath: e.Image.DataPath},
			{Name: copyVolume, MountPath: copyPath, ReadOnly: true},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          podutil.RestrictedContainer(),
	})
}
