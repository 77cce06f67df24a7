// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	var nodes []*corev1.Node
	cut, err := r.Live.Some(ctx, new(corev1.NodeList), func(object runtime.Object) bool {
		if node, is := object.(*corev1.Node); is {
			nodes = append(nodes, &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels}, Spec: node.Spec,
				Status: corev1.NodeStatus{Allocatable: node.Status.Allocatable},
			})
		}
		return len(nodes) <= maxRooms
	}, client.MatchingLabels(pod.Spec.NodeSelector))
	if err != nil || cut || len(nodes) > maxRooms {
		return nil, err
	}
	var rooms []podutil.Room
	for _, node := range nodes {
		pods, cut, err := r.podsOn(ctx, pod, node.Name)
		if err != nil || cut {
			return nil, err
		}
		rooms = append(rooms, podutil.Room{Node: node, Pods: pods})
	}
	return rooms, nil
}

// podsOn a node, as far as a Pod that looks for room is concerned, and whether there are more than are read.
func (r *BenchmarkRunReconciler) podsOn(
	ctx context.Context, looking *corev1.Pod, node string,
) (all []corev1.Pod, cut bool, err error) {
	cut, err = r.Live.Some(ctx, new(corev1.PodList), func(object runtime.Object) bool {
		if pod, is := object.(*corev1.Pod); is {
			all = append(all, podutil.Neighbor(looking, pod))
		}
		return true
	}, client.MatchingFields{"spec.nodeName": node})
	return all, cut, err
}
