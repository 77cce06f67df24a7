// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// computed is what Helm 4 and Flux make of an object.
func computed(t *testing.T, object any) kstatus.Status {
	t.Helper()
	fields := must.Get(apischema.Object(object))(t)
	r := must.Get(kstatus.Compute(&unstructured.Unstructured{Object: fields}))(t)
	return r.Status
}

// `helm install --wait` must not take an object that no manager has looked at yet for one that is ready, and must see either end.
func TestKstatus(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	decisions := map[string]struct {
		decision lifecycle.Decision
		want     kstatus.Status
	}{
		"under way": {lifecycle.Decision{Action: lifecycle.Wait{}, Reason: v1alpha1.ReasonMeasuring, Message: "trial 1"}, kstatus.InProgressStatus},
		"suspended": {lifecycle.Decision{Action: lifecycle.Wait{}, Reason: v1alpha1.ReasonSuspended, Message: "wait"}, kstatus.InProgressStatus},
		"queued":    {lifecycle.Decision{Action: lifecycle.Wait{}, Reason: v1alpha1.ReasonQueued, Message: "wait"}, kstatus.InProgressStatus},
		"complete": {
			lifecycle.Decision{Action: lifecycle.Wait{}, Complete: true, Reason: v1alpha1.ReasonComplete, Message: "measured"}, kstatus.CurrentStatus,
		},
		"failed, and its results are being written": {
			lifecycle.Decision{Action: lifecycle.Wait{}, Failure: &lifecycle.Failure{Reason: v1alpha1.ReasonNameTaken, Message: "taken"}},
			kstatus.InProgressStatus,
		},
		"failed": {
			lifecycle.Decision{
				Action: lifecycle.Wait{}, Failure: &lifecycle.Failure{Reason: v1alpha1.ReasonNameTaken, Message: "taken"}, Finished: true,
			},
			kstatus.FailedStatus,
		},
	}
	t.Run("run", func(t *testing.T) {
		run := testutil.MakeRun("run", "ns").Obj()
		p := must.Get(plan.ForRun(&run.Spec))(t)
		run.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: lifecycle.RunKind}
		must.Same(t, "a new run", kstatus.InProgressStatus, computed(t, run))
		for name, tc := range decisions {
			decided := run.DeepCopy()
			decided.Status = lifecycle.Status(run, p, &lifecycle.Observed{}, tc.decision, now)
			must.Same(t, name, tc.want, computed(t, decided))
		}
	})
}
