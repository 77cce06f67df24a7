// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

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

// DataCopy is the claim with the copy of the prepared data of an instance and of those after it; nil if the run keeps none.
func DataCopy(run *v1alpha1.BenchmarkRun, instance int) *corev1.PersistentVolumeClaim {
	if !plan.CopiesData(run) {
		return nil
	}
	requested := storage(&plan.Side(run, plan.VariantOf(run, instance), 1).Spec.Database)
	return claimOf(metav1.ObjectMeta{
		Name: plan.DataCopyName(run, instance), Namespace: run.Namespace, Labels: plan.Labels(run, v1alpha1.ComponentDataCopy),
	}, requested.Size, requested.StorageClassName)
}

// addRestore adds the volume of the copy, which is that claim, and the container that comes before all others.
func addRestore(spec *corev1.PodSpec, e *engine.Engine, run *v1alpha1.BenchmarkRun, claim string, images podutil.Images) {
	if !plan.CopiesData(run) {
		return
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: copyVolume, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
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

// ObserverContainer sees what the server uses.
const ObserverContainer = "observer"

// observerResources are requests and limits alike, so that a Guaranteed Pod stays one. The observer works for a moment
// before and after what is measured, and for a fifth of a second in the quiet time.
var observerResources = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("100m"),
	corev1.ResourceMemory: resource.MustParse("32Mi"),
}

// addObserver adds the observer to the server's Pod: a sidecar, which starts before the server and ends after it. It shares
// the Pod's processes and has the server's user, which is what the kernel requires for reading about a process.
func addObserver(spec *corev1.PodSpec, e *engine.Engine, run *v1alpha1.BenchmarkRun, images podutil.Images) {
	if !plan.HasObserver(&run.Spec.Database) {
		return
	}
	spec.ShareProcessNamespace = ptr.To(true)
	observer := corev1.Container{
		Name:            ObserverContainer,
		Image:           images.Loader,
		ImagePullPolicy: corev1.PullIfNotPresent,
		RestartPolicy:   ptr.To(corev1.ContainerRestartPolicyAlways),
		Args: []string{
			"observe", "--engine=" + e.Name, "--data=" + e.Image.DataPath, "--port=" + strconv.Itoa(plan.ObserverPort),
			"--password-file=" + podutil.CredentialPath + "/" + podutil.PasswordKey,
		},
		Ports: []corev1.ContainerPort{{Name: ObserverContainer, ContainerPort: plan.ObserverPort}},
		Resources: corev1.ResourceRequirements{
			Requests: observerResources.DeepCopy(), Limits: observerResources.DeepCopy(),
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: dataVolume, MountPath: e.Image.DataPath},
			{Name: "credentials", MountPath: podutil.CredentialPath, ReadOnly: true},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          podutil.RestrictedContainer(),
	}
	if plan.CopiesData(run) {
		observer.Args = append(observer.Args, "--copy="+copyPath)
		observer.VolumeMounts = append(observer.VolumeMounts, corev1.VolumeMount{Name: copyVolume, MountPath: copyPath})
	}
	spec.InitContainers = append(spec.InitContainers, observer)
}
