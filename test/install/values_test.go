//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// What clusters of others ask a chart for.
func TestEnvtestManagersPlace(t *testing.T) {
	objects, err := helm(t, append(slices.Clone(images), "--set=priorityClassName=high", "--set=podDisruptionBudget.enabled=true",
		"--set=extraEnv[0].name=HTTPS_PROXY,extraEnv[0].value=http://proxy:3128", "--set=commonLabels.team=databases",
		"--set=topologySpreadConstraints[0].maxSkew=1,topologySpreadConstraints[0].topologyKey=zone", "--set=fullnameOverride=measure")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" && object.GetLabels()["team"] != "databases" {
			t.Errorf("%s %s has no common label: %v", object.GetKind(), object.GetName(), object.GetLabels())
		}
	}
	manager, budget := deployment(t, objects), new(policyv1.PodDisruptionBudget)
	find(t, objects, "PodDisruptionBudget", "manager", budget)
	pod, container := manager.Spec.Template.Spec, manager.Spec.Template.Spec.Containers[0]
	if pod.PriorityClassName != "high" || len(pod.TopologySpreadConstraints) != 1 || pod.TopologySpreadConstraints[0].TopologyKey != "zone" {
		t.Errorf("%+v", pod)
	}
	if !slices.Contains(container.Env, corev1.EnvVar{Name: "HTTPS_PROXY", Value: "http://proxy:3128"}) ||
		!slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == "GOMEMLIMIT" }) {
		t.Errorf("environment: %+v", container.Env)
	}
	if manager.Name != "measure-manager" || budget.Name != "measure-manager" || budget.Spec.MinAvailable.IntValue() != 1 {
		t.Errorf("%s and %+v", manager.Name, budget)
	}
	for key, value := range budget.Spec.Selector.MatchLabels {
		if manager.Spec.Template.Labels[key] != value {
			t.Errorf("the budget is about Pods with %s=%s", key, value)
		}
	}
}

// A value that is misspelled, or of another type, is refused.
func TestEnvtestValuesAreChecked(t *testing.T) {
	for value, says := range map[string]string{
		"podDisruptionBudget.enable=true": "enable", "extraEnv[0].value=x": "name", "commonLabels.team.a=b": "team",
		"priorityClass=high": "priorityClass",
	} {
		if _, err := helm(t, append(slices.Clone(images), "--set="+value)...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", value, err)
		}
	}
}
