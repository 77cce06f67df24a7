// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// addData mounts what the run brings along for the loader itself: data and SQL.
func addData(spec *corev1.PodSpec, w *v1alpha1.WorkloadSpec) {
	if from := w.SchemaFrom; from != nil {
		addFiles(spec, "schema", result.SchemaPath, from.Name, corev1.KeyToPath{Key: from.Key, Path: from.Key})
	}
	if from := w.DataFrom; from != nil {
		c := &spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: result.DataPath, ReadOnly: true})
		// Mounted for reading only, no file's group is changed to the Pod's.
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: from.PersistentVolumeClaim, ReadOnly: true},
		}})
	}
}

// configureData tells the loader where data and SQL are.
func configureData(to *result.Workload, w *v1alpha1.WorkloadSpec) {
	if from := w.SchemaFrom; from != nil {
		to.SchemaFile = result.SchemaPath + "/" + from.Key
	}
	if from := w.DataFrom; from != nil {
		to.Data = &result.Data{
			Claim: from.PersistentVolumeClaim, Root: result.DataPath, Path: from.Path,
			Separator: from.Separator, HeaderLines: int64(ptr.Deref(from.HeaderLines, 0)), Table: from.Table, Columns: from.Columns,
		}
		if w.Type == v1alpha1.WorkloadBulkInsert {
			to.Data.Format = string(cmp.Or(from.Format, v1alpha1.DataTSV))
		}
	}
}
