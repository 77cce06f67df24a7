// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// allows evaluates a policy as a network does: whether a Pod of that namespace with those labels may connect to the selected Pods.
func allows(t *testing.T, p *networkingv1.NetworkPolicy, namespace string, of map[string]string) bool {
	t.Helper()
	for _, rule := range p.Spec.Ingress {
		if len(rule.From) == 0 {
			return true
		}
		for _, peer := range rule.From {
			if peer.IPBlock != nil || peer.NamespaceSelector != nil || peer.PodSelector == nil {
				t.Fatalf("a peer of another kind: %+v", peer)
			}
			if namespace == p.Namespace && matches(t, peer.PodSelector, of) {
				return true
			}
		}
	}
	return false
}

func matches(t *testing.T, s *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(labels.Set(of))
}

// loaderLabels are those of the Pods of a run's first attempt.
func loaderLabels(t *testing.T, run *v1alpha1.BenchmarkRun) map[string]string {
	t.Helper()
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	job, err := trial.Job(run, trial.Attempt{Trial: p.Trials[0], Point: p.Points[0], Number: 1, Instance: 1}, podutil.Images{Loader: "l"})
	if err != nil {
		t.Fatal(err)
	}
	return job.Spec.Template.Labels
}

// Only the Pods of a run, or of its comparison, may connect to its server and observer.
func TestNetworkPolicy(t *testing.T) {
	named := func(name, comparison string) *v1alpha1.BenchmarkRun {
		run := testutil.MakeRun(name, "ns").Obj()
		run.UID = types.UID("uid-of-" + name)
		if comparison != "" {
			run.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: plan.ComparisonKind, Name: comparison,
				UID: types.UID("uid-of-" + comparison), Controller: ptr.To(true),
			}}
		}
		return run
	}
	shared := named("shared", "comparison")
	plan.Share(shared, plan.Served{})
	for name, tc := range map[string]struct {
		run, from *v1alpha1.BenchmarkRun
		namespace string
		want      bool
	}{
		"its own loader":                  {named("run", ""), named("run", ""), "ns", true},
		"its own labels elsewhere":        {named("run", ""), named("run", ""), "other", false},
		"another run":                     {named("run", ""), named("other", ""), "ns", false},
		"another variant":                 {named("a", "comparison"), named("b", "comparison"), "ns", true},
		"a variant of another comparison": {named("a", "comparison"), named("b", "other"), "ns", false},
		"a variant with the same server":  {shared, shared, "ns", true},
		"a run that belongs to nobody":    {named("a", "comparison"), named("a", ""), "ns", false},
		"a variant, to a run of its own":  {named("run", ""), named("a", "comparison"), "ns", false},
	} {
		policy := database.NetworkPolicy(tc.run, 1)
		if got := allows(t, policy, tc.namespace, loaderLabels(t, tc.from)); got != tc.want {
			t.Errorf("%s: may connect: %t", name, got)
		}
		if allows(t, policy, "ns", map[string]string{"app": "stranger"}) || allows(t, policy, "ns", nil) {
			t.Errorf("%s: a stranger may connect", name)
		}
		if policy.Spec.PolicyTypes[0] != networkingv1.PolicyTypeIngress || policy.Spec.Ingress[0].Ports != nil {
			t.Errorf("%s: %+v", name, policy.Spec)
		}
		// It is about the server's Pod, and no other one.
		for _, object := range objects(t, tc.run, 1, "", podutil.Images{}) {
			if set, is := object.(*appsv1.StatefulSet); is && !matches(t, &policy.Spec.PodSelector, set.Spec.Template.Labels) {
				t.Errorf("%s: the server's Pod is not meant", name)
			}
		}
		if matches(t, &policy.Spec.PodSelector, loaderLabels(t, tc.run)) {
			t.Errorf("%s: a loader is meant", name)
		}
	}
	elsewhere := named("run", "")
	for _, provisioner := range []v1alpha1.Provisioner{v1alpha1.ProvisionerExternal, v1alpha1.ProvisionerMariaDBOperator} {
		elsewhere.Spec.Database.Provisioner = provisioner
		if database.NetworkPolicy(elsewhere, 1) != nil {
			t.Errorf("%s: there is a policy", provisioner)
		}
	}
}
