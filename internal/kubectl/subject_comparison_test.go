// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Where one stands in the queue of a lane is looked up, in all namespaces that the user may list.
func TestPosition(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	at := func(seconds int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 1, 2, 3, 4, seconds, 0, time.UTC))
	}
	in := func(namespace, name string, created int, admitted metav1.ConditionStatus) *v1alpha1.BenchmarkRun {
		return testutil.MakeRun(name, namespace).With(func(r *v1alpha1.BenchmarkRun) {
			r.CreationTimestamp = at(created)
			r.Status.Conditions = []metav1.Condition{
				{Type: v1alpha1.ConditionAdmitted, Status: admitted},
				{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQueued},
			}
		}).Obj()
	}
	mine := in("ns", "mine", 30, metav1.ConditionFalse)
	objects := fake.NewClientBuilder().WithScheme(scheme).WithObjects(mine, in("a", "holder", 20, metav1.ConditionTrue),
		in("a", "before", 10, metav1.ConditionFalse), in("ns", "also-before", 25, metav1.ConditionFalse), in("a", "after", 40, metav1.ConditionFalse)).Build()
	for name, tc := range map[string]struct {
		all  bool
		want string
	}{
		"all namespaces": {true, "run a/holder is admitted to lane default.\nQueue of lane default: position 3 of 4."},
		"one namespace":  {false, "Queue of lane default: position 2 of 2 in this namespace (you are not allowed to list the others)."},
	} {
		from := interceptor.NewClient(objects, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				o := client.ListOptions{}
				o.ApplyOptions(opts)
				if !tc.all && o.Namespace == "" {
					return apierrors.NewForbidden(schema.GroupResource{Resource: "benchmarkruns"}, "", nil)
				}
				return c.List(ctx, list, opts...)
			},
		})
		got, err := position(t.Context(), from, runSubject{mine})
		if text := strings.Join(got, "\n"); err != nil || text != tc.want {
			t.Errorf("%s: %q, %v, want %q", name, text, err, tc.want)
		}
	}
	running := in("ns", "mine", 30, metav1.ConditionTrue)
	running.Status.Conditions[1].Reason = v1alpha1.ReasonMeasuring
	if got, err := position(t.Context(), objects, runSubject{running}); got != nil || err != nil {
		t.Errorf("of a run that measures it says %q, %v", got, err)
	}
}
