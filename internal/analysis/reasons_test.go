// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

func parameter(name, value string) v1alpha1.PointSelector {
	return v1alpha1.PointSelector{Parameters: map[string]v1alpha1.SelectedValue{
		name: v1alpha1.SelectedText(value), "other": v1alpha1.SelectedText("1"),
	}}
}

func TestReasons(t *testing.T) {
	best := v1alpha1.Claim{BestAt: &v1alpha1.BestAtClaim{At: parameter("concurrency", "5")}}
	ratio := func(of, to v1alpha1.PointSelector) v1alpha1.Claim {
		return v1alpha1.Claim{Ratio: &v1alpha1.RatioClaim{Of: of, To: to}}
	}
	const shared = "; here 5 connections share 2 CPUs"
	for name, c := range map[string]struct {
		claim   v1alpha1.Claim
		at      place
		verdict claims.Verdict
		want    string
	}{
		"connections":        {best, place{cpus: 2}, claims.DoesNotHold, shared},
		"one CPU":            {best, place{cpus: 1}, claims.DoesNotHold, "; here 5 connections share one CPU"},
		"part of a CPU":      {best, place{cpus: 1.5}, claims.DoesNotHold, "; here 5 connections share 1.5 CPUs"},
		"enough CPUs":        {best, place{cpus: 5}, claims.DoesNotHold, ""},
		"unknown CPUs":       {best, place{}, claims.DoesNotHold, ""},
		"it holds":           {best, place{cpus: 2}, claims.Holds, ""},
		"nothing to say":     {best, place{cpus: 2}, claims.CannotSay, ""},
		"two of connections": {ratio(parameter("threads", "5"), parameter("threads", "1")), place{cpus: 2}, claims.DoesNotHold, shared},
		"none of both":       {ratio(parameter("threads", "5"), parameter("threads", "5")), place{cpus: 2}, claims.DoesNotHold, ""},
		"of something else":  {ratio(parameter("rows", "5"), parameter("rows", "1")), place{cpus: 2}, claims.DoesNotHold, ""},
		"a fast disk": {
			best,
			place{cpus: 8, waits: true, median: 131},
			claims.DoesNotHold,
			"; a commit waits for the disk, and here fdatasync takes only 0.131 ms (median)",
		},
		"two storage engines": {
			ratio(parameter("storageEngine", "InnoDB"), parameter("storageEngine", "MyISAM")),
			place{cpus: 8, waits: true, median: 131},
			claims.DoesNotHold,
			"",
		},
		"a slow disk":          {best, place{cpus: 8, waits: true, median: 1000}, claims.DoesNotHold, ""},
		"a limited disk":       {best, place{cpus: 8, waits: true, median: 131, mean: 9000}, claims.DoesNotHold, ""},
		"no wait for the disk": {best, place{cpus: 8, median: 131}, claims.DoesNotHold, ""},
	} {
		judged := []claims.Judgement{{Verdict: c.verdict}}
		addReasons(v1alpha1.Claims{c.claim}, judged, c.at)
		if judged[0].Detail != c.want {
			t.Errorf("%s: %q, want %q", name, judged[0].Detail, c.want)
		}
	}
}

// A server may use its limit, of which there is always one, or its node.
func TestServerCPUs(t *testing.T) {
	for _, c := range []struct {
		limit string
		node  int
		want  float64
	}{{"2500m", 8, 2.5}, {"4", 2, 2}, {"4", -1, 4}, {"", 8, 1}} {
		spec := new(v1alpha1.BenchmarkRunSpec)
		if c.limit != "" {
			spec.Database.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(c.limit)}
		}
		if got := serverCPUs(spec, c.node); got != c.want {
			t.Errorf("limit %q on %d CPUs: %g, want %g", c.limit, c.node, got, c.want)
		}
	}
	external := new(v1alpha1.BenchmarkRunSpec)
	external.Database.Provisioner = v1alpha1.ProvisionerExternal
	if got := serverCPUs(external, -1); got != 0 {
		t.Errorf("a server somewhere else has %g", got)
	}
}
