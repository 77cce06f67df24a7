// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// byOwnFigures are the claims of publications that their own figures do not confirm: all others hold by them.
var byOwnFigures = map[string]claims.Verdict{
	"001-innodb-bulk-insert unique-checks":    "",               // no figures of it were published
	"002-tpcc-four-configurations binary-log": claims.CannotSay, // nobody has published a T2 without the log
	"004-commit-size commit-dominates":        "",
	"004-commit-size tenfold-to-1024":         claims.DoesNotHold, // 7.6 times
	"004-commit-size level-from-1024":         claims.DoesNotHold, // 1.16 times
}

// headlines are the headline metrics of the publications' workloads.
var headlines = map[v1alpha1.WorkloadType]string{
	v1alpha1.WorkloadBulkInsert: "rowsPerSecond", v1alpha1.WorkloadTPROCHLoad: "totalSeconds",
	v1alpha1.WorkloadSysbench: "transactionsPerSecond", v1alpha1.WorkloadIIBench: "terminalRowsPerSecond",
	v1alpha1.WorkloadCommitSize: "rowsPerSecond",
}

// Each claim of a publication says what its own figures say of it, and none is about points that are not measured.
func TestClaimsOfPublicationsByTheirFigures(t *testing.T) {
	files := must.Get(filepath.Glob("../../config/samples/publications/*.yaml"))(t)
	must.Same(t, "publications", 10, len(files))
	judged := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".yaml"), "-small")
		text := must.Get(os.ReadFile(file))(t)
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			list, plans, headline := claimsAndPlans(t, document)
			var points []stats.Point
			for variant, p := range plans {
				points = append(points, pointsIn(p, variant)...)
			}
			if err := claims.Check(list, points); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			metric := func(name string) result.Metric {
				m := result.Metric{Name: cmp.Or(name, headline), Better: "higher"}
				if strings.HasSuffix(m.Name, "Seconds") || strings.HasSuffix(m.Name, "Micros") {
					m.Better = "lower"
				}
				return m
			}
			for _, j := range ByFigures(list, plans, metric) {
				key := name + " " + j.Name
				judged[key] = true
				want, known := byOwnFigures[key]
				if !known {
					want = claims.Holds
				}
				must.Same(t, file+": "+j.Name+": "+j.PublishedDetail, want, j.Published)
			}
		}
	}
	for key := range byOwnFigures {
		if !judged[key] {
			t.Errorf("there is no claim %s", key)
		}
	}
}

// claimsAndPlans of a run or comparison: its claims, the plan of each variant, and the headline metric.
func claimsAndPlans(t *testing.T, document string) (list v1alpha1.Claims, plans map[string]*plan.Plan, headline string) {
	t.Helper()
	var run v1alpha1.BenchmarkRun
	must.Do(t, yaml.UnmarshalStrict([]byte(document), &run))
	list = run.Spec.Claims
	specs := map[string]*v1alpha1.BenchmarkRunSpec{}
	for i := range plan.Sides(&run) {
		name := ""
		if len(run.Spec.Variants) > 0 {
			name = run.Spec.Variants[i].Name
		}
		specs[name] = &plan.Side(&run, i, 1).Spec
	}
	for i := range list { // as the API server does
		if c := list[i].Monotonic; c != nil && c.WithinPercent == 0 {
			c.WithinPercent = 5
		}
	}
	plans = map[string]*plan.Plan{}
	for variant, spec := range specs {
		p := must.Get(plan.ForRun(spec))(t)
		plans[variant], headline = p, headlines[spec.Workload.Type]
	}
	return list, plans, headline
}
