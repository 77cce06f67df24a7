//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Rights on the kind of the MariaDB operator, and what needs them, are there unless the administrator takes them away.
func TestEnvtestMariaDBOperatorIsOptional(t *testing.T) {
	for value, off := range map[string]bool{"": false, "true": false, "false": true} {
		args := slices.Clone(images)
		if value != "" {
			args = append(args, "--set=mariadbOperator.enabled="+value)
		}
		objects, err := helm(t, args...)
		if err != nil {
			t.Fatal(err)
		}
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
