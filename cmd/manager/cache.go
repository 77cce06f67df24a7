// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/controllers"
)

// cacheOptions keep only what belongs to runs and comparisons, the Leases of lanes and of tuned nodes in their namespaces, and of
// all these only what is read: anybody may put a label of Benchrun on his objects, and fill them.
func cacheOptions(namespaces controllers.Scope, lanes, hosts string) (cache.Options, error) {
	// Every object has it, also those of a database that the runs of a comparison share.
	component, err := labels.NewRequirement(v1alpha1.LabelComponent, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("making the cache's selector: %w", err)
	}
	selector := labels.NewSelector().Add(*component)
	o := cache.Options{
		DefaultTransform: controllers.Cached,
		NewInformer:      newInformer,
		ByObject: map[client.Object]cache.ByObject{
			&batchv1.Job{}: {Label: selector}, &appsv1.StatefulSet{}: {Label: selector}, &corev1.Pod{}: {Label: selector},
			&corev1.Service{}: {Label: selector}, &corev1.PersistentVolumeClaim{}: {Label: selector},
			&policyv1.PodDisruptionBudget{}: {Label: selector}, &corev1.ConfigMap{}: {Label: selector},
			&coordinationv1.Lease{}: {
				// Those of leader election have no such label.
				Label:      labels.SelectorFromSet(labels.Set{"app.kubernetes.io/managed-by": "benchrun"}),
				Namespaces: map[string]cache.Config{lanes: {}, hosts: {}},
			},
		},
	}
	if len(namespaces) > 0 {
		o.DefaultNamespaces = map[string]cache.Config{}
		for _, namespace := range namespaces {
			o.DefaultNamespaces[namespace] = cache.Config{}
		}
	}
	return o, nil
}

// newInformer makes informers whose lists are read in pages, one at a time.
func newInformer(
	lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	source := toolscache.ToListerWatcherWithContext(lw)
	return toolscache.NewSharedIndexInformer(&pages{toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.Limit = controllers.PageSize
			return inPages(ctx, source, o)
		},
		WatchFuncWithContext: source.WatchWithContext,
	}}, example, resync, indexers)
}

// pages are read instead of a stream of what exists: those of all kinds come at the same time, each with buffers as large as the
// largest object, which stay.
type pages struct{ toolscache.ListWatch }

// IsWatchListSemanticsUnSupported tells the reflector to list.
func (*pages) IsWatchListSemanticsUnSupported() bool { return true }

// listing is held while a page is read: one at a time, of all kinds.
var listing sync.Mutex

// inPages reads a list in pages of o.Limit objects, and keeps of each object what the cache keeps. It asks for the present state:
// from a state that may be older, the API server answers with everything at once.
func inPages(ctx context.Context, source toolscache.ListerWithContext, o metav1.ListOptions) (runtime.Object, error) {
	o.ResourceVersion, o.ResourceVersionMatch, o.Continue = "", "", ""
	var all []runtime.Object
	for {
		page, items, err := onePage(ctx, source, o)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		access, err := apimeta.ListAccessor(page)
		if err != nil {
			return nil, fmt.Errorf("reading a page of a list: %w", err)
		}
		if o.Continue = access.GetContinue(); o.Continue == "" {
			return page, apimeta.SetList(page, all)
		}
	}
}

// onePage reads a page, and takes out of it what is kept, so that the page itself is not.
func onePage(
	ctx context.Context, source toolscache.ListerWithContext, o metav1.ListOptions,
) (page runtime.Object, items []runtime.Object, err error) {
	listing.Lock()
	defer listing.Unlock()
	page, err = source.ListWithContext(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	items, err = controllers.CachedItems(page)
	return page, items, err
}
