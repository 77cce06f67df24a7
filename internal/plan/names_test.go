// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
