// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// retainedClass is the storage class of an instance's volumes if they stay after their claims; empty if they do not, or if that
// is not known: an operator that works in some namespaces only may not read classes. No measurement depends on it.
func (r *BenchmarkRunReconciler) retainedClass(ctx context.Context, seen *lifecycle.Observed, instance int) string {
	for n := range seen.Instances {
		i := &seen.Instances[n]
		if i.Number != instance || len(i.Claims) == 0 {
			continue
		}
		name := ptr.Deref(i.Claims[0].Spec.StorageClassName, "")
		if name == "" {
			return ""
		}
		var class storagev1.StorageClass
		if err := r.Live.Get(ctx, client.ObjectKey{Name: name}, &class); err != nil {
			if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
				log.FromContext(ctx).Error(err, "Reading a storage class", "class", name)
			}
			return ""
		}
		if ptr.Deref(class.ReclaimPolicy, "") == corev1.PersistentVolumeReclaimRetain {
			return name
		}
	}
	return ""
}
