// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// written are logs to which a program writes, by the names of their Pods.
type written struct {
	mu     sync.Mutex
	opened map[string]int
	logs   map[string]*io.PipeReader
	// left are the Pods whose logs are no longer followed.
	left chan string
}

func (w *written) OpenLog(context.Context, string, string, string) (io.ReadCloser, error) {
	return nil, errors.New("only follow")
}

func (w *written) FollowLog(ctx context.Context, _, pod, _ string) (io.ReadCloser, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened[pod]++
	log := w.logs[pod]
	if log == nil {
		return nil, errors.New("no such Pod")
	}
	context.AfterFunc(ctx, func() {
		_ = log.CloseWithError(ctx.Err())
		w.left <- pod
	})
	return log, nil
}

// followed are followers of the logs of so many Pods, and what writes to each.
func followed(t *testing.T, pods int) (f *followers, logs *written, writers []*io.PipeWriter) {
	t.Helper()
	logs = &written{opened: map[string]int{}, logs: map[string]*io.PipeReader{}, left: make(chan string, pods)}
	for i := range pods {
		r, w := io.Pipe()
		logs.logs[fmt.Sprint(i)] = r
		writers = append(writers, w)
	}
	f = newFollowers(logs, new(sync.Mutex))
	f.until(t.Context())
	return f, logs, writers
}

func numbered(i int) (client.ObjectKey, *corev1.Pod) {
	name := fmt.Sprint(i)
	return client.ObjectKey{Namespace: "test", Name: name},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "test", Name: name, UID: types.UID(name)}}
}

// document is the log of a Pod with its whole document.
func documentOf(t *testing.T, pod types.UID) []byte {
	t.Helper()
	encoded := must.Get(result.EncodeDocument(testutil.Document(pod, 1, 1, 1000)))(t)
	var log bytes.Buffer
	log.WriteString("a line that people read\n")
	must.Do(t, result.WriteDocument(&log, encoded))
	return log.Bytes()
}

func mustWrite(t *testing.T, w io.Writer, text []byte) {
	t.Helper()
	must.Get(w.Write(text))(t)
}

// A loader has delivered as soon as the last line of its document is written, while its container still runs.
func TestFollowersTellOfAWholeDocument(t *testing.T) {
	f, logs, writers := followed(t, 1)
	run, pod := numbered(0)
	if d := f.delivered(run, pod); d != nil {
		t.Fatalf("before it has written anything: %+v", d)
	}
	text := documentOf(t, pod.UID)
	mustWrite(t, writers[0], text[:len(text)-5])
	if d := f.delivered(run, pod); d != nil || len(f.told) > 0 {
		t.Fatalf("before its last line: %+v", d)
	}
	mustWrite(t, writers[0], text[len(text)-5:])
	told := <-f.told
	if told.Object.GetName() != run.Name || told.Object.GetNamespace() != run.Namespace {
		t.Errorf("told of %v", told.Object)
	}
	d := f.delivered(run, pod)
	if d == nil || d.Summary.Identity.PodUID != string(pod.UID) || d.Summary.DocumentSHA256 != d.Document.SHA256 {
		t.Fatalf("delivered: %+v", d)
	}
	if logs.opened["0"] != 1 {
		t.Errorf("the log was opened %d times", logs.opened["0"])
	}
	_, next := numbered(1)
	if d := f.delivered(run, next); d != nil {
		t.Errorf("the next Pod has delivered: %+v", d)
	}
	if f.delivered(run, nil); len(f.byName) != 0 {
		t.Errorf("%d logs are followed", len(f.byName))
	}
}

// A log that ends too early, that is another Pod's, or that cannot be read, is not tried again, and tells of nothing.
func TestFollowersGiveUp(t *testing.T) {
	f, logs, writers := followed(t, 2)
	for i := range 3 {
		f.delivered(numbered(i))
	}
	mustWrite(t, writers[0], []byte("the loader begins\n"))
	must.Do(t, writers[0].Close())
	mustWrite(t, writers[1], documentOf(t, "another"))
	for range 2 {
		<-logs.left
	}
	for i := range 3 {
		if d := f.delivered(numbered(i)); d != nil || len(f.told) > 0 {
			t.Errorf("log %d: %+v", i, d)
		}
	}
	logs.mu.Lock()
	defer logs.mu.Unlock()
	for pod, times := range logs.opened {
		if times != 1 {
			t.Errorf("log %s was opened %d times", pod, times)
		}
	}
}

// What is followed ends with the loader: a run whose loader is gone follows nothing, nor does any before the manager has started.
func TestFollowersLeave(t *testing.T) {
	f, logs, writers := followed(t, 1)
	run, pod := numbered(0)
	f.delivered(run, pod)
	mustWrite(t, writers[0], []byte("the loader begins\n"))
	f.delivered(run, nil)
	if pod := <-logs.left; pod != "0" {
		t.Errorf("left %s", pod)
	}
	f.begin = nil
	f.delivered(run, pod)
	if len(f.byName) != 0 {
		t.Error("a log is followed before the manager has started")
	}
	var none *followers
	if none.delivered(run, pod) != nil {
		t.Error("nobody follows")
	}
}

// There are only so many connections: further runs do without, and nothing waits.
func TestFollowersAreBounded(t *testing.T) {
	f, _, _ := followed(t, maxFollowed+1)
	for i := range maxFollowed + 1 {
		f.delivered(numbered(i))
	}
	if len(f.byName) != maxFollowed {
		t.Errorf("%d logs are followed", len(f.byName))
	}
	run, _ := numbered(0)
	f.delivered(run, nil)
	f.delivered(numbered(maxFollowed))
	if len(f.byName) != maxFollowed {
		t.Errorf("%d logs are followed after one has ended", len(f.byName))
	}
}
