// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"os"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
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

// argoHealth is the status and the message that Argo CD shows of an object, by config/argocd/health.lua.
func argoHealth(t *testing.T, object any) string {
	t.Helper()
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	lua.OpenBase(l) // Argo CD opens this library and few others
	l.SetGlobal("obj", luaValue(must.Get(apischema.Object(object))(t)))
	must.Do(t, l.DoString(string(must.Get(os.ReadFile("../../config/argocd/health.lua"))(t))))
	return l.GetField(l.Get(-1), "status").String() + ": " + l.GetField(l.Get(-1), "message").String()
}

func luaValue(value any) lua.LValue {
	table := new(lua.LTable)
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			table.RawSetString(key, luaValue(field))
		}
	case []any:
		for _, item := range v {
			table.Append(luaValue(item))
		}
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	default:
		return lua.LNil
	}
	return table
}

// `helm install --wait` must not take an object that no manager has looked at yet for one that is ready, and must see either end.
func TestKstatus(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	waiting := func(reason, message string) lifecycle.Decision {
		return lifecycle.Decision{Action: lifecycle.Wait{}, Reason: reason, Message: message}
	}
	complete := lifecycle.Decision{Action: lifecycle.Wait{}, Complete: true, Reason: v1alpha1.ReasonComplete, Message: "measured"}
	failing := lifecycle.Decision{Action: lifecycle.Wait{}, Failure: &lifecycle.Failure{Reason: v1alpha1.ReasonNameTaken, Message: "taken"}}
	failed := failing
	failed.Finished = true
	decisions := map[string]struct {
		decision lifecycle.Decision
		want     kstatus.Status
		argo     string
	}{
		"under way": {waiting(v1alpha1.ReasonMeasuring, "trial 1"), kstatus.InProgressStatus, "Progressing: trial 1"},
		"suspended": {waiting(v1alpha1.ReasonSuspended, "wait"), kstatus.InProgressStatus, "Suspended: spec.suspend is true"},
		"queued":    {waiting(v1alpha1.ReasonQueued, "wait"), kstatus.InProgressStatus, "Progressing: wait"},
		"complete":  {complete, kstatus.CurrentStatus, "Healthy: measured"},
		"failed":    {failed, kstatus.FailedStatus, "Degraded: taken"},
		"failed, and its results are being written": {failing, kstatus.InProgressStatus, "Progressing: NameTaken: see condition Failed"},
	}
	t.Run("run", func(t *testing.T) {
		run := testutil.MakeRun("run", "ns").Obj()
		p := must.Get(plan.ForRun(&run.Spec))(t)
		run.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: lifecycle.RunKind}
		must.Same(t, "a new run", kstatus.InProgressStatus, computed(t, run))
		must.Same(t, "a new run in Argo CD", "Progressing: Waiting for the operator", argoHealth(t, run))
		for name, tc := range decisions {
			decided := run.DeepCopy()
			decided.Status = lifecycle.Status(run, p, &lifecycle.Observed{}, tc.decision, now)
			decided.Spec.Suspend = ptr.To(tc.decision.Reason == v1alpha1.ReasonSuspended || tc.want == kstatus.CurrentStatus)
			must.Same(t, name, tc.want, computed(t, decided))
			must.Same(t, name+" in Argo CD", tc.argo, argoHealth(t, decided))
		}
	})
}
