//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Host tuning is off unless the administrator switches it on. Then the manager may make Jobs in its own namespace, also if it
// works for another one only.
func TestEnvtestHostTuningIsOff(t *testing.T) {
	const flag = "--host-tuning"
	for name, tc := range map[string]struct {
		args []string
		on   bool
	}{
		"by default":                 {nil, false},
		"switched on":                {[]string{"--set=hostTuning.enabled=true"}, true},
		"for runs of two namespaces": {[]string{"--set=hostTuning.enabled=true", "--set=hostTuning.namespaces={one,two}"}, true},
		"for one namespace":          {[]string{"--set=hostTuning.enabled=true", "--set=watchNamespaces={default}"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := helm(t, append(slices.Clone(images), tc.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			scoped := slices.Contains(deployment(t, objects).Spec.Template.Spec.Containers[0].Args, "--host-tuning-namespaces=one,two")
			if scoped != (name == "for runs of two namespaces") {
				t.Errorf("the manager is told the namespaces: %t", scoped)
			}
			if on := slices.Contains(deployment(t, objects).Spec.Template.Spec.Containers[0].Args, flag); on != tc.on {
				t.Errorf("%s: %t", flag, on)
			}
			names := 0
			for _, o := range objects {
				if strings.HasSuffix(o.GetName(), "-host-tuning") {
					names++
				}
			}
			if !tc.on {
				if names != 0 {
					t.Errorf("%d objects are for it", names)
				}
				return
			}
			var role rbacv1.Role
			var binding rbacv1.RoleBinding
			find(t, objects, "Role", "-host-tuning", &role)
			find(t, objects, "RoleBinding", "-host-tuning", &binding)
			if role.Namespace != namespace || binding.Namespace != namespace || binding.RoleRef.Name != role.Name {
				t.Errorf("Role in %s, bound in %s", role.Namespace, binding.Namespace)
			}
			jobs := slices.IndexFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Equal(r.Resources, []string{"jobs"}) })
			if jobs < 0 || !slices.Contains(role.Rules[jobs].Verbs, "create") {
				t.Errorf("the manager may not make Jobs: %v", role.Rules)
			}
		})
	}
	if args := deployment(t, kustomize(t, "config/default")).Spec.Template.Spec.Containers[0].Args; slices.Contains(args, flag) {
		t.Errorf("kustomize switches it on: %v", args)
	}
}
