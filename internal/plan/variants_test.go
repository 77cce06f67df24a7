// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
			must.Same(t, fmt.Sprintf("%s: round, point, side %v: times measured", alternation, what), 1, n)
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
		if set := plan.SetOf(run, instance); set != want[0] || plan.VariantOf(run, instance) != want[1] {
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
	must.Refused(plan.New(run, v1alpha1.AlternateRuns))(t, "at most 5000 trials")
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
			host, port := plan.Address(engine.MariaDB, run, 2)
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

func TestSettings(t *testing.T) {
	off := engine.Setting{Name: "log_bin", Value: "OFF", Line: "skip_log_bin"}
	cases := map[string]struct {
		db   v1alpha1.DatabaseSpec
		want []engine.Setting
	}{
		"nothing said":                       {v1alpha1.DatabaseSpec{}, []engine.Setting{off}},
		"nothing said of an external server": {v1alpha1.DatabaseSpec{Provisioner: v1alpha1.ProvisionerExternal}, nil},
		"said of an external server": {
			v1alpha1.DatabaseSpec{
				Provisioner: v1alpha1.ProvisionerExternal, Settings: v1alpha1.ServerSettings{BinaryLog: ptr.To(false)},
			},
			[]engine.Setting{off},
		},
		"binary log off": {v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{BinaryLog: ptr.To(false)}}, []engine.Setting{off}},
		"binary log on": {
			v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{BinaryLog: ptr.To(true)}},
			[]engine.Setting{{Name: "log_bin", Value: "ON", Line: "log_bin = binlog"}},
		},
		"all of them, sorted by name": {
			v1alpha1.DatabaseSpec{
				Settings: v1alpha1.ServerSettings{
					BufferPoolSize: ptr.To(resource.MustParse("1Gi")), RedoLogSize: ptr.To(resource.MustParse("96M")),
					FlushLogAtTrxCommit: ptr.To[int32](0), BinaryLog: ptr.To(false),
				},
				Variables: map[string]v1alpha1.VariableValue{
					"sync_binlog": "0", "autocommit": "ON", "loose_innodb_future": "1", "sql_mode": "",
				},
			},
			[]engine.Setting{
				{Name: "autocommit", Value: "ON", Line: "autocommit = ON"},
				{Name: "innodb_buffer_pool_size", Value: "1073741824", Line: "innodb_buffer_pool_size = 1073741824"},
				{Name: "innodb_flush_log_at_trx_commit", Value: "0", Line: "innodb_flush_log_at_trx_commit = 0"},
				{Name: "innodb_future", Value: "1", Loose: true, Line: "loose_innodb_future = 1"},
				{Name: "innodb_log_file_size", Value: "96000000", Line: "innodb_log_file_size = 96000000\nloose_innodb_log_files_in_group = 1"},
				off,
				{Name: "sql_mode", Line: "sql_mode = "},
				{Name: "sync_binlog", Value: "0", Line: "sync_binlog = 0"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "settings", tc.want, plan.Settings(engine.MariaDB, &tc.db))
		})
	}
}

// What the API has by name is each engine's own variable.
func TestSettingsOfMySQL(t *testing.T) {
	db := v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{
		BufferPoolSize: ptr.To(resource.MustParse("1Gi")), RedoLogSize: ptr.To(resource.MustParse("96Mi")),
		FlushLogAtTrxCommit: ptr.To[int32](2),
	}}
	want := []engine.Setting{
		{Name: "innodb_buffer_pool_size", Value: "1073741824", Line: "innodb_buffer_pool_size = 1073741824"},
		{Name: "innodb_flush_log_at_trx_commit", Value: "2", Line: "innodb_flush_log_at_trx_commit = 2"},
		{Name: "innodb_redo_log_capacity", Value: "100663296", Line: "innodb_redo_log_capacity = 100663296"},
		{Name: "log_bin", Value: "OFF", Line: "skip_log_bin"},
	}
	must.Same(t, "settings", want, plan.Settings(engine.MySQL, &db))
	db.Settings = v1alpha1.ServerSettings{BinaryLog: ptr.To(true)}
	must.Same(t, "what switches the binary log on", "log_bin = binlog", plan.Settings(engine.MySQL, &db)[0].Line)
}

// The value that is read back is the one that was asked for; only its line is quoted.
func TestSettingsQuoting(t *testing.T) {
	cases := map[string]string{
		"":                 ``,
		"STRICT,NO_ZERO":   `STRICT,NO_ZERO`,
		"a b":              `a b`,
		"a#b":              `"a#b"`,
		"a;b":              `"a;b"`,
		`a\b`:              `"a\\b"`,
		`\n`:               `"\\n"`,
		"it's":             `"it's"`,
		`say "a"`:          `"say \"a\""`,
		`\"`:               `"\\\""`,
		" a":               `" a"`,
		"a ":               `"a "`,
		"\ta":              "\"\ta\"",
		"ft_boolean + -><": `ft_boolean + -><`,
	}
	for value, want := range cases {
		t.Run(value, func(t *testing.T) {
			db := v1alpha1.DatabaseSpec{Variables: map[string]v1alpha1.VariableValue{"loose_x": v1alpha1.VariableValue(value)}}
			got := plan.Settings(engine.MariaDB, &db)[1]
			must.Same(t, "setting", engine.Setting{Name: "x", Value: value, Loose: true, Line: "loose_x = " + want}, got)
		})
	}
}

// What is asked for is listed as such, and what is state or identity says nothing about a configuration.
func TestUnrequested(t *testing.T) {
	from := testutil.MakeRun("r", "ns").Obj().Spec
	to := from.DeepCopy()
	to.Database.Settings.FlushLogAtTrxCommit = ptr.To[int32](0)
	theirs := map[string]string{
		"innodb_flush_log_at_trx_commit": "1", "sort_buffer_size": "1", "gone": "x", "hostname": "a", "autocommit": "ON", "sql_mode": "",
	}
	ours := map[string]string{
		"innodb_flush_log_at_trx_commit": "0", "sort_buffer_size": "2", "new": "y", "hostname": "b", "autocommit": "ON", "sql_mode": "",
	}
	got := must.Get(plan.UnrequestedDifferences(&from, to, theirs, ours))(t)
	want := plan.Unrequested{Differ: []plan.Difference{{"sort_buffer_size", "1", "2"}, {"gone", "x", "unset"}, {"new", "unset", "y"}}, Differing: 3, Same: 2}
	must.Same(t, "", want, got)
}

// What names a build differs because another image is asked for; if none is, it must be said.
func TestUnrequestedBuild(t *testing.T) {
	from := testutil.MakeRun("r", "ns").Obj().Spec
	to := from.DeepCopy()
	theirs := map[string]string{"version": "10.11.19", "version_compile_os": "a", "version_malloc_library": "system", "autocommit": "ON"}
	ours := map[string]string{"version": "11.8.9", "version_compile_os": "b", "version_malloc_library": "jemalloc", "autocommit": "ON"}
	for image, want := range map[string]int{from.Database.Image: 3, "mariadb:other": 1} {
		to.Database.Image = image
		got, err := plan.UnrequestedDifferences(&from, to, theirs, ours)
		if err != nil || len(got.Differ) != want || got.Same != 1 {
			t.Errorf("image %s: %+v, %v", image, got, err)
		}
	}
}

// Two engines have variables that the other has not: these are counted. A setting that both have under different names is one.
func TestUnrequestedOfTwoEngines(t *testing.T) {
	from := testutil.MakeRun("r", "ns").Obj().Spec
	to := from.DeepCopy()
	from.Database.Engine, to.Database.Engine, to.Database.Image = "", "", "mysql:9.7"
	to.Database.Settings.RedoLogSize, from.Database.Settings.RedoLogSize = nil, nil
	theirs := map[string]string{
		"innodb_log_file_size": "1", "innodb_flush_method": "fsync", "sql_mode": "", "aria_group_commit": "none", "gtid_slave_pos": "1",
		"aria_block_size": "8192",
	}
	ours := map[string]string{
		"innodb_redo_log_capacity": "2", "innodb_flush_method": "O_DIRECT", "sql_mode": "", "mysqlx_max_connections": "100",
		"admin_port": "33062", "gtid_mode": "OFF", "log_bin": "OFF",
	}
	got := must.Get(plan.UnrequestedDifferences(&from, to, theirs, ours))(t)
	want := plan.Unrequested{
		Differ: []plan.Difference{
			{"innodb_flush_method", "fsync", "O_DIRECT"}, {"innodb_log_file_size or innodb_redo_log_capacity", "1", "2"},
		},
		Differing: 2, Same: 1, OnlyBaseline: 2, OnlyVariant: 2, BaselineEngine: "MariaDB", VariantEngine: "MySQL",
	}
	must.Same(t, "", want, got)
	if _, found := theirs["innodb_log_file_size"]; !found || ours["innodb_redo_log_capacity"] == "" {
		t.Error("the variables of the caller were changed")
	}
}

// The same size of the redo log is no difference of two engines, whatever its variable is called.
func TestDifferencesOfTwoEngines(t *testing.T) {
	from := testutil.MakeRun("r", "ns").Obj().Spec
	to := from.DeepCopy()
	to.Database.Engine, to.Database.Image = v1alpha1.EngineMySQL, "mysql:8.4"
	want := []plan.Difference{{"database.engine", "MariaDB", "MySQL"}, {"database.image", "mariadb:11.8", "mysql:8.4"}}
	must.Same(t, "differences", want, must.Get(plan.Differences(&from, to))(t))
	to.Database.Settings.RedoLogSize = ptr.To(resource.MustParse("48Mi"))
	want = slices.Insert(want, 0, plan.Difference{"innodb_redo_log_capacity or innodb_log_file_size", "50331648", "100663296"})
	if got, err := plan.Differences(to, &from); err != nil || len(got) != 3 || got[0] != want[0] {
		t.Errorf("%v: %v, want first %v", err, got, want[0])
	}
}

// Whatever two specifications differ in is named, except for the seed.
func TestDifferences(t *testing.T) {
	from := testutil.MakeRun("r", "ns").Obj().Spec
	to := from.DeepCopy()
	to.Database.Image = "mariadb:10.11"
	to.Database.Settings.FlushLogAtTrxCommit, to.Database.Settings.BinaryLog = ptr.To[int32](0), ptr.To(true)
	to.Database.Settings.RedoLogSize = nil
	to.Database.Variables = map[string]v1alpha1.VariableValue{"sync_binlog": "1"}
	to.Database.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	to.Workload.CommitSize.RowsPerCommit = 16
	to.Seed = ptr.To[int64](7)
	got := must.Get(plan.Differences(&from, to))(t)
	want := []plan.Difference{
		{"innodb_flush_log_at_trx_commit", "1", "0"},
		{"innodb_log_file_size", "100663296", "unset"},
		{"log_bin", "OFF", "ON"},
		{"sync_binlog", "unset", "1"},
		{"database.image", "mariadb:11.8", "mariadb:10.11"},
		{"database.resources.limits.cpu", "unset", "2"},
		{"workload.commitSize.rowsPerCommit", "1", "16"},
	}
	must.Same(t, "list", "innodb_flush_log_at_trx_commit (1 → 0), innodb_log_file_size (100663296 → unset)", plan.List(want[:2]))
	must.Same(t, "", want, got)
	if same, err := plan.Differences(&from, from.DeepCopy()); err != nil || len(same) > 0 {
		t.Errorf("a run differs from itself: %v, %v", same, err)
	}
}

// presetOf is a workload with a preset, and what else is asked for.
func presetOf(also string) string {
	return `{"type": "IIBench", "iiBench": {"asPublished": "SmallDatum"` + also + `}}`
}

// chainOf are the parameters of the loader that a preset becomes.
func chainOf(t *testing.T, workload string) map[string]json.RawMessage {
	t.Helper()
	spec := specOf(t, workload, "")
	p := must.Get(plan.ForRun(spec))(t)
	encoded := must.Get(parametersAt(&spec.Workload, p.Points[0]))(t)
	var parameters map[string]json.RawMessage
	must.Do(t, json.Unmarshal(encoded, &parameters))
	return parameters
}

// A preset is the same as its stages written out, scaled by one number.
func TestPresetIsItsStages(t *testing.T) {
	written := `{"type": "IIBench", "iiBench": {"asPublished": "None", "clients": 2, "stages": [
	{"name": "l.i0", "insert": {"rows": 1200000, "rowsPerCommit": 100}},
	{"name": "l.x", "createIndexes": 3},
	{"name": "l.i1", "insert": {"rows": 1600000, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "l.i2", "insert": {"rows": 400000, "rowsPerCommit": 5, "deletePerInsert": true}},
	{"name": "rest", "rest": {"atLeastSeconds": 2}},
	{"name": "qr100", "query": {"by": "SecondaryRange", "seconds": 36, "ratePerSecond": 200, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qp100", "query": {"by": "PrimaryKey", "seconds": 36, "ratePerSecond": 200, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qr500", "query": {"by": "SecondaryRange", "seconds": 36, "ratePerSecond": 1000, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qp500", "query": {"by": "PrimaryKey", "seconds": 36, "ratePerSecond": 1000, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qr1000", "query": {"by": "SecondaryRange", "seconds": 36, "ratePerSecond": 2000, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qp1000", "query": {"by": "PrimaryKey", "seconds": 36, "ratePerSecond": 2000, "rowsPerCommit": 50, "deletePerInsert": true}}]}}`
	want, got := chainOf(t, written), chainOf(t, presetOf(`, "clients": 2, "scale": "0.02"`))
	must.Same(t, "parameters of the stages, and of the preset", want, got)
	p, err := plan.ForRun(specOf(t, presetOf(`, "scale": "0.02"`), ""))
	if err != nil || p.Stages != 10 || p.Points[1].Parameters["stage"] != "l.x" {
		t.Errorf("%d stages, points %v, %v", p.Stages, p.Points, err)
	}
}

// One table has rows of all clients, of which none is deleted; short queries take ten seconds.
func TestPresetBounds(t *testing.T) {
	stages := string(chainOf(t, presetOf(`, "tables": "Shared", "scale": "0.001"`))["stages"])
	if strings.Contains(stages, `"deletePerInsert":true`) || strings.Count(stages, `"seconds":10`) != 6 {
		t.Errorf("stages %s", stages)
	}
	stages = string(chainOf(t, presetOf(""))["stages"])
	if !strings.Contains(stages, `"rows":30000000`) || !strings.Contains(stages, `"atLeastSeconds":90`) ||
		strings.Count(stages, `"seconds":1800`) != 6 {
		t.Errorf("stages %s", stages)
	}
}

// What a preset would write beyond the bounds of its stages is refused with what to reduce.
func TestPresetTooLarge(t *testing.T) {
	must.Refused(plan.ForRun(specOf(t, presetOf(`, "clients": 64`), "")))(t, "2560000000 rows in a stage for 64 clients")
}

func TestCPULimitMillis(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Obj()
	for name, tc := range map[string]struct {
		resources corev1.ResourceRequirements
		want      int64
	}{
		"unset":         {corev1.ResourceRequirements{}, 1000},
		"a half":        {corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}, 500},
		"none":          {corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}, 0},
		"requests only": {corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}, 0},
	} {
		run.Spec.Database.Resources = tc.resources
		must.Same(t, name, tc.want, plan.CPULimitMillis(&run.Spec.Database))
	}
}
