// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// betweenWatches is how long a watch that has ended is not begun again: a cluster that ends all of them at once must not be
// queried without a pause.
const betweenWatches = time.Second

// change of an object in a cluster.
type change[T client.Object] struct {
	object  T
	deleted bool
	// listed: all objects that there are now have been sent. The object is not set.
	listed bool
	err    error
}

// changes sends every object that a list selects, and then those that change, until the context ends. A watch that breaks is
// begun again, with a new list. An error ends it, unless it may be over soon: an API server that has answered before may
// restart.
func changes[T client.Object](
	ctx context.Context, cl client.WithWatch, list client.ObjectList, options ...client.ListOption,
) <-chan change[T] {
	out := make(chan change[T])
	send := func(c change[T]) bool {
		select {
		case out <- c:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(out)
		begun := false
		for ctx.Err() == nil {
			err := listAndWatch(ctx, cl, list, func(c change[T]) bool {
				begun = true
				return send(c)
			}, options)
			if err != nil && !passes(err) && (!begun || !unreachable(err)) {
				send(change[T]{err: err})
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(betweenWatches):
			}
		}
	}()
	return out
}

// passes says whether an error may be over in a moment: the API server is busy, restarts, or has forgotten where a watch
// was.
func passes(err error) bool {
	return apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) ||
		apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// errReader is for what a list or a watch holds and is not of the right type.
var errReader = errors.New("the API server sent an object of another kind")

// listAndWatch returns nil when the watch has ended.
func listAndWatch[T client.Object](ctx context.Context, cl client.WithWatch, of client.ObjectList, send func(change[T]) bool,
	options []client.ListOption,
) error {
	list := of.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a copy has the same type
	if err := cl.List(ctx, list, options...); err != nil {
		return err
	}
	sent := func(o runtime.Object, deleted bool) error {
		object, isT := o.(T)
		if !isT {
			return errReader
		}
		if !send(change[T]{object: object, deleted: deleted}) {
			return ctx.Err()
		}
		return nil
	}
	if err := apimeta.EachListItem(list, func(o runtime.Object) error { return sent(o, false) }); err != nil {
		return err
	}
	if !send(change[T]{listed: true}) {
		return nil
	}
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
	w, err := cl.Watch(ctx, list, append(slices.Clone(options), from)...)
	if err != nil {
		return err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		switch event.Type {
		case watch.Added, watch.Modified, watch.Deleted:
			if err := sent(event.Object, event.Type == watch.Deleted); err != nil {
				return err
			}
		case watch.Error:
			return apierrors.FromObject(event.Object)
		case watch.Bookmark:
		}
	}
	return nil
}
