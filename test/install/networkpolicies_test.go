//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// Where connections are denied by default, the chart allows what the documentation says: no more for runs than the policy that
// their namespace's owner would apply by hand.
func TestEnvtestNetworkPolicies(t *testing.T) {
	objects, err := helm(t, append(slices.Clone(images), "--set=networkPolicies.enabled=true",
		"--set=networkPolicies.runNamespaces={default}", "--set=metrics.enabled=true")...)
	must.Do(t, err)
	manager, runs := new(networkingv1.NetworkPolicy), new(networkingv1.NetworkPolicy)
	find(t, objects, "NetworkPolicy", "manager", manager)
	find(t, objects, "NetworkPolicy", "runs", runs)
	page := must.Get(os.ReadFile("../../docs/how-to/use-a-restricted-cluster.md"))(t)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	documented := new(networkingv1.NetworkPolicy)
	must.Do(t, yaml.UnmarshalStrict(block[1], documented))
	must.Same(t, "policy for runs, as documented", documented.Spec, runs.Spec)
	must.Same(t, "namespace that it is for", "default", runs.Namespace)
	labels := deployment(t, objects).Spec.Template.Labels
	for key, value := range manager.Spec.PodSelector.MatchLabels {
		must.Same(t, "label of the Pods that the manager's policy is about, "+key, value, labels[key])
	}
	if in := manager.Spec.Ingress; len(in) != 1 || *in[0].Ports[0].Port != intstr.FromString("metrics") {
		t.Errorf("what may connect to the manager: %+v", in)
	}
}

// Servers of a user's own are reached by rules of his, and there is no policy where none is asked for.
func TestEnvtestNetworkPoliciesOfOthers(t *testing.T) {
	objects, err := helm(t, append(slices.Clone(images), "--set=networkPolicies.enabled=true",
		"--set=networkPolicies.runNamespaces={default}", "--set=networkPolicies.runEgress[0].to[0].ipBlock.cidr=10.0.0.0/8")...)
	must.Do(t, err)
	runs := new(networkingv1.NetworkPolicy)
	find(t, objects, "NetworkPolicy", "runs", runs)
	if out := runs.Spec.Egress; len(out) != 3 || out[2].To[0].IPBlock.CIDR != "10.0.0.0/8" {
		t.Errorf("%+v", out)
	}
	objects = must.Get(helm(t, images...))(t)
	for _, object := range objects {
		if object.GetKind() == "NetworkPolicy" {
			t.Errorf("%s is there by default", object.GetName())
		}
	}
}

// The manager makes policies, and may, only where the chart says so. A shared cluster has one lane and turns of a day until its
// administrator says otherwise.
func TestEnvtestDefaultsOfSharedClusters(t *testing.T) {
	for name, tc := range map[string]struct {
		set         []string
		has, lacks  []string
		mayPolicies bool
	}{
		"by default":   {nil, []string{"--lanes=default", "--max-turn=24h"}, []string{"--network-policies"}, false},
		"of one's own": {[]string{"--set=lanes=null", "--set-string=maxTurn="}, nil, []string{"--lanes=default", "--max-turn=24h"}, false},
		"two lanes":    {[]string{"--set=lanes={default,nvme}"}, []string{"--lanes=default,nvme"}, nil, false},
		"policies":     {[]string{"--set=networkPolicies.perRun=true"}, []string{"--network-policies"}, nil, true},
		"policies, in a Role": {
			[]string{"--set=networkPolicies.perRun=true", "--set=watchNamespaces={default}"}, []string{"--network-policies"}, nil, true,
		},
	} {
		objects, err := helm(t, append(slices.Clone(images), tc.set...)...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		args := deployment(t, objects).Spec.Template.Spec.Containers[0].Args
		for _, arg := range tc.has {
			if !slices.Contains(args, arg) {
				t.Errorf("%s: %v, want %s", name, args, arg)
			}
		}
		for _, arg := range tc.lacks {
			if slices.Contains(args, arg) {
				t.Errorf("%s: %s is there", name, arg)
			}
		}
		may := false
		for _, object := range objects {
			text, err := yaml.Marshal(object.Object["rules"])
			may = may || err == nil && bytes.Contains(text, []byte("networkpolicies"))
		}
		must.Same(t, name+": the manager may make policies", tc.mayPolicies, may)
	}
}

// Host tuning is off unless the administrator names namespaces. Then the manager may make Jobs in its own namespace, also if it
// works for another one only.
func TestEnvtestHostTuningIsOff(t *testing.T) {
	for arg, want := range map[string]string{
		"hostTuning.namespaces=null": "", "hostTuning.namespaces={one,two}": "--host-tuning-namespaces=one,two",
		"hostTuning.namespaces={one},watchNamespaces={default}": "--host-tuning-namespaces=one",
	} {
		objects := must.Get(helm(t, append(slices.Clone(images), "--set="+arg)...))(t)
		args := deployment(t, objects).Spec.Template.Spec.Containers[0].Args
		named := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--host-tuning") })
		if want == "" {
			forIt := func(o *unstructured.Unstructured) bool { return strings.HasSuffix(o.GetName(), "-host-tuning") }
			if named >= 0 || slices.ContainsFunc(objects, forIt) {
				t.Errorf("%s: %v", arg, args)
			}
			continue
		}
		var role rbacv1.Role
		var binding rbacv1.RoleBinding
		find(t, objects, "Role", "-host-tuning", &role)
		find(t, objects, "RoleBinding", "-host-tuning", &binding)
		mayMakeJobs := slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Equal(r.Resources, []string{"jobs"}) && slices.Contains(r.Verbs, "create")
		})
		if named < 0 || args[named] != want || role.Namespace != namespace || binding.Namespace != namespace ||
			binding.RoleRef.Name != role.Name || !mayMakeJobs {
			t.Errorf("%s: %v, Role %+v, binding %+v", arg, args, role, binding)
		}
	}
}

// Rights on the kind of the MariaDB operator, and what needs them, are there unless the administrator takes them away.
func TestEnvtestMariaDBOperatorIsOptional(t *testing.T) {
	for value, off := range map[string]bool{"": false, "true": false, "false": true} {
		args := slices.Clone(images)
		if value != "" {
			args = append(args, "--set=mariadbOperator.enabled="+value)
		}
		objects := must.Get(helm(t, args...))(t)
		if got := slices.Contains(deployment(t, objects).Spec.Template.Spec.Containers[0].Args, "--mariadb-operator=false"); got != off {
			t.Errorf("mariadbOperator.enabled=%s: the manager is told to do without: %t", value, got)
		}
		var role rbacv1.ClusterRole
		find(t, objects, "ClusterRole", "-manager", &role)
		about := func(r rbacv1.PolicyRule) bool { return slices.Contains(r.APIGroups, "k8s.mariadb.com") }
		if got := !slices.ContainsFunc(role.Rules, about); got != off {
			t.Errorf("mariadbOperator.enabled=%s: the manager has no rights on it: %t", value, got)
		}
		if len(role.Rules) < 10 {
			t.Errorf("mariadbOperator.enabled=%s: %d rules", value, len(role.Rules))
		}
	}
	if _, err := helm(t, append(slices.Clone(images), "--set=mariadbOperator.enable=false")...); err == nil {
		t.Error("a value that does not exist is accepted")
	}
}
