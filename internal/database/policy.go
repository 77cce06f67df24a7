// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// NetworkPolicy lets nobody connect to the server of an instance and to its observer but the Pods of the run: those of the
// comparison, if it belongs to one, because the loaders of all variants take their turns at one observer. nil if Benchrun does
// not make the server's Pod itself: the MariaDB operator connects to that.
func NetworkPolicy(run *v1alpha1.BenchmarkRun, instance int) *networkingv1.NetworkPolicy {
	if run.Spec.Database.Provisioner != v1alpha1.ProvisionerStatefulSet {
		return nil
	}
	peers := map[string]string{v1alpha1.LabelRunUID: string(run.UID)}
	if _, comparison := plan.ComparisonOf(run); comparison != "" {
		peers = map[string]string{v1alpha1.LabelComparisonUID: comparison}
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: objectMeta(run, instance),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: selector(run, instance)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: peers}}},
			}},
		},
	}
}
