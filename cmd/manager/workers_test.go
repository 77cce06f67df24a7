//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// Comparisons are reconciled at the same time, and a lane still has one holder: many that contend for a few lanes all have their
// turn, one after the other. With -race, the manager is looked at too.
func TestEnvtestComparisonsAtTheSameTime(t *testing.T) {
	const lanes, each = 3, 4
	namespace := makeNamespace(t)
	m := start(t, namespace, "workers", namespace)
	for i := range lanes * each {
		comparison := testutil.MakeComparison(fmt.Sprintf("c%d", i), namespace, "a", "b").With(func(c *v1alpha1.BenchmarkComparison) {
			c.Spec.Template.Spec.Lane = fmt.Sprintf("lane%d", i%lanes)
		}).Obj()
		comparison.UID = ""
		create(t, comparison)
	}
	for left := lanes * each; left > 0; left -= lanes {
		var holders []*v1alpha1.BenchmarkComparison
		eventually(t, fmt.Sprintf("each lane has a holder, with %d that have had no turn\n%s", left, m.log), func(ctx context.Context) bool {
			var all v1alpha1.BenchmarkComparisonList
			if api.List(ctx, &all, client.InNamespace(namespace)) != nil {
				return false
			}
			holders = nil
			held := map[string]string{}
			for i := range all.Items {
				c := &all.Items[i]
				if !apimeta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionAdmitted) {
					continue
				}
				lane := c.Spec.Template.Spec.Lane
				if other, taken := held[lane]; taken {
					t.Fatalf("%s and %s have %s", other, c.Name, lane)
				}
				held[lane] = c.Name
				holders = append(holders, c)
			}
			return len(holders) == lanes
		})
		for _, holder := range holders {
			if err := api.Delete(t.Context(), holder); err != nil {
				t.Fatal(err)
			}
		}
		collect(t, namespace, holders)
	}
}

// collect what deleted comparisons have made, as the garbage collector does, which is not here: the last of it frees their lanes.
func collect(t *testing.T, namespace string, owners []*v1alpha1.BenchmarkComparison) {
	t.Helper()
	for _, owner := range owners {
		eventually(t, "what "+owner.Name+" has made is gone", func(ctx context.Context) bool {
			gone := true
			for _, list := range []client.ObjectList{&v1alpha1.BenchmarkRunList{}, &appsv1.StatefulSetList{}} {
				if api.List(ctx, list, client.InNamespace(namespace)) != nil {
					return false
				}
				_ = apimeta.EachListItem(list, func(item runtime.Object) error {
					if made := item.(client.Object); strings.HasPrefix(made.GetName(), owner.Name+"-") {
						gone = false
						_ = api.Delete(ctx, made)
					}
					return nil
				})
			}
			return gone
		})
	}
}
