// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// ObserverContainer sees what the server uses.
const ObserverContainer = "observer"

// observerResources are requests and limits alike, so that a Guaranteed Pod stays one. The observer works for a moment
// before and after what is measured, and for a fifth of a second in the quiet time.
var observerResources = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("100m"),
	corev1.ResourceMemory: resource.MustParse("32Mi"),
}

// addObserver adds the observer to the server's Pod: a sidecar, which starts before the server and ends after it. It shares
// the Pod's processes and has the server's user, which is what the kernel asks of whoever reads about a process.
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
