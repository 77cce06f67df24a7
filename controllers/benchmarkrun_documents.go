// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

const (
	// logGrace is how long after a container's end its log may be incomplete or not available.
	logGrace = 30 * time.Second
	// maxLogBytes of a loader's log are read: enough for a document of 2 MiB in base64, and for progress lines.
	maxLogBytes = 16 << 20
)

// LogOpener opens logs of containers.
type LogOpener interface {
	OpenLog(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error)
}

// PodLogs opens them through the API server.
type PodLogs struct{ Clientset kubernetes.Interface }

// OpenLog implements LogOpener.
func (l PodLogs) OpenLog(ctx context.Context, namespace, pod, container string) (io.ReadCloser, error) {
	return l.Clientset.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
		Container: container, LimitBytes: ptr.To[int64](maxLogBytes),
	}).Stream(ctx)
}

// document is a result document that arrived whole, and its bytes.
type document struct {
	*result.Document
	encoded result.EncodedDocument
}

// fetches are the documents that are being read. One is read at a time: a document may take a good part of the operator's memory
// to decode, whoever wrote it.
type fetches struct {
	decoding sync.Mutex
	mu       sync.Mutex
	// since is when this operator first looked for the document of a Pod.
	since map[types.UID]time.Time
}

// first is when this operator first looked for the document of a Pod.
func (f *fetches) first(uid types.UID, now time.Time) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since == nil {
		f.since = map[types.UID]time.Time{}
	}
	if _, found := f.since[uid]; !found {
		f.since[uid] = now
	}
	return f.since[uid]
}

func (f *fetches) done(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.since, uid)
}

// fetchDocument reads the document of an accepted attempt from the log of its Pod. It invalidates the attempt if there is no
// valid document. An error means that it may be there at another try: the log cannot be read, or has become readable only now.
func (r *BenchmarkRunReconciler) fetchDocument(ctx context.Context, a *lifecycle.Attempt) (*document, error) {
	pod, now := a.Verdict.Pod, r.Clock.Now()
	since := later(r.fetches.first(pod.UID, now), trial.EndOf(pod))
	doc, err := r.readDocument(ctx, a)
	unreadable := new(logError)
	switch {
	case err == nil:
	case errors.Is(err, result.ErrDocumentInvalid):
		a.Verdict = a.Verdict.Because(result.CauseDocumentInvalid, err.Error())
	case errors.Is(err, errForeignDocument):
		a.Verdict = a.Verdict.Because(result.CauseForeignResult, err.Error())
	case errors.As(err, &unreadable) && r.isThere(ctx, pod), now.Sub(since) <= logGrace:
		return nil, fmt.Errorf("fetching the document of Pod %s: %w", pod.Name, err)
	default:
		a.Verdict = a.Verdict.Because(result.CauseDocumentLost, err.Error())
	}
	r.fetches.done(pod.UID)
	return doc, nil
}

// isThere says whether a Pod still exists, and with it perhaps its log.
func (r *BenchmarkRunReconciler) isThere(ctx context.Context, pod *corev1.Pod) bool {
	var live corev1.Pod
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(pod), &live)
	return !apierrors.IsNotFound(err) && (err != nil || live.UID == pod.UID)
}

// logError is an error of reading a log, not of what stands in it.
type logError struct{ err error }

func (e *logError) Error() string { return "reading the log: " + e.err.Error() }

func (e *logError) Unwrap() error { return e.err }

// logReader notes the error with which a log ended.
type logReader struct {
	io.Reader
	err error
}

func (l *logReader) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err //nolint:wrapcheck // a reader passes errors on as they are
}

// errForeignDocument: the document is whole, and not of this attempt.
var errForeignDocument = errors.New("the document is that of another Pod")

func (r *BenchmarkRunReconciler) readDocument(ctx context.Context, a *lifecycle.Attempt) (*document, error) {
	pod := a.Verdict.Pod
	stream, err := r.Logs.OpenLog(ctx, pod.Namespace, pod.Name, trial.Container)
	if err != nil {
		return nil, &logError{err}
	}
	defer stream.Close() //nolint:errcheck // it was only read
	r.fetches.decoding.Lock()
	defer r.fetches.decoding.Unlock()
	log := &logReader{Reader: stream}
	encoded, err := result.ReadDocument(log, a.Verdict.Summary.DocumentSHA256)
	switch {
	case log.err != nil:
		return nil, &logError{log.err}
	case err != nil:
		return nil, err
	}
	identity, err := result.DecodeIdentity(encoded.Gzip)
	switch {
	case err != nil:
		return nil, err
	case identity.PodUID != string(pod.UID):
		return nil, errForeignDocument
	}
	doc, err := result.DecodeDocument(encoded.Gzip)
	if err != nil {
		return nil, err
	}
	if !measuredBy(doc, a.Pods) {
		return nil, errForeignDocument
	}
	return &document{doc, encoded}, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// measuredBy says whether a document is what exactly these Pods measured together.
func measuredBy(doc *result.Document, pods []corev1.Pod) bool {
	if len(pods) == 1 {
		return len(doc.Pods) == 0
	}
	uids := map[int]string{}
	for i := range pods {
		uids[trial.PodIndex(&pods[i])] = string(pods[i].UID)
	}
	for i, p := range doc.Pods {
		if p.Pod != i || uids[i] != p.PodUID {
			return false
		}
	}
	return len(doc.Pods) == len(uids)
}
