//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// world is everything around a run that changes between any two looks: other Pods on its node, what the node says of itself, the
// time, logs that cannot be read at the moment, and people who edit the run.
type world struct {
	c   *cluster
	rng *rand.Rand
	// visitors counts the Pods of others that came so far; visitor is the one that is there.
	visitors int
	visitor  *corev1.Pod
	// records are the UIDs of all records that were seen, by their names.
	records map[string]types.UID
}

func newWorld(c *cluster, rng *rand.Rand) *world {
	c.t.Helper()
	c.databaseNode = "node-" + c.namespace
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.databaseNode}}
	c.must(api.Create(c.t.Context(), node))
	c.t.Cleanup(func() {
		if err := api.Delete(context.Background(), node); err != nil {
			c.t.Error(err)
		}
	})
	return &world{c: c, rng: rng, records: map[string]types.UID{}}
}

// pass some time, in which the world changes.
func (w *world) pass() {
	w.c.t.Helper()
	w.c.clock.Step(time.Duration(w.rng.IntN(300)) * time.Millisecond)
	w.visit()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.c.databaseNode}}
	pressure := corev1.ConditionFalse
	if w.rng.IntN(2) == 0 {
		pressure = corev1.ConditionTrue
	}
	node.Status.Conditions = []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeDiskPressure, Status: pressure},
	}
	w.c.must(api.Status().Update(w.c.t.Context(), node))
	w.noRecordDeleted()
}

// visit replaces the Pod of somebody else on the database's node by another.
func (w *world) visit() {
	w.c.t.Helper()
	w.leave()
	w.visitors++
	w.visitor = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.c.namespace, Name: fmt.Sprintf("visitor-%d", w.visitors)},
		Spec:       corev1.PodSpec{NodeName: w.c.databaseNode, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	w.c.must(api.Create(w.c.t.Context(), w.visitor))
}

// leave: the Pod of somebody else goes.
func (w *world) leave() {
	w.c.t.Helper()
	if w.visitor != nil {
		w.c.must(client.IgnoreNotFound(api.Delete(w.c.t.Context(), w.visitor, client.GracePeriodSeconds(0))))
	}
}

// meddle edits a run now and then while its status is being written, so that the write meets a conflict, and removes Pods that
// have ended: what was seen of an attempt cannot be seen again.
func (w *world) meddle(owner client.Object) {
	if w.rng.IntN(4) > 0 {
		return
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/note":"%d"}}}`, w.rng.Int()))
	edited := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: owner.GetName()}}
	w.c.must(api.Patch(w.c.t.Context(), edited, patch))
	for name := range w.records {
		w.c.must(client.IgnoreNotFound(api.DeleteAllOf(w.c.t.Context(), &corev1.Pod{}, client.InNamespace(w.c.namespace),
			client.MatchingLabels{"batch.kubernetes.io/job-name": name}, client.GracePeriodSeconds(0))))
	}
}

// OpenLog implements LogOpener: now and then a log cannot be read.
func (w *world) OpenLog(_ context.Context, _, pod, _ string) (io.ReadCloser, error) {
	if w.rng.IntN(4) == 0 {
		return nil, errors.New("the kubelet does not answer")
	}
	return io.NopCloser(bytes.NewReader(w.c.logs[pod])), nil
}

// FollowLog implements LogOpener: every second Pod's log cannot be followed. It is called while the world has its dice.
func (w *world) FollowLog(_ context.Context, _, pod, _ string) (io.ReadCloser, error) {
	if crc32.ChecksumIEEE([]byte(pod+w.c.namespace))%2 == 0 {
		return nil, errors.New("the kubelet does not answer")
	}
	return io.NopCloser(bytes.NewReader(w.c.logs[pod])), nil
}

// noRecordDeleted fails if a record that was once there is gone, or is another one.
func (w *world) noRecordDeleted() {
	w.c.t.Helper()
	var configs corev1.ConfigMapList
	w.c.must(api.List(w.c.t.Context(), &configs, client.InNamespace(w.c.namespace),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentAttempt}))
	now := map[string]types.UID{}
	for _, cm := range configs.Items {
		now[cm.Name] = cm.UID
	}
	for name, uid := range w.records {
		if now[name] != uid {
			w.c.t.Fatalf("record %s was %s and is %q", name, uid, now[name])
		}
	}
	w.records = now
}
