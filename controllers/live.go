// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

const (
	// PageSize is how many objects of a list are read at first: of the largest that there can be, they have 6 MB. Those that are
	// read by their metadata alone are not smaller: labels have no bound.
	PageSize = 4
	// largestPage is how many are read at once when those before were small.
	largestPage = 100
	// pageBytes bounds a page of several objects while it is read.
	pageBytes = 8 << 20
	// someObjects and someBytes are how much is read of what strangers have made.
	someObjects, someBytes = 500, 32 << 20
)

// Live reads from the API server. It is the only way to what no cache has: others decide how many objects there are and how large
// they are, and with all of them in one answer the operator would run out of memory. It reads a page at a time.
type Live struct {
	// Reader of the API server. If its client has the transport of Bounded, pages grow while objects are small.
	client.Reader
	one sync.Mutex
}

// List reads a whole list, and keeps of each object what the cache keeps. It is for Benchrun's own kinds, and for what is
// selected by the name or the label of one object: of the rest, see Some.
func (l *Live) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var all []runtime.Object
	err := l.each(ctx, list, func(object runtime.Object, _ int64) error {
		_, err := Cached(object)
		all = append(all, object)
		return err
	}, opts)
	if err != nil {
		return err
	}
	return apimeta.SetList(list, all)
}

// Some visits the objects of a list that strangers have made, until visit has enough or so much is read as Benchrun reads of
// them. It says whether that bound has ended it: a caller that needs to know of all must say so. What visit keeps of an object it
// copies.
func (l *Live) Some(
	ctx context.Context, list client.ObjectList, visit func(runtime.Object) (more bool), opts ...client.ListOption,
) (cut bool, err error) {
	objects := 0
	err = l.each(ctx, list, func(object runtime.Object, before int64) error {
		objects++
		if cut = objects > someObjects || before > someBytes; cut || !visit(object) {
			return errEnough
		}
		return nil
	}, opts)
	return cut, err
}

// errEnough ends a list, and is no error of it.
var errEnough = errors.New("there is enough")

// each visits the objects of a list, each with how many bytes of earlier pages were read, until visit says that there is enough.
func (l *Live) each(
	ctx context.Context, list client.ObjectList, visit func(runtime.Object, int64) error, opts []client.ListOption,
) error {
	limit, read := int64(PageSize), int64(0)
	for next := ""; ; {
		n, err := l.page(ctx, list, func(object runtime.Object) error { return visit(object, read) },
			append(slices.Clip(opts), client.Limit(limit), client.Continue(next)))
		switch {
		case errors.Is(err, errEnough):
			return nil
		case errors.Is(err, errTooLarge) && limit > PageSize:
			limit = PageSize
			continue
		case errors.Is(err, errTooLarge) && limit > 1:
			limit = 1
			continue
		case err != nil:
			return err
		}
		read += n
		if next = list.GetContinue(); next == "" {
			return nil
		}
		limit = nextLimit(limit, n)
	}
}

func nextLimit(limit, read int64) int64 {
	switch {
	case read > 0 && read < pageBytes/16:
		return min(4*limit, largestPage)
	case read > pageBytes/4:
		return min(limit, PageSize)
	}
	return limit
}

func (l *Live) page(
	ctx context.Context, list client.ObjectList, visit func(runtime.Object) error, opts []client.ListOption,
) (read int64, err error) {
	l.one.Lock()
	defer l.one.Unlock()
	if err := apimeta.SetList(list, nil); err != nil {
		return 0, err
	}
	if err := l.Reader.List(context.WithValue(ctx, bytesRead{}, &read), list, opts...); err != nil {
		return 0, err
	}
	// The objects are copied, so that the page itself can go.
	if err := apimeta.EachListItemWithAlloc(list, visit); err != nil {
		return 0, fmt.Errorf("reading the objects of a list: %w", err)
	}
	return read, apimeta.SetList(list, nil)
}

// errTooLarge is the error of an answer that has more bytes than its reader wants.
var errTooLarge = errors.New("the answer of the API server is too large")

// bytesRead is the key of a context for how many bytes of the answer were read, which is bounded then.
type bytesRead struct{}

// Bounded makes a transport end answers that are larger than their reader wants, while they are read.
func Bounded(transport http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := transport.RoundTrip(request)
		if read, bounded := request.Context().Value(bytesRead{}).(*int64); bounded && err == nil {
			*read = 0 // of a request before, which was tried again
			response.Body = &boundedBody{response.Body, read}
		}
		return response, err
	})
}

type boundedBody struct {
	io.ReadCloser
	read *int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if *b.read += int64(n); *b.read > pageBytes {
		return 0, errTooLarge
	}
	return n, err
}

// Anybody may make objects with the labels of Benchrun in his own namespace, and fill them. The cache therefore keeps of each
// object only what the operator reads.

var cachedLabels = []string{
	v1alpha1.LabelRun, v1alpha1.LabelRunUID, v1alpha1.LabelComponent, v1alpha1.LabelInstance, v1alpha1.LabelTrial,
	v1alpha1.LabelAttempt, v1alpha1.LabelOutcome, v1alpha1.LabelLane, v1alpha1.LabelKueueQueue, v1alpha1.LabelKueuePriority,
	kueuePodGroup,
}

// annotationBytes are the annotations of a kind that are read, each with its bound: more than the operator writes. One that is
// longer is not the operator's.
func annotationBytes(o client.Object) map[string]int {
	switch o.(type) {
	case *batchv1.Job:
		return map[string]int{neighborsAnnotation: 64 << 10, trial.AnnotationInstances: 256}
	case *corev1.Pod:
		return map[string]int{database.AnnotationBlockIO: 256, batchv1.JobCompletionIndexAnnotation: 16}
	}
	return nil
}

// Bounds of what is kept of lists and specifications: more than those of Benchrun's own objects have.
const (
	cachedFinalizers = 16
	cachedSpecBytes  = 32 << 10
)

// Cached reduces an object to what the operator reads in its cache. Leases are written back whole, and stand in namespaces of the
// operator's choice: they only lose their managed fields.
func Cached(object any) (any, error) {
	o, is := object.(client.Object)
	if !is {
		return object, nil
	}
	o.SetManagedFields(nil)
	if _, lease := object.(*coordinationv1.Lease); lease {
		return object, nil
	}
	cacheMetadata(o)
	switch one := object.(type) {
	case *corev1.Pod:
		one.Spec = cachedPod(&one.Spec)
	case *batchv1.Job:
		one.Spec = batchv1.JobSpec{
			Completions: one.Spec.Completions, Parallelism: one.Spec.Parallelism, Suspend: one.Spec.Suspend,
			ActiveDeadlineSeconds: one.Spec.ActiveDeadlineSeconds,
		}
	case *appsv1.StatefulSet:
		others := func(c corev1.Container) bool { return c.Name != database.ObserverContainer }
		observer := slices.DeleteFunc(one.Spec.Template.Spec.InitContainers, others)
		one.Spec = appsv1.StatefulSetSpec{Replicas: one.Spec.Replicas}
		one.Spec.Template.Spec.InitContainers = cachedContainers(observer) // it is said when a LimitRange refuses it
	case *unstructured.Unstructured:
		kept := map[string]any{"apiVersion": one.Object["apiVersion"], "kind": one.Object["kind"], "metadata": one.Object["metadata"]}
		if status, is := one.Object["status"].(map[string]any); is {
			kept["status"] = map[string]any{"conditions": status["conditions"]}
		}
		one.Object = kept
	case *corev1.Service:
		one.Spec, one.Status = corev1.ServiceSpec{}, corev1.ServiceStatus{}
	case *corev1.PersistentVolumeClaim:
		one.Spec = corev1.PersistentVolumeClaimSpec{StorageClassName: one.Spec.StorageClassName}
		one.Status = corev1.PersistentVolumeClaimStatus{Phase: one.Status.Phase}
	case *policyv1.PodDisruptionBudget:
		one.Spec, one.Status = policyv1.PodDisruptionBudgetSpec{}, policyv1.PodDisruptionBudgetStatus{}
	}
	return object, nil
}

func cacheMetadata(o client.Object) {
	bounds := annotationBytes(o)
	o.SetAnnotations(only(o.GetAnnotations(), func(key, value string) bool {
		most, read := bounds[key]
		return read && len(value) <= most
	}))
	o.SetLabels(only(o.GetLabels(), func(key, _ string) bool { return slices.Contains(cachedLabels, key) }))
	var owners []metav1.OwnerReference
	if controller := metav1.GetControllerOf(o); controller != nil {
		owners = []metav1.OwnerReference{*controller}
	}
	o.SetOwnerReferences(owners)
	if finalizers := o.GetFinalizers(); len(finalizers) > cachedFinalizers {
		o.SetFinalizers(slices.Clone(finalizers[:cachedFinalizers]))
	}
}

// only what is to be kept, or nil.
func only(from map[string]string, keep func(key, value string) bool) map[string]string {
	var kept map[string]string
	for key, value := range from {
		if !keep(key, value) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[key] = value
	}
	return kept
}

func cachedPod(spec *corev1.PodSpec) corev1.PodSpec {
	kept := corev1.PodSpec{
		NodeName: spec.NodeName, NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
		SchedulingGates: spec.SchedulingGates, Overhead: spec.Overhead, Resources: spec.Resources,
		InitContainers: cachedContainers(spec.InitContainers), Containers: cachedContainers(spec.Containers),
	}
	if kept.Size() > cachedSpecBytes {
		return corev1.PodSpec{NodeName: spec.NodeName}
	}
	return kept
}

func cachedContainers(list []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range list {
		kept = append(kept, corev1.Container{Name: list[i].Name, Resources: list[i].Resources, RestartPolicy: list[i].RestartPolicy})
	}
	return kept
}
