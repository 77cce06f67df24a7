// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

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
	// begin does something until it is stopped, or the manager stops; nil before that has started.
	begin  func(do func(context.Context)) (stop context.CancelFunc)
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
	f.begin = func(do func(context.Context)) context.CancelFunc {
		ctx, stop := context.WithCancel(ctx)
		f.reading.Go(func() {
			defer stop()
			do(ctx)
		})
		return stop
	}
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
	case pod == nil || f.begin == nil || len(f.byName) >= maxFollowed:
		return nil
	}
	one, loader := &follower{pod: pod.UID}, pod.DeepCopy()
	f.byName[run] = one
	one.stop = f.begin(func(ctx context.Context) { f.follow(ctx, run, one, loader) })
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
