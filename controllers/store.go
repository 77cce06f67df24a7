// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// storeRecord writes the record of an attempt, and returns its text as the cluster has it. An operator that was killed may have
// written it before, or this one, when the status could not be written. The one that is there stands if it is the same attempt's,
// by what cannot be looked up anew. It is never deleted: a record may have been counted by the operator that wrote it.
func (w *writer) storeRecord(
	ctx context.Context, meta metav1.ObjectMeta, record *result.Record, files []result.File,
) (string, error) {
	there, err := w.stored(ctx, meta.Name)
	switch {
	case err != nil:
		return "", err
	case there == nil:
		return string(files[0].Data), w.write(ctx, meta, files)
	}
	text := there.Data[result.RecordKey]
	if written, err := result.DecodeRecord(text); err != nil || !record.SameAttempt(written) {
		return "", &unwrittenError{
			"ConfigMap " + meta.Name, errors.New("it exists but does not match this attempt: delete it if nobody needs it"),
		}
	}
	return text, nil
}

// storeResults writes results. If there are any already, an operator that was killed has written them. They are written anew if
// they do not say the same, and if the owner's status does not name them: then they were not announced.
func (w *writer) storeResults(ctx context.Context, meta metav1.ObjectMeta, files []result.File) error {
	there, err := w.stored(ctx, meta.Name)
	switch {
	case err != nil:
		return err
	case there == nil:
		return w.write(ctx, meta, files)
	}
	want, err := w.packed(meta, files)
	switch {
	case err != nil:
		return err
	case sameData(there, want[0]):
		return nil
	case w.owner.retains():
		return &unwrittenError{"ConfigMap " + meta.Name, w.owner.taken("ConfigMap", meta.Name)}
	}
	return w.replace(ctx, there)
}

// stored is the ConfigMap with a name, as the API server has it, or nil. It is the owner's, and complete: what belongs to it was
// written before it.
func (w *writer) stored(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	var there corev1.ConfigMap
	err := w.Live.Get(ctx, client.ObjectKey{Namespace: w.owner.GetNamespace(), Name: name}, &there)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, &unwrittenError{"ConfigMap " + name, fmt.Errorf("reading the one that may exist: %w", err)}
	case there.DeletionTimestamp != nil:
		return nil, errStale
	case !w.owner.owns(&there), !ptr.Deref(there.Immutable, false):
		return nil, &unwrittenError{"ConfigMap " + name, w.owner.taken("ConfigMap", name)}
	}
	return &there, nil
}

func (w *writer) packed(meta metav1.ObjectMeta, files []result.File) ([]*corev1.ConfigMap, error) {
	bins, err := result.Pack(files)
	if err != nil {
		return nil, err
	}
	var list []*corev1.ConfigMap
	for i, bin := range bins {
		cm := &corev1.ConfigMap{
			ObjectMeta: *meta.DeepCopy(), Immutable: ptr.To(true), Data: map[string]string{}, BinaryData: map[string][]byte{},
		}
		cm.Namespace = w.owner.GetNamespace()
		if i > 0 {
			cm.Name = fmt.Sprintf("%s-%d", meta.Name, i+1)
		}
		for _, f := range bin {
			if f.Binary {
				cm.BinaryData[f.Name] = f.Data
			} else {
				cm.Data[f.Name] = string(f.Data)
			}
		}
		list = append(list, cm)
	}
	return list, nil
}

// write files into immutable ConfigMaps, the one with the given name last: all are there if it is. Every error is an
// unwrittenError, also a refusal: what was measured is worth another try.
func (w *writer) write(ctx context.Context, meta metav1.ObjectMeta, files []result.File) error {
	list, err := w.packed(meta, files)
	if err != nil {
		return err
	}
	for _, cm := range slices.Backward(list) {
		if err := w.writeOne(ctx, cm); err != nil {
			return &unwrittenError{"ConfigMap " + cm.Name, err}
		}
	}
	return nil
}

func (w *writer) writeOne(ctx context.Context, cm *corev1.ConfigMap) error {
	err := w.createUnchecked(ctx, cm.DeepCopy(), !w.owner.retains())
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	var there corev1.ConfigMap
	if err := w.Live.Get(ctx, client.ObjectKeyFromObject(cm), &there); err != nil {
		return fmt.Errorf("reading the one that exists already: %w", err)
	}
	owns := w.owner.owns(&there)
	switch {
	case there.DeletionTimestamp != nil:
		return errStale
	case owns && sameData(&there, cm) && ptr.Deref(there.Immutable, false):
		return nil
	case owns && !w.owner.retains():
		return w.replace(ctx, &there)
	}
	return w.owner.taken("ConfigMap", cm.Name)
}

func sameData(a, b *corev1.ConfigMap) bool {
	return equality.Semantic.DeepEqual(a.Data, b.Data) && equality.Semantic.DeepEqual(a.BinaryData, b.BinaryData)
}

// replace deletes a ConfigMap that an operator has left before it was killed, and that the owner's status does not name: the next
// step writes it anew.
func (w *writer) replace(ctx context.Context, there *corev1.ConfigMap) error {
	if err := w.upToDate(ctx); err != nil {
		return err
	}
	return cmp.Or(w.remove(ctx, there), errStale)
}

// upToDate fails if the owner was read before it was last written.
func (w *writer) upToDate(ctx context.Context) error {
	live := w.owner.DeepCopy()
	if err := w.Live.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return fmt.Errorf("reading the run again: %w", err)
	}
	if live.GetResourceVersion() != w.owner.GetResourceVersion() {
		return errStale
	}
	return nil
}
