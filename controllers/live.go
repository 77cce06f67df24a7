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

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
