// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// BenchmarkThousandPointsOfTexts plans a run with variants at 1,000 points that is as large as it may be, 16 variants with a text of 900
// bytes or two with one of 8 kB, and one that is suspended and was accepted with 100 kB: when it is first seen, and in each step
// after that.
func BenchmarkThousandPointsOfTexts(b *testing.B) {
	for _, tc := range []struct {
		variants, bytes int
		first           bool
	}{{16, 900, true}, {16, 900, false}, {2, 8000, true}, {2, 8000, false}, {2, 100_000, false}} {
		b.Run(fmt.Sprintf("variants=%d/bytes=%d/first=%t", tc.variants, tc.bytes, tc.first), func(b *testing.B) {
			w := &v1alpha1.CustomWorkload{
				Image: "i", Command: []v1alpha1.CustomArgument{"x", "${n}", v1alpha1.CustomArgument(strings.Repeat("x", tc.bytes))},
				User: 1, Parameters: map[string]v1alpha1.SweptValue{"n": "0"},
			}
			for i := range 1000 {
				w.Points = append(w.Points, v1alpha1.CustomPoint{
					Parameters: map[string]v1alpha1.SweptValue{"n": v1alpha1.SweptValue(fmt.Sprint(i))},
				})
			}
			s := testutil.MakeVariants("s", "ns").With(func(s *v1alpha1.BenchmarkRun) {
				s.Spec.Suspend = ptr.To(true)
				s.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: w}
				s.Spec.Trials.Repetitions = ptr.To[int32](1)
				for i := range tc.variants {
					s.Spec.Variants = append(s.Spec.Variants, v1alpha1.Variant{Name: fmt.Sprint("v", i)})
				}
				if !tc.first {
					s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSuspended}}
				}
			}).Obj()
			for b.Loop() {
				must.Get(validation.PlanRun(s))(b)
			}
		})
	}
}

// BenchmarkThousandPoints plans, summarises and compares the largest run that there is, 1,000 points of five trials, without
// variants, and after two rounds of two variants. Each has a claim about all of its points.
func BenchmarkThousandPoints(b *testing.B) {
	const points, rounds = 1000, 5
	claims := v1alpha1.Claims{{Name: "best", BestAt: &v1alpha1.BestAtClaim{At: rows("1000")}}}
	b.Run("run", func(b *testing.B) {
		run := oneAxis(points, rounds)
		run.Spec.Claims = claims
		p := must.Get(plan.ForRun(&run.Spec))(b)
		seen := &Observed{Lane: held(run), Instances: []Instance{instanceOf(1, "db-pod")}}
		for _, t := range p.Trials {
			seen.Records = append(seen.Records, testutil.Record(t.Number, 1, p.Points[t.Point].Parameters, 1000+float64(t.Number%7)).Condensed())
		}
		b.ReportAllocs()
		for b.Loop() {
			p := must.Get(validation.PlanRun(run))(b)
			if status := Status(run, p, seen, Next(run, p, seen, now), now); len(status.Points) != maxStatusPoints || len(status.Claims) != 1 {
				b.Fatalf("%d points and %d claims in the status", len(status.Points), len(status.Claims))
			}
		}
	})
	b.Run("variants", func(b *testing.B) {
		run := testutil.Pair(testutil.FixedRounds(rounds/2), func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Workload.CommitSize = oneAxis(points, 1).Spec.Workload.CommitSize
			r.Spec.Claims = claims
			r.Spec.Claims[0].BestAt.At.Variant = "lazy"
		})
		p := must.Get(validation.PlanRun(run))(b)
		seen := &Observed{Lane: held(run), Checked: true}
		for _, t := range p.Trials {
			r := testutil.Record(t.Number, 1, p.Points[t.Point].Parameters, 1000+float64(t.Number*t.Point%11))
			r.Sides = []result.SideRecord{{Variant: p.Variants[t.Sides[0]]}}
			seen.Records = append(seen.Records, r.Condensed())
		}
		b.ReportAllocs()
		for b.Loop() {
			p := must.Get(validation.PlanRun(run))(b)
			status := Status(run, p, seen, Next(run, p, seen, now), now)
			if len(status.Pairs) != maxComparisons || len(status.Claims) != 1 {
				b.Fatalf("%d pairs and %d claims in the status", len(status.Pairs), len(status.Claims))
			}
		}
	})
}
