// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

func TestThrottled(t *testing.T) {
	limit := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	none := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
	const foreign = "look for a LimitRange or a resized Pod, or accept the limit with trials.maxThrottledPercent"
	for name, tc := range map[string]struct {
		requested corev1.ResourceRequirements
		bound     *int32
		had       int64
		throttled int64
		want      string
	}{
		"never held back":             {limit("1"), nil, 1000, 0, ""},
		"at the limit asked for":      {limit("1"), nil, 1000, 9_000_000, ""},
		"at the default limit":        {corev1.ResourceRequirements{}, nil, 1000, 9_000_000, ""},
		"on several CPUs":             {limit("4"), nil, 4000, 90_000_000, ""},
		"rounded by the runtime":      {limit("333m"), nil, 330, 5_000_000, ""},
		"unknown":                     {none, nil, -1, -1, ""},
		"limit unknown":               {none, nil, -1, 5_000_000, ""},
		"a foreign limit, hardly":     {none, nil, 500, 100_000, ""},
		"a higher limit than asked":   {limit("1"), nil, 2000, 5_000_000, ""},
		"allowed by the bound":        {limit("1"), ptr.To[int32](20), 1000, 2_000_000, ""},
		"a foreign limit, accepted":   {none, ptr.To[int32](100), 500, 9_000_000, ""},
		"beyond a bound of nothing":   {limit("1"), ptr.To[int32](0), 1000, 1, "the server was throttled at its CPU limit (1) for 0.00 s of the measured 10.00 s, 0.0%; trials.maxThrottledPercent allows 0%: raise database.resources.limits.cpu, or allow more"},
		"beyond the bound":            {limit("1500m"), ptr.To[int32](20), 1500, 2_500_000, "the server was throttled at its CPU limit (1500m) for 2.50 s of the measured 10.00 s, 25.0%; trials.maxThrottledPercent allows 20%: raise database.resources.limits.cpu, or allow more"},
		"a limit nobody asked for":    {none, nil, 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; without trials.maxThrottledPercent, a limit that the run did not set may throttle the server for at most 1%: the run requests no CPU limit; " + foreign},
		"a lower limit than asked":    {limit("2"), nil, 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; without trials.maxThrottledPercent, a limit that the run did not set may throttle the server for at most 1%: the run requests limits.cpu 2; " + foreign},
		"a foreign limit and a bound": {limit("2"), ptr.To[int32](5), 500, 2_500_000, "the server was throttled at its CPU limit (500m) for 2.50 s of the measured 10.00 s, 25.0%; trials.maxThrottledPercent allows 5%: the run requests limits.cpu 2; " + foreign},
	} {
		run := testutil.MakeRun("run", "ns").Obj()
		run.Spec.Database.Resources, run.Spec.Trials.MaxThrottledPercent = tc.requested, tc.bound
		s := &result.Summary{
			Totals:   result.Totals{Micros: 10_000_000},
			Observed: &result.ObservedSummary{ThrottledMicros: tc.throttled, CPULimitMillis: tc.had},
		}
		if got := throttled(&run.Spec, s); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tc.want)
		}
	}
	if got := throttled(&testutil.MakeRun("run", "ns").Obj().Spec, &result.Summary{}); got != "" {
		t.Errorf("without an observer: %s", got)
	}
}
