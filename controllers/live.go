// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// PageSize is how many objects of a list are read at once: of the largest that there can be, they have 6 MB. Those that are read
// by their metadata alone are not smaller: labels have no bound.
const PageSize = 4

// Live reads from the API server. Lists of the kinds that the cache has are read in pages, one at a time, and of each object only
// what the cache keeps is kept: with the objects of everybody in one answer, the operator would run out of memory.
type Live struct {
	client.Reader
	one sync.Mutex
}

// List reads a list in pages, unless the caller does so himself.
func (l *Live) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	limits := new(client.ListOptions).ApplyOptions(opts)
	if limits.Limit != 0 || !isCached(list) {
		return l.Reader.List(ctx, list, opts...)
	}
	var all []runtime.Object
	for next := ""; ; {
		items, err := l.page(ctx, list, append(opts, client.Limit(PageSize), client.Continue(next))...)
		if err != nil {
			return err
		}
		all = append(all, items...)
		if next = list.GetContinue(); next == "" {
			return apimeta.SetList(list, all)
		}
	}
}

// page takes the objects out of a list, so that what is not kept can go.
func (l *Live) page(ctx context.Context, list client.ObjectList, opts ...client.ListOption) ([]runtime.Object, error) {
	l.one.Lock()
	defer l.one.Unlock()
	if err := apimeta.SetList(list, nil); err != nil {
		return nil, err
	}
	if err := l.Reader.List(ctx, list, opts...); err != nil {
		return nil, err
	}
	return CachedItems(list)
}

// isCached says whether a list is one of a kind that the cache reduces.
func isCached(list client.ObjectList) bool {
	switch list.(type) {
	case *v1alpha1.BenchmarkRunList, *v1alpha1.BenchmarkComparisonList, *batchv1.JobList, *appsv1.StatefulSetList, *corev1.PodList,
		*corev1.ServiceList, *corev1.PersistentVolumeClaimList, *policyv1.PodDisruptionBudgetList, *metav1.PartialObjectMetadataList:
		return true
	}
	return false
}
