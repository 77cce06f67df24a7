//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Installations that overlap, of which none knows the others: two for all namespaces, and one for that of the run. One acts, the
// others say whose the run is.
func TestEnvtestOverlappingInstallations(t *testing.T) {
	namespace := makeNamespace(t)
	homes := map[string]string{"everywhere": makeNamespace(t), "everywhere-too": makeNamespace(t), "here": makeNamespace(t)}
	managers := map[string]*manager{}
	for name, home := range homes {
		watched := ""
		if name == "here" {
			watched = namespace
		}
		managers[name] = start(t, home, name, watched)
		eventually(t, name+" leads", func(ctx context.Context) bool { return len(holders(ctx, t, home)) == 1 })
	}
	runIn(t, namespace, "run")
	by := ""
	eventually(t, "one takes the lane", func(ctx context.Context) bool {
		by = runNamed(t, namespace, "run").Status.Installation
		for _, home := range homes {
			if laneLeases(ctx, t, home) > 0 {
				return true
			}
		}
		return false
	})
	for name, home := range homes {
		acts := by == home+"/"+name
		if acts {
			says(t, managers[name], namespace, "run", "")
			continue
		}
		eventually(t, name+" says who acts", func(context.Context) bool {
			return strings.Contains(managers[name].log.String(), `"installation":"`+by+`"`)
		})
		if n := laneLeases(t.Context(), t, home); n > 0 {
			t.Errorf("%s holds %d lanes for a run that is %s's", name, n, by)
		}
	}
	suspend(t, runNamed(t, namespace, "run"))
}

func laneLeases(ctx context.Context, t *testing.T, namespace string) int {
	t.Helper()
	var leases coordinationv1.LeaseList
	if err := api.List(ctx, &leases, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelLane}); err != nil {
		t.Fatal(err)
	}
	return len(leases.Items)
}
