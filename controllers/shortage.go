// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// maxRooms is how many nodes with the labels that a Pod selects are looked at for what would fit: all Pods on each are read.
const maxRooms = 10

// roomInterval is the time between two looks at what would fit: each reads all Pods of several nodes, and a Pod without room is
// looked at every few seconds.
const roomInterval = time.Minute

// shortage is what a Pod lacked when room for it was last looked for.
type shortage struct {
	pod  types.UID
	at   time.Time
	text string
}

// shortage says which resources a Pod that cannot be scheduled lacks, and what would fit; it is empty if the Pod does not wait
// for resources. An operator that works in one namespace may not read nodes: what would fit is left out then.
func (r *BenchmarkRunReconciler) shortage(ctx context.Context, m *memory, pod *corev1.Pod, field string) string {
	if len(podutil.Insufficient(pod)) == 0 {
		return ""
	}
	if m.shortage.pod == pod.UID && r.Clock.Since(m.shortage.at) < roomInterval {
		return m.shortage.text
	}
	rooms, err := r.rooms(ctx, pod)
	if err != nil && !apierrors.IsForbidden(err) {
		log.FromContext(ctx).Error(err, "Looking for room", "pod", pod.Name)
	}
	m.shortage = shortage{pod.UID, r.Clock.Now(), podutil.Shortage(pod, field, rooms)}
	return m.shortage.text
}

// rooms are the nodes with the labels that a Pod selects, and what runs on them; none if there are too many.
func (r *BenchmarkRunReconciler) rooms(ctx context.Context, pod *corev1.Pod) ([]podutil.Room, error) {
	var nodes corev1.NodeList
	err := r.Live.List(ctx, &nodes, client.MatchingLabels(pod.Spec.NodeSelector), client.Limit(maxRooms+1))
	if err != nil || len(nodes.Items) > maxRooms {
		return nil, err
	}
	var rooms []podutil.Room
	for i := range nodes.Items {
		pods, err := r.podsOn(ctx, nodes.Items[i].Name)
		if err != nil {
			return nil, err
		}
		rooms = append(rooms, podutil.Room{Node: &nodes.Items[i], Pods: pods})
	}
	return rooms, nil
}

// roomPage is how many Pods are read at once: each may have more than a megabyte.
const roomPage = 10

// podsOn a node, each with what it requests and is labelled with.
func (r *BenchmarkRunReconciler) podsOn(ctx context.Context, node string) ([]corev1.Pod, error) {
	var all []corev1.Pod
	for next := ""; ; {
		var page corev1.PodList
		err := r.Live.List(ctx, &page, client.MatchingFields{"spec.nodeName": node}, client.Limit(roomPage), client.Continue(next))
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			pod := &page.Items[i]
			all = append(all, corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, Labels: pod.Labels},
				Spec:       cachedPod(&pod.Spec), Status: corev1.PodStatus{Phase: pod.Status.Phase},
			})
		}
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}
