// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
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
		must.Same(t, fmt.Sprintf("%s (%v)", name, err), tc.want, got)
	}
}

// The operator's time is that of the API server, whatever its own clock says, and does not jump for a second.
func TestAPIClock(t *testing.T) {
	start := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	for name, skew := range map[string]time.Duration{"ahead": 301 * time.Second, "behind": -301 * time.Second, "right": 0, "a bit ahead": 3 * time.Second} {
		own := clocktesting.NewFakePassiveClock(start.Add(skew))
		c, date := &APIClock{PassiveClock: own}, ""
		answer := func(says string) {
			date = says
			request := httptest.NewRequest(http.MethodGet, "https://api.example.com/", http.NoBody)
			response, err := c.Wrap(roundTripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{Header: http.Header{"Date": []string{date}}, Body: http.NoBody}, nil
			})).RoundTrip(request)
			must.Do(t, err)
			_ = response.Body.Close()
		}
		answer(start.Format(http.TimeFormat))
		first := c.Now()
		if off := first.Sub(start).Abs(); off > tolerated {
			t.Errorf("%s: it is %s off", name, off)
		}
		for _, noise := range []string{start.Add(time.Second).Format(http.TimeFormat), start.Add(-2 * time.Second).Format(http.TimeFormat), "", "yesterday"} {
			if answer(noise); !c.Now().Equal(first) {
				t.Errorf("%s: after %q it is %s, and was %s", name, noise, c.Now(), first)
			}
		}
		own.SetTime(start.Add(skew + time.Hour))
		must.Same(t, name+": an hour takes", time.Hour, c.Since(first))
	}
}

// status has counts, and conditions that are true.
func status(measured, invalidated int32, conditions ...string) v1alpha1.BenchmarkRunStatus {
	s := v1alpha1.BenchmarkRunStatus{Trials: v1alpha1.TrialCounts{Measured: &measured, Invalidated: &invalidated}}
	for _, t := range conditions {
		s.Conditions = append(s.Conditions, metav1.Condition{
			Type: t, Status: metav1.ConditionTrue, Reason: "Reason" + t, Message: "message of " + t,
		})
	}
	return s
}

// attempts of trials 1, 2 and so on: o counts, x is disturbed.
func attempts(outcomes string) *lifecycle.Observed {
	seen := &lifecycle.Observed{}
	for i, o := range outcomes {
		r := &result.Record{Trial: i + 1, Attempt: 1, Outcome: result.OutcomeAccepted}
		if o == 'x' {
			r.Outcome, r.Cause, r.Message = result.OutcomeInvalidated, result.CauseEvicted, "drained"
		}
		seen.Records = append(seen.Records, r)
	}
	return seen
}

func TestAnnouncements(t *testing.T) {
	evicted := func(trial string) announcement {
		return announcement{corev1.EventTypeWarning, "AttemptInvalidated", "Measure", "trial " + trial + ", attempt 1: Evicted: drained"}
	}
	normal := func(condition, action string) announcement {
		return announcement{corev1.EventTypeNormal, "Reason" + condition, action, "message of " + condition}
	}
	noLonger := status(0, 0)
	noLonger.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionDatabaseReady, Status: metav1.ConditionFalse}}
	failed := normal(v1alpha1.ConditionFailed, "Finish")
	failed.kind = corev1.EventTypeWarning
	cases := map[string]struct {
		old, status v1alpha1.BenchmarkRunStatus
		records     string
		want        []announcement
	}{
		"nothing":          {},
		"a first status":   {status: status(0, 0)},
		"admitted":         {status: status(0, 0, v1alpha1.ConditionAdmitted), want: []announcement{normal(v1alpha1.ConditionAdmitted, "Admit")}},
		"database answers": {status: status(0, 0, v1alpha1.ConditionDatabaseReady), want: []announcement{normal(v1alpha1.ConditionDatabaseReady, "Provide")}},
		"as before":        {old: status(1, 1, v1alpha1.ConditionDatabaseReady), status: status(1, 1, v1alpha1.ConditionDatabaseReady), records: "ox"},
		"no longer":        {old: status(0, 0, v1alpha1.ConditionDatabaseReady), status: noLonger},
		"once more":        {old: noLonger, status: status(0, 0, v1alpha1.ConditionDatabaseReady), want: []announcement{normal(v1alpha1.ConditionDatabaseReady, "Provide")}},
		"suspended":        {status: status(0, 0, v1alpha1.ConditionSuspended), want: []announcement{normal(v1alpha1.ConditionSuspended, "Suspend")}},
		"complete, told once": {
			old:    status(1, 0, v1alpha1.ConditionDatabaseReady),
			status: status(2, 0, v1alpha1.ConditionDatabaseReady, v1alpha1.ConditionComplete, v1alpha1.ConditionFinished, v1alpha1.ConditionReady), records: "oo",
			want: []announcement{normal(v1alpha1.ConditionComplete, "Finish")},
		},
		"failed": {
			status: status(0, 0, v1alpha1.ConditionFailed, v1alpha1.ConditionFinished, v1alpha1.ConditionStalled), want: []announcement{failed},
		},
		"measured":                         {old: status(0, 0), status: status(1, 0), records: "o"},
		"disturbed":                        {old: status(1, 0), status: status(1, 1), records: "ox", want: []announcement{evicted("2")}},
		"disturbed again":                  {old: status(1, 1), status: status(1, 2), records: "xox", want: []announcement{evicted("3")}},
		"several since":                    {old: status(1, 1), status: status(2, 3), records: "xoxox", want: []announcement{evicted("3"), evicted("5")}},
		"by the first status":              {status: status(0, 1), records: "x", want: []announcement{evicted("1")}},
		"records are behind":               {old: status(3, 0), status: status(0, 1), records: "x"},
		"disturbed too often, in an order": {old: status(0, 0), status: status(0, 1, v1alpha1.ConditionFailed), records: "x", want: []announcement{evicted("1"), failed}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := announcements(&tc.old, &tc.status, attempts(tc.records))
			must.Same(t, "announcements", tc.want, got, cmp.AllowUnexported(announcement{}))
		})
	}
}

// The API server refuses an event with more than 1,024 bytes of text.
func TestAnnouncementsAreCut(t *testing.T) {
	for _, offset := range []string{"", "x"} {
		s := status(0, 1, v1alpha1.ConditionFailed)
		s.Conditions[0].Message = offset + strings.Repeat("ü", 2000)
		seen := attempts("x")
		seen.Records[0].Message = s.Conditions[0].Message
		list := announcements(&v1alpha1.BenchmarkRunStatus{}, &s, seen)
		must.Same(t, "announcements", 2, len(list))
		for _, a := range list {
			if n := len(a.message); n > 1024 || n < 1023 || !utf8.ValidString(a.message) {
				t.Errorf("%s has %d bytes", a.reason, n)
			}
		}
	}
}

// What anybody fills an object with is not kept, and what is kept stays the same when it is reduced again.
func TestCachedIsSmall(t *testing.T) {
	bulk := strings.Repeat("x", 900_000)
	meta := metav1.ObjectMeta{
		Name: "a", Labels: map[string]string{v1alpha1.LabelRun: "run"}, Annotations: map[string]string{"example.com/any": bulk},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: bulk}},
	}
	for _, key := range []string{
		neighborsAnnotation, database.AnnotationBlockIO, batchv1.JobCompletionIndexAnnotation,
	} {
		meta.Annotations[key] = bulk
	}
	meta.OwnerReferences = []metav1.OwnerReference{{Kind: "BenchmarkRun", Name: "any", UID: "forged", Controller: ptr.To(true)}}
	for i := range 1000 {
		meta.Labels[fmt.Sprint("example.com/", i)] = "any"
		meta.Finalizers = append(meta.Finalizers, fmt.Sprint("example.com/", i))
		meta.OwnerReferences = append(meta.OwnerReferences, metav1.OwnerReference{Name: fmt.Sprint("any", i)})
	}
	pod := corev1.PodSpec{
		Containers:  []corev1.Container{{Name: "a", Args: []string{bulk}, Env: []corev1.EnvVar{{Name: "a", Value: bulk}}}},
		Tolerations: []corev1.Toleration{{Key: bulk}},
	}
	template := corev1.PodTemplateSpec{ObjectMeta: meta, Spec: pod}
	for _, object := range []client.Object{
		&corev1.Pod{ObjectMeta: meta, Spec: pod},
		&batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: template}},
		&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Template: template, ServiceName: bulk}},
		&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ExternalName: bulk}},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: bulk}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": bulk}},
		}},
		&metav1.PartialObjectMetadata{ObjectMeta: meta},
		&v1alpha1.BenchmarkRun{ObjectMeta: meta},
	} {
		object = object.DeepCopyObject().(client.Object)
		reduce(t, object)
		if text, err := json.Marshal(object); err != nil || len(text) > 8<<10 {
			t.Errorf("%T: %d bytes are kept, %v", object, len(text), err)
		}
		if object.GetName() != "a" || object.GetLabels()[v1alpha1.LabelRun] != "run" {
			t.Errorf("%T: its name or label is lost: %v", object, object.GetLabels())
		}
		once := object.DeepCopyObject()
		reduce(t, object)
		must.Same(t, fmt.Sprintf("%T, reduced again", object), once, object)
	}
}

// What decisions read is kept.
func TestCachedKeepsWhatIsRead(t *testing.T) {
	owner := metav1.OwnerReference{Kind: "BenchmarkRun", Name: "run", UID: "uid", Controller: ptr.To(true)}
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
		Labels:          map[string]string{v1alpha1.LabelKueueQueue: "queue", v1alpha1.LabelKueuePriority: "high"},
		OwnerReferences: []metav1.OwnerReference{owner}, Finalizers: []string{"example.com/a"},
	}}
	run.Status.Progress = "1/2"
	set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: database.ObserverContainer, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}},
	}}}}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{neighborsAnnotation: "{}"}},
		Spec: batchv1.JobSpec{
			Suspend: ptr.To(true), Completions: ptr.To[int32](2), Parallelism: ptr.To[int32](2), ActiveDeadlineSeconds: ptr.To[int64](9),
		},
		Status: batchv1.JobStatus{Failed: 1},
	}
	for _, object := range []client.Object{run, set, job} {
		want := object.DeepCopyObject()
		reduce(t, object)
		must.Same(t, fmt.Sprintf("%T: what is read", object), want, object)
	}
}

func reduce(t *testing.T, object client.Object) {
	t.Helper()
	must.Get(Cached(object))(t)
}
