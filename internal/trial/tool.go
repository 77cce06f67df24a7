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
)

// installContainer copies the loader to where an image that is not its own finds it.
const installContainer = "install"

// workSize bounds the folder in memory for a tool's files: configuration, a script, a result.
var workSize = resource.MustParse("16Mi")

// addTool makes the loader's Pod one in which another program makes the load.
func addTool(spec *corev1.PodSpec, run *v1alpha1.BenchmarkRun, images podutil.Images) {
	w := &run.Spec.Workload
	switch w.Type {
	case v1alpha1.WorkloadSysbench:
		spec.Containers[0].Image = images.Sysbench
		addWork(spec)
		if from := w.Sysbench.ScriptFrom; from != nil {
			addFiles(spec, "script", result.ScriptPath, from.Name, corev1.KeyToPath{Key: from.Key, Path: from.Key})
		}
	case v1alpha1.WorkloadCustom:
		addCustom(spec, w.Custom, images)
	default:
	}
}

// addCustom lets the run's image start the loader, which starts the run's program.
func addCustom(spec *corev1.PodSpec, w *v1alpha1.CustomWorkload, images podutil.Images) {
	tool := corev1.VolumeMount{Name: "tool", MountPath: result.ToolPath}
	spec.InitContainers = append(spec.InitContainers, corev1.Container{
		Name: installContainer, Image: images.Loader, ImagePullPolicy: corev1.PullIfNotPresent,
		Args: []string{"install", result.ToolPath + "/loader"}, Resources: spec.Containers[0].Resources,
		SecurityContext: podutil.RestrictedContainer(), VolumeMounts: []corev1.VolumeMount{tool},
	})
	c := &spec.Containers[0]
	c.Image, c.Command = w.Image, []string{result.ToolPath + "/loader"}
	c.SecurityContext.RunAsUser = ptr.To(w.User)
	tool.ReadOnly = true
	c.VolumeMounts = append(c.VolumeMounts, tool, corev1.VolumeMount{Name: "tmp", MountPath: "/tmp"})
	spec.Volumes = append(spec.Volumes,
		corev1.Volume{Name: "tool", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	addWork(spec)
	if w.FilesFrom != "" {
		addFiles(spec, "files", result.FilesPath, w.FilesFrom)
	}
}

// addWork is a folder in memory: the password is in one of its files, which must not reach a disk.
func addWork(spec *corev1.PodSpec) {
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "work", MountPath: result.WorkPath})
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "work", VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: ptr.To(workSize.DeepCopy())},
	}})
}

// addFiles are files of a ConfigMap: those that items name, or all.
func addFiles(spec *corev1.PodSpec, name, path, configMap string, items ...corev1.KeyToPath) {
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: true})
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Items: items,
		},
	}})
}
