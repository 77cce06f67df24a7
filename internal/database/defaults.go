// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// storage defaults what is unset here, not in the API server, because an external server has none.
func storage(db *v1alpha1.DatabaseSpec) v1alpha1.StorageSpec {
	s := db.Storage
	if s.Medium == "" {
		s.Medium = v1alpha1.MediumVolume
	}
	if s.Size.IsZero() {
		s.Size = resource.MustParse(v1alpha1.DefaultStorageSize)
	}
	return s
}

// defaultBufferPool is the server's own default, for sizing the container.
const defaultBufferPool = 128 << 20

// resources of the server: those of computeResources and, with data on the node's disk, as much of it as the data may take, so
// that a node without that room is not chosen.
func resources(db *v1alpha1.DatabaseSpec, beside int64) corev1.ResourceRequirements {
	r, requested := computeResources(db, beside), storage(db)
	if _, own := r.Requests[corev1.ResourceEphemeralStorage]; own || requested.Medium != v1alpha1.MediumNodeDisk {
		return r
	}
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	r.Requests[corev1.ResourceEphemeralStorage] = requested.Size.DeepCopy()
	return r
}

// computeResources are CPU and memory: those of the specification, with missing requests equal to limits. Unset: one CPU, and
// memory for 1.25 times the buffer pool plus the memory that the engine takes beside it, and for a data directory in memory.
func computeResources(db *v1alpha1.DatabaseSpec, beside int64) corev1.ResourceRequirements {
	if db.Resources.Limits != nil || db.Resources.Requests != nil {
		return podutil.Guaranteed(db.Resources)
	}
	pool := int64(defaultBufferPool)
	if db.Settings.BufferPoolSize != nil {
		pool = db.Settings.BufferPoolSize.Value()
	}
	memory := pool + pool/4 + beside
	if requested := storage(db); requested.Medium == v1alpha1.MediumMemory {
		memory += requested.Size.Value()
	}
	return podutil.Guaranteed(corev1.ResourceRequirements{Limits: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(plan.DefaultCPUMillis, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}})
}

// affinity is nil unless nodes were asked for.
func affinity(db *v1alpha1.DatabaseSpec) *corev1.Affinity {
	if db.NodeAffinity == nil {
		return nil
	}
	return &corev1.Affinity{NodeAffinity: db.NodeAffinity}
}
