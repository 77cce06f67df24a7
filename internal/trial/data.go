// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
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
