// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// provideDatabase creates the objects of an instance, the one that stands for it last. An object that others would make of these
// must not be there yet: a StatefulSet takes whatever Pod and whatever claim it finds under the name, with the data in it.
func (r *RunReconciler) provideDatabase(ctx context.Context, s *runStep, a lifecycle.ProvideDatabase) error {
	run, m := plan.Side(s.run, plan.VariantOf(s.run, a.Instance), 1), &r.memories.of(s.run).made
	objects, err := database.Objects(s.run, a.Instance, a.Node, s.seen.Images)
	if err != nil {
		return &terminalError{*lifecycle.Invalid(err)}
	}
	objects = database.Guarding(objects, !a.Guarded, a.Beside)
	w, name := r.writer(s.run), plan.InstanceName(run, a.Instance)
	for _, implied := range database.Implied(run, a.Instance) {
		if err := w.notThere(ctx, implied, name); err != nil {
			return err
		}
	}
	if database.NeedsSecret(run) {
		if err := r.createSecret(ctx, s); err != nil {
			return err
		}
	}
	if err := r.createDataCopy(ctx, s, a.Instance); err != nil {
		return err
	}
	if policy := database.NetworkPolicy(run, a.Instance); policy != nil && r.NetworkPolicies {
		if _, err := w.create(ctx, policy); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := w.createPart(ctx, object, m); err != nil {
			return err
		}
	}
	servers := append(slices.Clone(s.seen.Made.Servers), referenceTo(objects[len(objects)-1]))
	// It counts, and so do as many before it as are up beside it.
	m.servers = creations{made: servers[max(0, len(servers)-a.Beside-1):], after: s.run.Status.Servers}
	s.seen.Made.Servers = m.servers.made
	return nil
}

// createPart creates an object of a database instance. One that exists is fine if this process has made it. Another one that the
// owner controls may be a third party's, or that of an operator that was killed: the next look at the instance says so, and it is
// removed.
func (w *writer) createPart(ctx context.Context, object client.Object, m *made) error {
	instance := number(object, v1alpha1.LabelInstance)
	existed, err := w.create(ctx, object)
	switch {
	case err != nil:
		return err
	case !existed:
		m.parts.Insert(object.GetUID())
		return nil
	case m.parts.Has(object.GetUID()):
		return nil
	case number(object, v1alpha1.LabelInstance) == instance && w.owner.isLabelled(object) && ofDatabase(object):
		return errStale
	}
	return w.owner.taken(w.kindOf(object), object.GetName())
}

// notThere fails if an object exists that others will make of an instance. What is controlled by an object of the instance's
// name is looked at no further: whose that one is, its own creation says.
func (w *writer) notThere(ctx context.Context, object client.Object, instance string) error {
	kind, name := w.kindOf(object), object.GetName()
	err := w.Live.Get(ctx, client.ObjectKeyFromObject(object), object)
	controller := metav1.GetControllerOf(object)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("looking for %s %s: %w", kind, name, err)
	case object.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s %s is still being deleted", kind, name)
	case controller != nil && controller.Name == instance:
		return nil
	}
	return w.owner.taken(kind, name)
}

// createSecret creates the credentials of a database once. The operator may not read Secrets. Before it creates one, it looks
// whether the name is free, and writes to the status that it creates one: from then on, the one that has the name is the run's.
func (r *RunReconciler) createSecret(ctx context.Context, s *runStep) error {
	w, secret := r.writer(s.run), database.Secret(s.run, rand.Text())
	if s.old.Status.Secret != secret.Name {
		switch err := w.createUnchecked(ctx, secret.DeepCopy(), true, client.DryRunAll); {
		case apierrors.IsAlreadyExists(err):
			return cmp.Or(w.upToDate(ctx), w.owner.taken("Secret", secret.Name))
		case err != nil:
			return err
		}
		s.seen.Made.Secret = secret.Name
		if err := r.writeAhead(ctx, s); err != nil {
			return err
		}
	}
	if err := w.createUnchecked(ctx, secret, true); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// createDataCopy creates the claim with the copy of prepared data once. One that is not known to be what the operator has made is
// removed first: its content is unknown.
func (r *RunReconciler) createDataCopy(ctx context.Context, s *runStep, instance int) error {
	claim := database.DataCopy(s.run, instance)
	if claim == nil {
		return nil
	}
	w := r.writer(s.run)
	existed, err := w.create(ctx, claim)
	switch {
	case err != nil:
		return err
	case !existed:
		isOld := func(o v1alpha1.ObjectReference) bool { return o.Name == claim.Name }
		copies := slices.DeleteFunc(slices.Clone(s.seen.Made.DataCopies), isOld)
		copies = append(copies, referenceTo(claim))
		r.memories.of(s.run).copies = creations{made: copies, after: s.run.Status.DataCopies}
		s.seen.Made.DataCopies = copies
	case !slices.Contains(s.seen.Made.DataCopies, referenceTo(claim)):
		return cmp.Or(w.remove(ctx, claim), errStale)
	}
	return nil
}

// retainedClass is the storage class of an instance's volumes if they stay after their claims; empty if they do not, or if that
// is not known: an operator that works in some namespaces only may not read classes. No measurement depends on it.
func (r *RunReconciler) retainedClass(ctx context.Context, i *lifecycle.Instance) string {
	if len(i.Claims) == 0 || ptr.Deref(i.Claims[0].Spec.StorageClassName, "") == "" {
		return ""
	}
	var class storagev1.StorageClass
	name := *i.Claims[0].Spec.StorageClassName
	err := r.Live.Get(ctx, client.ObjectKey{Name: name}, &class)
	switch {
	case err == nil && ptr.Deref(class.ReclaimPolicy, "") == corev1.PersistentVolumeReclaimRetain:
		return name
	case err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err):
		log.FromContext(ctx).Error(err, "Reading a storage class", "class", name)
	}
	return ""
}
