// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// withVariants is a run of two points whose variants differ in a setting.
func withVariants() *v1alpha1.BenchmarkRun {
	run := testutil.MakeRun("run", "ns").Obj()
	run.UID = "uid"
	run.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
	run.Spec.Variants = []v1alpha1.Variant{{Name: "durable"}, {
		Name: "lazy", Database: &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}},
	}}
	run.Spec.Rounds = &v1alpha1.RoundsSpec{AtMost: 6, AtLeast: 6, Until: v1alpha1.RoundsDecided}
	return run
}

// In each round, every point of every variant is measured once, by however many trials the alternation makes of that.
func TestRoundsOfVariants(t *testing.T) {
	for alternation, trials := range map[v1alpha1.Alternation]int{
		v1alpha1.AlternateSlices: 2, v1alpha1.AlternateTrials: 4, v1alpha1.AlternateRuns: 4,
	} {
		p := must.Get(plan.New(withVariants(), alternation))(t)
		if len(p.Trials) != 6*trials || len(p.Points) != 2 || p.Rounds != 6 {
			t.Fatalf("%s: %d trials, %d points, %d rounds", alternation, len(p.Trials), len(p.Points), p.Rounds)
		}
		measured, first := map[[3]int]int{}, map[int]int{}
		for i, one := range p.Trials {
			if one.Number != i+1 || one.Round != i/trials+1 {
				t.Errorf("%s: trial %d: %+v", alternation, i+1, one)
			}
			for _, side := range one.Sides {
				measured[[3]int{one.Round, one.Point, side}]++
			}
			if i%trials == 0 {
				first[one.Sides[0]]++
			}
		}
		for what, n := range measured {
			if n != 1 {
				t.Errorf("%s: round, point, side %v: measured %d times", alternation, what, n)
			}
		}
		if len(measured) != 24 || alternation != v1alpha1.AlternateSlices && len(first) != 2 {
			t.Errorf("%s: measured %v, first %v", alternation, measured, first)
		}
	}
}

// What is made for a variant is the run's, with what the variant asks for, and its data are those of the round.
func TestSide(t *testing.T) {
	run := withVariants()
	durable, lazy, next := plan.Side(run, 0, 1), plan.Side(run, 1, 1), plan.Side(run, 1, 2)
	if got := lazy.Spec.Database.Settings.FlushLogAtTrxCommit; got == nil || *got != 0 {
		t.Error("the variant's setting is missing")
	}
	if lazy.Name != run.Name || lazy.UID != run.UID || len(lazy.Spec.Variants) > 0 {
		t.Errorf("%+v", lazy.ObjectMeta)
	}
	if *durable.Spec.Seed != *lazy.Spec.Seed || *lazy.Spec.Seed == *next.Spec.Seed {
		t.Error("the variants of a round have one seed, and rounds have others")
	}
	if one := testutil.MakeRun("run", "ns").Obj(); plan.Side(one, 0, 1) != one {
		t.Error("a run without variants is its own side")
	}
}

// Instances are numbered in sets of as many as there are variants.
func TestSets(t *testing.T) {
	run := withVariants()
	for instance, want := range map[int][2]int{0: {0, 0}, 1: {1, 0}, 2: {1, 1}, 3: {2, 0}, 4: {2, 1}} {
		if set := plan.SetOf(run, instance); set != want[0] || instance > 0 && plan.VariantOf(run, instance) != want[1] {
			t.Errorf("instance %d is of set %d, variant %d", instance, set, plan.VariantOf(run, instance))
		}
		if instance > 0 && plan.InstanceIn(run, want[0], want[1]) != instance {
			t.Errorf("set %d, variant %d has instance %d", want[0], want[1], plan.InstanceIn(run, want[0], want[1]))
		}
	}
}

// A variant is measured at its own points, and the plan has those of all.
func TestPointsOfVariants(t *testing.T) {
	run := withVariants()
	run.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{
		Sweep: &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{7, 1}},
	}}
	for _, alternation := range []v1alpha1.Alternation{v1alpha1.AlternateTrials, v1alpha1.AlternateRuns} {
		p, err := plan.New(run, alternation)
		if err != nil || !p.Uneven {
			t.Fatalf("uneven: %t, %v", p.Uneven, err)
		}
		own := map[int]map[string]int{0: {}, 1: {}}
		for i, trial := range p.Trials {
			if trial.Number != i+1 || len(trial.Sides) != 1 {
				t.Errorf("trial %d is %+v", i+1, trial)
			}
			own[trial.Sides[0]][p.Points[trial.Point].Parameters["rowsPerCommit"]]++
		}
		n := p.Rounds
		if diff := cmp.Diff(map[int]map[string]int{0: {"1": n, "16": n}, 1: {"7": n, "1": n}}, own); diff != "" || len(p.Points) != 3 {
			t.Errorf("%s: %d points (-want +got):\n%s", alternation, len(p.Points), diff)
		}
		points := []plan.Point{p.Points[2], p.Points[0]} // those of lazy
		for _, trial := range p.Trials {
			if trial.Sides[0] == 1 {
				if got := p.TrialsAt([]plan.Trial{trial}, points)[0]; !points[got.Point].Equal(p.Points[trial.Point]) {
					t.Errorf("%+v is %+v among the points of its variant", trial, got)
				}
			}
		}
	}
	run.Spec.Rounds.AtMost = 200
	run.Spec.Variants[1].Workload = nil
	run.Spec.Workload.CommitSize.Sweep.RowsPerCommit = slices.Repeat(run.Spec.Workload.CommitSize.Sweep.RowsPerCommit, 50)
	if _, err := plan.New(run, v1alpha1.AlternateRuns); err == nil || !strings.Contains(err.Error(), "at most 5000 trials") {
		t.Errorf("error %v", err)
	}
}

func TestNames(t *testing.T) {
	run := testutil.MakeRun("commit-size", "bench").Obj()
	got := []string{
		plan.InstanceName(run, 2), plan.Schema(run), plan.SecretName(run), plan.AttemptName(run, 7, 2),
		plan.ResultsName(run),
	}
	want := []string{
		"commit-size-db2", "bench", "commit-size-01234567", "commit-size-t7-a2", "commit-size-results",
	}
	must.Same(t, "names", want, got)
}

func TestAddress(t *testing.T) {
	external := func(schema string) func(*v1alpha1.BenchmarkRun) {
		return func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Database.Provisioner = v1alpha1.ProvisionerExternal
			r.Spec.Database.External = &v1alpha1.ExternalSpec{Host: "db.example.com", Port: 3307, CredentialsSecretName: "mine", Schema: schema}
		}
	}
	operator := func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Provisioner = v1alpha1.ProvisionerMariaDBOperator }
	for name, tc := range map[string]struct {
		change               func(*v1alpha1.BenchmarkRun)
		host, schema, secret string
		port                 int
	}{
		"StatefulSet":              {func(*v1alpha1.BenchmarkRun) {}, "commit-size-db2.bench.svc", "bench", "commit-size-01234567", 3306},
		"MariaDBOperator":          {operator, "commit-size-db2-0.commit-size-db2-internal.bench.svc", "bench", "commit-size-01234567", 3306},
		"External":                 {external(""), "db.example.com", "benchrun_commit_size", "mine", 3307},
		"External, schema is said": {external("scratch"), "db.example.com", "scratch", "mine", 3307},
	} {
		t.Run(name, func(t *testing.T) {
			run := testutil.MakeRun("commit-size", "bench").With(tc.change).Obj()
			host, port := plan.Address(&engine.MariaDB, run, 2)
			if host != tc.host || port != tc.port || plan.Schema(run) != tc.schema || plan.SecretName(run) != tc.secret {
				t.Errorf("%s:%d, schema %s, Secret %s", host, port, plan.Schema(run), plan.SecretName(run))
			}
		})
	}
}

// The longest names are those of the last attempt of the largest run, and must leave room for what Kubernetes appends.
func TestNamesAtTheirBounds(t *testing.T) {
	run := testutil.MakeRun(strings.Repeat("n", 40), "bench").Obj()
	const trials, attempts, instances = 5000, 1004, 6004
	cases := map[string]string{
		"Job, and label of its Pods":        plan.AttemptName(run, trials, attempts),
		"host name of a Job's Pod":          plan.AttemptName(run, trials, attempts) + "-0",
		"piece of an attempt's ConfigMap":   plan.AttemptName(run, trials, attempts) + "-4",
		"Service":                           plan.InstanceName(run, instances),
		"Pod of the StatefulSet":            plan.InstanceName(run, instances) + "-0",
		"revision label of the StatefulSet": plan.InstanceName(run, instances) + "-" + strings.Repeat("f", 10),
		"Secret":                            plan.SecretName(run),
		"results":                           plan.ResultsName(run),
	}
	for what, name := range cases {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			t.Errorf("%s: %s: %v", what, name, problems)
		}
	}
	for label, value := range plan.Labels(run, v1alpha1.ComponentDatabase) {
		problems := append(validation.IsQualifiedName(label), validation.IsValidLabelValue(value)...)
		if len(problems) > 0 {
			t.Errorf("label %s=%s: %v", label, value, problems)
		}
	}
}

func TestNamesDiffer(t *testing.T) {
	run := testutil.MakeRun("r", "ns").Obj()
	seen := map[string]bool{}
	for number := 1; number <= 30; number++ {
		for attempt := 1; attempt <= 30; attempt++ {
			name := plan.AttemptName(run, number, attempt)
			if seen[name] {
				t.Errorf("%s twice", name)
			}
			seen[name] = true
		}
	}
	again := run.DeepCopy()
	again.UID = "fedcba98-7654-3210-fedc-ba9876543210"
	if plan.SecretName(run) == plan.SecretName(again) {
		t.Error("two runs of one name share their credentials")
	}
}
