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

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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

type document struct {
	*result.Document
	encoded result.EncodedDocument
}

// fetchDocument reads the document of an accepted attempt from the log of its Pod. It invalidates the attempt if there is no
// valid document. An error means that it may be there at another try: the log cannot be read, or has become readable only now.
func (r *RunReconciler) fetchDocument(ctx context.Context, run *v1alpha1.BenchmarkRun, a *lifecycle.Attempt) (*document, error) {
	// The cache does not have what a Job asks of its loader.
	var job batchv1.Job
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(a.Job), &job); err != nil {
		return nil, fmt.Errorf("reading what Job %s asks of its loader: %w", a.Job.Name, err)
	}
	pod, now, lookedFor := a.Verdict.Pod, r.Clock.Now(), r.memories.of(run).lookedFor
	if _, before := lookedFor[pod.UID]; !before {
		lookedFor[pod.UID] = now
	}
	// The log may be behind the Pod's end, and the operator may have come later than both.
	waited := min(now.Sub(lookedFor[pod.UID]), now.Sub(trial.EndOf(pod)))
	doc, err := r.readDocument(ctx, a, &job)
	unreadable := new(logError)
	switch {
	case err == nil:
	case errors.Is(err, result.ErrDocumentInvalid):
		a.Verdict = a.Verdict.Because(result.CauseDocumentInvalid, err.Error())
	case errors.Is(err, errForeignDocument):
		a.Verdict = a.Verdict.Because(result.CauseForeignResult, err.Error())
	case errors.As(err, &unreadable) && r.isThere(ctx, pod), waited <= logGrace:
		return nil, fmt.Errorf("fetching the document of Pod %s: %w", pod.Name, err)
	default:
		a.Verdict = a.Verdict.Because(result.CauseDocumentLost, err.Error())
	}
	delete(lookedFor, pod.UID)
	return doc, nil
}

// isThere says whether a Pod still exists, and with it perhaps its log.
func (r *RunReconciler) isThere(ctx context.Context, pod *corev1.Pod) bool {
	var live corev1.Pod
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(pod), &live)
	return !apierrors.IsNotFound(err) && (err != nil || live.UID == pod.UID)
}

type logError struct{ err error }

func (e *logError) Error() string { return "reading the log: " + e.err.Error() }

func (e *logError) Unwrap() error { return e.err }

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
var errForeignDocument = errors.New("the document belongs to another attempt")

// readDocument reads the document of an attempt from the log of its Pod, unless it was read already, when it was delivered.
func (r *RunReconciler) readDocument(ctx context.Context, a *lifecycle.Attempt, job *batchv1.Job) (*document, error) {
	pod, sum := a.Verdict.Pod, a.Verdict.Summary.DocumentSHA256
	if a.Delivery != nil && a.Delivery.Document.SHA256 == sum {
		return r.decode(a.Delivery.Document, a, job)
	}
	stream, err := r.Logs.OpenLog(ctx, pod.Namespace, pod.Name, corev1.PodLogOptions{Container: trial.Container})
	if err != nil {
		return nil, &logError{err}
	}
	defer stream.Close() //nolint:errcheck // it was only read
	log := &logReader{Reader: stream}
	encoded, err := result.ReadDocument(log, sum)
	switch {
	case log.err != nil:
		return nil, &logError{log.err}
	case err != nil:
		return nil, err
	}
	return r.decode(encoded, a, job)
}

func (r *RunReconciler) decode(encoded result.EncodedDocument, a *lifecycle.Attempt, job *batchv1.Job) (*document, error) {
	r.decoding.Lock()
	defer r.decoding.Unlock()
	doc, err := decodeDocument(encoded, a.Verdict.Pod, a.Pods)
	if err != nil {
		return nil, err
	}
	if different := trial.Differs(doc, job); different != "" {
		return nil, fmt.Errorf("%w: %s", errForeignDocument, different)
	}
	return &document{doc, encoded}, nil
}

// decodeDocument decodes the document of a Pod that has measured together with all these Pods.
func decodeDocument(encoded result.EncodedDocument, pod *corev1.Pod, pods []corev1.Pod) (*result.Document, error) {
	text, err := result.Unpack(encoded.Gzip)
	if err != nil {
		return nil, err
	}
	// Its author decides what the rest takes to decode: first, whose document it is.
	identity, err := text.Identity()
	switch {
	case err != nil:
		return nil, err
	case identity.PodUID != string(pod.UID):
		return nil, fmt.Errorf("%w: it is of another Pod", errForeignDocument)
	}
	doc, err := text.Document()
	switch {
	case err != nil:
		return nil, err
	case !measuredBy(doc, pods):
		return nil, fmt.Errorf("%w: other Pods have measured together", errForeignDocument)
	}
	return doc, nil
}

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

// maxFollowed logs are followed at a time: each is a connection to the API server, and from there to a kubelet, and the program
// that writes to it may take 2 MiB of the operator's memory. Of further runs the kubelet says when their loaders have ended, a
// second later.
const maxFollowed = 16

// followers follow the logs of loaders that run, each to the end of its document, and tell of the runs whose loaders have
// delivered. A log that cannot be followed is not tried again: the kubelet will report the loader's end.
type followers struct {
	logs     LogOpener
	decoding *sync.Mutex
	// told are the runs whose loaders have delivered.
	told chan event.GenericEvent

	// reading are the logs that are being read.
	reading sync.WaitGroup

	mu sync.Mutex
	// ctx ends when the manager stops; nil before that has started.
	ctx    context.Context //nolint:containedctx // it lives as long as the manager
	byName map[client.ObjectKey]*follower
}

type follower struct {
	pod  types.UID
	stop context.CancelFunc
	// delivery of the loader, or nil until it is whole.
	delivery *trial.Delivery
}

func newFollowers(logs LogOpener, decoding *sync.Mutex) *followers {
	return &followers{
		logs: logs, decoding: decoding, told: make(chan event.GenericEvent, maxFollowed), byName: map[client.ObjectKey]*follower{},
	}
}

// Start implements manager.Runnable: logs are followed until the manager stops.
func (f *followers) Start(ctx context.Context) error {
	f.until(ctx)
	<-ctx.Done()
	f.reading.Wait()
	return nil
}

func (f *followers) until(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ctx = ctx
}

// delivered is what the loader of a run has delivered, whose Pod this is; nil as long as that is not known to be whole. From the
// first time on, the Pod's log is followed. Without a Pod, the run has no loader that runs: what was followed is forgotten.
func (f *followers) delivered(run client.ObjectKey, pod *corev1.Pod) *trial.Delivery {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	have := f.byName[run]
	if have != nil && (pod == nil || have.pod != pod.UID) {
		have.stop()
		delete(f.byName, run)
		have = nil
	}
	switch {
	case have != nil:
		return have.delivery
	case pod == nil || f.ctx == nil || len(f.byName) >= maxFollowed:
		return nil
	}
	ctx, stop := context.WithCancel(f.ctx)
	one, loader := &follower{pod: pod.UID, stop: stop}, pod.DeepCopy()
	f.byName[run] = one
	f.reading.Go(func() {
		defer stop()
		f.follow(ctx, run, one, loader)
	})
	return nil
}

// follow the log of a Pod to the end of its document, and tell of the run if it is what the Pod was to deliver.
func (f *followers) follow(ctx context.Context, run client.ObjectKey, one *follower, pod *corev1.Pod) {
	delivery, err := f.read(ctx, pod)
	if err != nil {
		log.FromContext(ctx).V(1).Info("Following the log of a loader", "pod", client.ObjectKeyFromObject(pod), "error", err.Error())
		return
	}
	f.mu.Lock()
	one.delivery = delivery
	f.mu.Unlock()
	select {
	case f.told <- event.GenericEvent{Object: &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: run.Name},
	}}:
	case <-ctx.Done():
	}
}

// read the log of a Pod until its document is whole.
func (f *followers) read(ctx context.Context, pod *corev1.Pod) (*trial.Delivery, error) {
	stream, err := f.logs.OpenLog(ctx, pod.Namespace, pod.Name, corev1.PodLogOptions{Container: trial.Container, Follow: true})
	if err != nil {
		return nil, &logError{err}
	}
	defer stream.Close() //nolint:errcheck // it was only read
	encoded, err := result.ReadDocument(stream, "")
	if err != nil {
		return nil, err
	}
	f.decoding.Lock()
	defer f.decoding.Unlock()
	doc, err := decodeDocument(encoded, pod, []corev1.Pod{*pod})
	if err != nil {
		return nil, err
	}
	return trial.Deliver(doc, encoded)
}
