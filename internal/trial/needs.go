// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// addData mounts the user's data and SQL.
func addData(spec *corev1.PodSpec, w *v1alpha1.WorkloadSpec) {
	if from := w.SchemaFrom; from != nil {
		addFiles(spec, "schema", result.SchemaPath, from.Name, from.Key)
	}
	if from := w.DataFrom; from != nil {
		c := &spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: result.DataPath, ReadOnly: true})
		// With a read-only mount, no file's group is changed to the Pod's.
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: from.PersistentVolumeClaim, ReadOnly: true},
		}})
	}
}

// addFiles mounts the files of a ConfigMap: that of one key, or all if the key is empty.
func addFiles(spec *corev1.PodSpec, name, path, configMap, key string) {
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
	if key != "" {
		source.Items = []corev1.KeyToPath{{Key: key, Path: key}}
	}
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: true})
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: source}})
}

// installContainer copies the loader to where an image that is not its own finds it.
const installContainer = "install"

// workSize bounds the folder in memory for a tool's files: configuration, a script, a result.
var workSize = resource.MustParse("16Mi")

// addNeeds gives the loader's Pod what its workload needs.
func addNeeds(spec *corev1.PodSpec, needs workload.Pod, images podutil.Images) {
	switch needs.Bundle {
	case workload.BundleSysbench:
		spec.Containers[0].Image = images.Sysbench
	case workload.BundleNone:
	}
	if needs.Image != "" {
		useImage(spec, needs, images)
	}
	if needs.Work {
		addWork(spec)
	}
	if needs.Files != "" {
		addFiles(spec, "files", result.FilesPath, needs.Files, "")
	}
}

// useImage runs the loader in the user's image: an init container copies it there.
func useImage(spec *corev1.PodSpec, needs workload.Pod, images podutil.Images) {
	tool := corev1.VolumeMount{Name: "tool", MountPath: result.ToolPath}
	spec.InitContainers = append(spec.InitContainers, corev1.Container{
		Name: installContainer, Image: images.Loader, ImagePullPolicy: corev1.PullIfNotPresent,
		Args: []string{"install", result.ToolPath + "/loader"}, Resources: spec.Containers[0].Resources,
		SecurityContext: podutil.RestrictedContainer(), VolumeMounts: []corev1.VolumeMount{tool},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	})
	c := &spec.Containers[0]
	c.Image, c.Command = needs.Image, []string{result.ToolPath + "/loader"}
	c.SecurityContext.RunAsUser = ptr.To(needs.User)
	tool.ReadOnly = true
	c.VolumeMounts = append(c.VolumeMounts, tool, corev1.VolumeMount{Name: "tmp", MountPath: "/tmp"})
	spec.Volumes = append(spec.Volumes,
		corev1.Volume{Name: "tool", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
}

// addWork is a folder in memory: one of its files has the password, which must not reach a disk.
func addWork(spec *corev1.PodSpec) {
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "work", MountPath: result.WorkPath})
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "work", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(workSize.DeepCopy())},
	}})
}
