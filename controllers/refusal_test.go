// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"net/http"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Only an object that is not valid as it is ends a run at once. Who denies it today may allow it tomorrow.
func TestRefusal(t *testing.T) {
	jobs := batchv1.Resource("jobs")
	denied := func(change func(*metav1.Status)) error {
		s := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Message: "denied"}}
		change(&s.ErrStatus)
		return s
	}
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"a quota":                        {apierrors.NewForbidden(jobs, "x", errors.New("exceeded quota")), "waits"},
		"a webhook that gives no reason": {denied(func(s *metav1.Status) { s.Code = http.StatusBadRequest }), "waits"},
		"a webhook that forbids":         {denied(func(s *metav1.Status) { s.Code, s.Reason = http.StatusForbidden, metav1.StatusReasonForbidden }), "waits"},
		"a policy": {denied(func(s *metav1.Status) {
			s.Code, s.Reason = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid
			s.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: "no"}}}
		}), "waits"},
		"a field that is not valid": {
			apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), "x", field.ErrorList{field.Invalid(field.NewPath("spec"), 1, "no")}),
			"ends",
		},
		"a field that is not known":         {apierrors.NewBadRequest(`strict decoding error: unknown field "spec.x"`), "ends"},
		"too large":                         {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), "ends"},
		"an API server that has much to do": {apierrors.NewTooManyRequests("later", 1), "fails"},
		"a webhook that does not answer":    {apierrors.NewInternalError(errors.New("failed calling webhook")), "fails"},
		"no API server":                     {errors.New("connection refused"), "fails"},
		"a namespace that is going": {denied(func(s *metav1.Status) {
			s.Code, s.Reason = http.StatusForbidden, metav1.StatusReasonForbidden
			s.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}
		}), "nothing"},
	} {
		err, got := refusal("Job", "x", tc.err), "fails"
		switch {
		case err == nil:
			got = "nothing"
		case errors.As(err, new(*terminalError)):
			got = "ends"
		case errors.As(err, new(*refusedError)):
			got = "waits"
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, tc.want, err)
		}
	}
}
