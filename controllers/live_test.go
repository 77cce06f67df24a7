// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// paged is an API server with so many objects, each of so many bytes, which notes how many were asked for at once.
type paged struct {
	client.Reader
	objects int
	limits  []int64
	// size of an object; nil is that of a client whose answers are not counted.
	size func(int) int
	// most is the largest answer that was read.
	most int
	url  string
}

// newPaged is one whose answers come by a network.
func newPaged(t *testing.T, objects int, size func(int) int) *paged {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("bytes"))
		_, _ = io.Copy(w, io.LimitReader(zeros{}, int64(n)))
	}))
	t.Cleanup(server.Close)
	return &paged{objects: objects, size: size, url: server.URL}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func (p *paged) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := new(client.ListOptions).ApplyOptions(opts)
	p.limits = append(p.limits, o.Limit)
	from := 0
	if o.Continue != "" {
		if _, err := fmt.Sscan(o.Continue, &from); err != nil {
			return err
		}
	}
	to := p.objects
	if o.Limit > 0 {
		to = min(to, from+int(o.Limit))
	}
	if err := p.transfer(ctx, from, to); err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	list.SetContinue("")
	if to < p.objects {
		list.SetContinue(fmt.Sprint(to))
	}
	var objects []runtime.Object
	for n := from; n < to; n++ {
		objects = append(objects, object(list, fmt.Sprintf("o%d", n)))
	}
	return apimeta.SetList(list, objects)
}

// transfer as many bytes as the objects have.
func (p *paged) transfer(ctx context.Context, from, to int) error {
	if p.size == nil {
		return nil
	}
	sum := 0
	for n := from; n < to; n++ {
		sum += p.size(n)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"?bytes="+strconv.Itoa(sum), http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: Bounded(http.DefaultTransport)}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	n, err := io.Copy(io.Discard, response.Body)
	p.most = max(p.most, int(n))
	return err
}

// object of a list's kind, filled as a stranger would.
func object(list client.ObjectList, name string) runtime.Object {
	meta := metav1.ObjectMeta{Name: name, Annotations: map[string]string{"example.com/large": "text"}}
	switch list.(type) {
	case *batchv1.JobList:
		return &batchv1.Job{ObjectMeta: meta}
	case *corev1.EventList:
		return &corev1.Event{ObjectMeta: meta}
	case *coordinationv1.LeaseList:
		return &coordinationv1.Lease{ObjectMeta: meta}
	case *corev1.NodeList:
		return &corev1.Node{ObjectMeta: meta}
	case *metav1.PartialObjectMetadataList:
		return &metav1.PartialObjectMetadata{ObjectMeta: meta}
	}
	of := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"large": "text"}}}
	of.SetName(name)
	of.SetAnnotations(meta.Annotations)
	return of
}

func names(t *testing.T, list client.ObjectList) []string {
	t.Helper()
	var all []string
	err := apimeta.EachListItem(list, func(o runtime.Object) error {
		all = append(all, o.(client.Object).GetName())
		return nil
	})
	must.Do(t, err)
	return all
}

// Lists of any kind are read in pages, whole, and reduced: few objects at once, also of those that are read by their metadata.
func TestLiveListsInPages(t *testing.T) {
	configs := &metav1.PartialObjectMetadataList{}
	configs.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	for name, list := range map[string]client.ObjectList{
		"whole objects": &batchv1.JobList{}, "metadata": configs, "a kind that nobody watches": &corev1.NodeList{},
		"events": &corev1.EventList{}, "a kind that may not be there": database.MariaDBList(), "leases": &coordinationv1.LeaseList{},
	} {
		t.Run(name, func(t *testing.T) {
			server := &paged{objects: 61}
			must.Do(t, (&Live{Reader: server}).List(t.Context(), list))
			all := names(t, list)
			if len(all) != 61 || all[0] != "o0" || all[60] != "o60" || len(server.limits) != 16 || slices.Max(server.limits) > PageSize {
				t.Errorf("%d objects in pages of %d: %v", len(all), server.limits, all)
			}
			if text := fmt.Sprint(list); name != "leases" && strings.Contains(text, "large") {
				t.Errorf("what others have filled in is kept: %.300s", text)
			}
		})
	}
}

// Pages are as large as the objects let them be, and no answer is read beyond its bound, wherever the large objects stand.
func TestLivePagesBySize(t *testing.T) {
	const small, fat = 2 << 10, 1500 << 10
	for name, tc := range map[string]struct {
		size  func(int) int
		pages int
	}{
		"small":           {func(int) int { return small }, 7},
		"fat":             {func(int) int { return fat }, 100},
		"fat ones behind": {func(n int) int { return map[bool]int{true: small, false: fat}[n < 84] }, 85},
		"one in between":  {func(n int) int { return map[bool]int{true: 7 << 20, false: small}[n == 200] }, 12},
	} {
		server := newPaged(t, 400, tc.size)
		var list batchv1.JobList
		if err := (&Live{Reader: server}).List(t.Context(), &list); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		all := names(t, &list)
		distinct := slices.Compact(slices.Clone(all))
		if len(all) != 400 || len(distinct) != 400 || all[399] != "o399" {
			t.Errorf("%s: %d objects", name, len(all))
		}
		if len(server.limits) > tc.pages || server.most > pageBytes+64<<10 {
			t.Errorf("%s: pages of %d, the largest has %d bytes", name, server.limits, server.most)
		}
	}
	beyond := newPaged(t, 9, func(n int) int { return map[bool]int{true: pageBytes + 1, false: small}[n == 5] })
	must.Is(t, (&Live{Reader: beyond}).List(t.Context(), &batchv1.JobList{}), errTooLarge)
}

// Of what strangers have made, so much is read, and no more.
func TestLiveSome(t *testing.T) {
	for name, tc := range map[string]struct {
		objects, size  int
		enough         int
		visited, pages int
		cut            bool
	}{
		"few":                     {objects: 30, size: 100, visited: 30, pages: 3},
		"as many as are read":     {objects: someObjects, size: 100, visited: someObjects, pages: 9},
		"too many":                {objects: 10_000, size: 100, visited: someObjects, pages: 9, cut: true},
		"too large":               {objects: 85, size: 1300 << 10, visited: 28, pages: 8, cut: true},
		"enough before the end":   {objects: 85, size: 1300 << 10, enough: 3, visited: 3, pages: 1},
		"nobody counts, too many": {objects: 10_000, visited: someObjects, pages: 126, cut: true},
	} {
		server := &paged{objects: tc.objects}
		if tc.size > 0 {
			server = newPaged(t, tc.objects, func(int) int { return tc.size })
		}
		visited := 0
		cut, err := (&Live{Reader: server}).Some(t.Context(), &corev1.EventList{}, func(runtime.Object) bool {
			visited++
			return visited != tc.enough
		})
		if err != nil || cut != tc.cut || visited != tc.visited || len(server.limits) > tc.pages {
			t.Errorf("%s: %d visited, cut %t, pages of %d, error %v", name, visited, cut, server.limits, err)
		}
	}
}

// Of the warnings about something, the latest of those that are read is told, shortened, and that there are more.
func TestWarningsOfStrangers(t *testing.T) {
	long := &Live{Reader: &warned{message: strings.Repeat("é", 1<<20), events: 1}}
	if text := latestWarning(t.Context(), long, "ns", "uid"); len(text) < maxWarning-1 || len(text) > maxWarning {
		t.Errorf("a message of %d bytes is kept", len(text))
	}
	many := &Live{Reader: &warned{message: "no quota", events: someObjects + 1}}
	must.Same(t, "of many", "no quota"+moreWarnings, latestWarning(t.Context(), many, "ns", "uid"))
}

// warned has so many events with that message.
type warned struct {
	client.Reader
	message string
	events  int
}

func (w *warned) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	for range w.events {
		list.(*corev1.EventList).Items = append(list.(*corev1.EventList).Items, corev1.Event{Message: w.message})
	}
	return nil
}

// written are logs to which a program writes, by the names of their Pods.
type written struct {
	mu     sync.Mutex
	opened map[string]int
	logs   map[string]*io.PipeReader
	// left are the Pods whose logs are no longer followed.
	left chan string
}

func (w *written) OpenLog(ctx context.Context, _, pod string, of corev1.PodLogOptions) (io.ReadCloser, error) {
	if !of.Follow {
		return nil, errors.New("only follow")
	}
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
	must.Same(t, "times that the log was opened", 1, logs.opened["0"])
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
		must.Same(t, "times that log "+pod+" was opened", 1, times)
	}
}

// What is followed ends with the loader: a run whose loader is gone follows nothing, nor does any before the manager has started.
func TestFollowersLeave(t *testing.T) {
	f, logs, writers := followed(t, 1)
	run, pod := numbered(0)
	f.delivered(run, pod)
	mustWrite(t, writers[0], []byte("the loader begins\n"))
	f.delivered(run, nil)
	must.Same(t, "left", "0", <-logs.left)
	f.ctx = nil
	f.delivered(run, pod)
	must.Same(t, "logs that are followed before the manager has started", 0, len(f.byName))
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
	must.Same(t, "logs that are followed", maxFollowed, len(f.byName))
	run, _ := numbered(0)
	f.delivered(run, nil)
	f.delivered(numbered(maxFollowed))
	must.Same(t, "logs that are followed after one has ended", maxFollowed, len(f.byName))
}
