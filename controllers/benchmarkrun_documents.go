// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

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

// fetchDocument reads the document of an accepted attempt from the log of its Pod. It fails with ErrDocumentLost only some time
// after the Pod's end. Until then the log may be incomplete, and the error leads to another try.
func (r *BenchmarkRunReconciler) fetchDocument(ctx context.Context, a *lifecycle.Attempt) (*document, error) {
	doc, err := r.readDocument(ctx, a)
	if err == nil || r.Clock.Since(trial.EndOf(a.Verdict.Pod)) > logGrace {
		return doc, err
	}
	// The text only: errors.Is must not find ErrDocumentLost.
	return nil, errors.New("fetching the document of Pod " + a.Verdict.Pod.Name + ": " + err.Error())
}

func (r *BenchmarkRunReconciler) readDocument(ctx context.Context, a *lifecycle.Attempt) (*document, error) {
	pod := a.Verdict.Pod
	log, err := r.Logs.OpenLog(ctx, pod.Namespace, pod.Name, trial.Container)
	if err != nil {
		return nil, fmt.Errorf("%w: opening the log: %w", result.ErrDocumentLost, err)
	}
	defer log.Close() //nolint:errcheck // it was only read
	encoded, err := result.ReadDocument(log, a.Verdict.Summary.DocumentSHA256)
	if err != nil {
		return nil, err
	}
	doc, err := result.DecodeDocument(encoded.Gzip)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", result.ErrDocumentLost, err)
	}
	if doc.Identity.PodUID != string(pod.UID) || !measuredBy(doc, a.Pods) {
		return nil, fmt.Errorf("%w: it is that of another Pod", result.ErrDocumentLost)
	}
	return &document{doc, encoded}, nil
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
