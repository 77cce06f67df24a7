// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/custom"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/pgbench"
	"github.com/benchrun-dev/benchrun/internal/workload/statements"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

const (
	loaderImage   = "benchrun/loader:test"
	sysbenchImage = "benchrun/loader-sysbench:test"
	otherUID      = "fedcba98-7654-3210-fedc-ba9876543210"
)

type goldenJob struct {
	run     *v1alpha1.BenchmarkRun
	attempt trial.Attempt
}

// goldenJobs are attempts whose Jobs are kept in golden files.
func goldenJobs() map[string]goldenJob {
	together := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Loader.SeparateFromDatabase = v1alpha1.SeparationNone
	}
	external := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database = v1alpha1.DatabaseSpec{
			Engine: v1alpha1.EngineMariaDB, Provisioner: v1alpha1.ProvisionerExternal,
			External: &v1alpha1.ExternalSpec{Host: "db.example.com", Port: 3307, CredentialsSecretName: "mine"},
			TLS:      v1alpha1.TLSSpec{Mode: v1alpha1.TLSVerifyIdentity, CASecretName: "authority"},
			Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](1)},
		}
	}
	operator := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Database.Provisioner = v1alpha1.ProvisionerMariaDBOperator
		r.Spec.Database.TLS.Mode = v1alpha1.TLSVerifyIdentity
	}
	return map[string]goldenJob{
		"external": {
			testutil.MakeRun("run", "ns").With(external).Obj(),
			trial.Attempt{Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 1},
		},
		"mariadb-operator": {
			testutil.MakeRun("run", "ns").With(operator).Obj(),
			trial.Attempt{Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 3},
		},
		"default": {
			testutil.MakeRun("run", "ns").Obj(),
			trial.Attempt{Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 1},
		},
		"everything": {
			testutil.MakeRun("run", "ns").Everything().Sweep(1, 16).Obj(),
			trial.Attempt{
				Trial: plan.Trial{Number: 5, Round: 3, Point: 1}, Number: 2, Instance: 7, Nodes: []string{"worker-2"},
				Point: pointOf(testutil.MakeRun("run", "ns").Sweep(1, 16).Obj(), 1),
			},
		},
		"socket": {
			testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
				together(r)
				r.Spec.Loader.Transport = v1alpha1.TransportUnixSocket
			}).Obj(),
			trial.Attempt{Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 2},
		},
		"together": {
			testutil.MakeRun("run", "ns").With(together).Obj(),
			trial.Attempt{Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 1, Nodes: []string{"worker-2"}},
		},
	}
}

// pointOf is a point of a run's plan.
func pointOf(run *v1alpha1.BenchmarkRun, i int) plan.Point {
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		panic(err)
	}
	return p.Points[i]
}

func job(t *testing.T, g goldenJob) *batchv1.Job {
	t.Helper()
	j := must.Get(trial.Job(g.run, g.attempt, podutil.Images{Loader: loaderImage, Sysbench: sysbenchImage}))(t)
	return j
}

func TestJobGolden(t *testing.T) {
	for name, g := range goldenJobs() {
		t.Run(name, func(t *testing.T) {
			before := testutil.YAML(t, g.run)
			testutil.Golden(t, name+".yaml", testutil.YAML(t, job(t, g)))
			must.Same(t, "the run, to which nothing is written", string(before), string(testutil.YAML(t, g.run)))
		})
	}
}

// Two runs of one specification make the same Jobs, but for what carries their UID.
func TestJobsOfTwoRuns(t *testing.T) {
	for name, g := range goldenJobs() {
		t.Run(name, func(t *testing.T) {
			again := g
			again.run = g.run.DeepCopy()
			again.run.UID = otherUID
			one, two := testutil.YAML(t, job(t, g)), testutil.YAML(t, job(t, again))
			if bytes.Equal(one, two) {
				t.Error("nothing carries the UID")
			}
			two = bytes.ReplaceAll(two, []byte(otherUID), []byte(g.run.UID))
			two = bytes.ReplaceAll(two, []byte(otherUID[:8]), []byte(g.run.UID[:8]))
			must.Same(t, "but for the UID", string(one), string(two))
		})
	}
}

// environment is the value of an environment variable of the loader.
func environment(j *batchv1.Job, name string) string {
	for _, e := range j.Spec.Template.Spec.Containers[0].Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// What the Job's loader is told is what the loader reads.
func TestJobConfig(t *testing.T) {
	for name, g := range goldenJobs() {
		t.Run(name, func(t *testing.T) {
			text := environment(job(t, g), result.EnvConfig)
			got := must.Get(result.ParseConfig([]byte(text)))(t)
			want := must.Get(trial.Config(g.run, g.attempt))(t)
			must.Same(t, "configuration", want, got)
		})
	}
}

// The kubelet expands "$(NAME)" and "$$" in the values of environment variables.
func TestJobConfigIsNotExpanded(t *testing.T) {
	const value = "$(BENCHRUN_RUN_UID) $$ $x"
	g := goldenJobs()["default"]
	g.run.Spec.Database.Variables = map[string]v1alpha1.VariableValue{"aria_comment": value}
	text := environment(job(t, g), result.EnvConfig)
	must.Lack(t, text, "$")
	got := must.Get(result.ParseConfig([]byte(text)))(t)
	must.Same(t, "what the loader reads", value, got.Settings[0].Value)
}

func TestJobRefusesAnUnknownWorkload(t *testing.T) {
	g := goldenJobs()["default"]
	g.run.Spec.Workload.Type = "Nonsense"
	const want = "workload type Nonsense lacks its member nonsense"
	must.Same(t, "error", want, must.Text(must.Err(trial.Job(g.run, g.attempt, podutil.Images{Loader: loaderImage, Sysbench: sysbenchImage}))))
}

// The name of the server stands for the address of its Pod in all programs of the loader's, whatever makes the server.
func TestJobReachesTheServersPod(t *testing.T) {
	for _, provisioner := range []v1alpha1.Provisioner{v1alpha1.ProvisionerStatefulSet, v1alpha1.ProvisionerMariaDBOperator} {
		r := testutil.MakeRun("run", "uid").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Database.Provisioner = provisioner }).Obj()
		for _, address := range []string{"", "192.0.2.10", "2001:db8::10"} {
			a := trial.Attempt{Trial: plan.Trial{Number: 1}, Point: plan.Point{}, Number: 1, Instance: 3, Address: address}
			job := must.Get(trial.Job(r, a, podutil.Images{Loader: "loader"}))(t)
			config := must.Get(trial.Config(r, a))(t)
			var want []corev1.HostAlias
			if address != "" {
				want = []corev1.HostAlias{{IP: address, Hostnames: []string{config.Server.Host}}}
			}
			must.Same(t, string(provisioner)+" "+address, want, job.Spec.Template.Spec.HostAliases)
		}
	}
}

// A Job never retries, whatever happens to its Pods.
func TestJobNeverRetries(t *testing.T) {
	for name, g := range goldenJobs() {
		spec := job(t, g).Spec
		if ptr.Deref(spec.BackoffLimit, -1) != 0 || spec.BackoffLimitPerIndex != nil || spec.Template.Spec.RestartPolicy != "Never" {
			t.Errorf("%s: backoffLimit %v, restartPolicy %s", name, spec.BackoffLimit, spec.Template.Spec.RestartPolicy)
		}
		if spec.TTLSecondsAfterFinished != nil {
			t.Errorf("%s: the Job goes before its result is recorded", name)
		}
	}
}

// Kueue's labels are on the Job and not on its Pods: Kueue would queue each of these once more.
func TestJobIsQueuedByKueue(t *testing.T) {
	labels := map[string]string{v1alpha1.LabelKueueQueue: "benchmarks", v1alpha1.LabelKueuePriority: "high", "mine": "alone"}
	run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Labels = labels }).Obj()
	job := must.Get(trial.Job(run, trial.Attempt{Trial: plan.Trial{Number: 1, Round: 1}, Number: 1, Instance: 1}, podutil.Images{Loader: loaderImage}))(t)
	for key := range labels {
		_, onJob := job.Labels[key]
		_, onPod := job.Spec.Template.Labels[key]
		if onJob != (key != "mine") || onPod || onJob && job.Labels[key] != labels[key] {
			t.Errorf("%s: Job has %q, its Pods have it: %t", key, job.Labels[key], onPod)
		}
	}
}

// The first attempt on an instance is asked to warm it up, and has more time; workloads that cannot be ended by time are not.
func TestPrime(t *testing.T) {
	tproch := func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadTPROCHLoad, TPROCHLoad: &v1alpha1.TPROCHLoadWorkload{}}
	}
	for name, tc := range map[string]struct {
		change   func(*v1alpha1.BenchmarkRun)
		first    bool
		seconds  int
		deadline int64
	}{
		"first":         {first: true, seconds: 20, deadline: 3640},
		"later":         {deadline: 3600},
		"not asked for": {change: func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.PrimeSeconds = nil }, first: true, deadline: 3600},
		"TPROCHLoad":    {change: tproch, first: true, deadline: 3600},
	} {
		t.Run(name, func(t *testing.T) {
			run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.PrimeSeconds = ptr.To[int32](20) }).Obj()
			if tc.change != nil {
				tc.change(run)
			}
			a := trial.Attempt{Number: 1, Instance: 1, Prime: tc.first}
			a.Trial.Number = 1
			c := must.Get(trial.Config(run, a))(t)
			job := must.Get(trial.Job(run, a, podutil.Images{Loader: "loader"}))(t)
			if c.PrimeSeconds != tc.seconds || *job.Spec.ActiveDeadlineSeconds != tc.deadline {
				t.Errorf("warm-up of %d s, deadline %d s", c.PrimeSeconds, *job.Spec.ActiveDeadlineSeconds)
			}
		})
	}
}

// The loader of a chain is told of all of its stages, and of none as a parameter of the trial.
func TestConfigOfStages(t *testing.T) {
	run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{
			Table: v1alpha1.IIBenchInsertBenchmark, StorageEngine: "InnoDB", Clients: 2, Stages: []v1alpha1.IIBenchStage{
				{Name: "l.i0", Insert: &v1alpha1.IIBenchInsertStage{Rows: 400, RowsPerCommit: 100}},
				{Name: "rest", Rest: &v1alpha1.IIBenchRestStage{}},
				{Name: "l.x", CreateIndexes: 3},
			},
		}}
	}).Obj()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	for _, of := range p.Trials {
		c := must.Get(trial.Config(run, trial.Attempt{Trial: of, Point: p.Points[of.Point], Number: 1, Instance: 1}))(t)
		const want = `"stages":[{"name":"l.i0","insert":{"rows":400,"rowsPerCommit":100}},{"name":"rest","rest":{}},{"name":"l.x","createIndexes":3}]`
		if c.Parameters != nil || !strings.Contains(string(c.Workload.Parameters), want) {
			t.Errorf("trial %d: parameters %v, workload %s", of.Number, c.Parameters, c.Workload.Parameters)
		}
	}
	must.Get(trial.Validate(run, p.Points[0]))(t)
	run.Spec.Loader.Pods = 2
	must.Refused(trial.Validate(run, p.Points[0]))(t, "loader.pods is 2 but must be 1")
}

// The Job of a loader in an image of the user's own asks for users in two places, and for none if the cluster gives them.
func TestUsersAreLeftToTheCluster(t *testing.T) {
	made := job(t, toolJobs()["custom"])
	users := func() int {
		text := must.Get(json.Marshal(made))(t)
		return strings.Count(string(text), `"runAsUser":`)
	}
	before := users()
	podutil.LeaveUsers(made)
	if after := users(); before != 2 || after != 0 {
		t.Errorf("%d users, %d of them left", before, after)
	}
}

// members are the workloads' parameters as their authors write them, and as the loader reads them.
var members = map[v1alpha1.WorkloadType]struct{ api, loader any }{
	v1alpha1.WorkloadBulkInsert: {v1alpha1.BulkInsertWorkload{}, bulkinsert.Parameters{}},
	v1alpha1.WorkloadCommitSize: {v1alpha1.CommitSizeWorkload{}, commitsize.Parameters{}},
	v1alpha1.WorkloadCustom:     {v1alpha1.CustomWorkload{}, custom.Parameters{}},
	v1alpha1.WorkloadIIBench:    {v1alpha1.IIBenchWorkload{}, iibench.Parameters{}},
	v1alpha1.WorkloadPgbench:    {v1alpha1.PgbenchWorkload{}, pgbench.Parameters{}},
	v1alpha1.WorkloadStatements: {v1alpha1.StatementsWorkload{}, statements.Parameters{}},
	v1alpha1.WorkloadSysbench:   {v1alpha1.SysbenchWorkload{}, sysbench.Parameters{}},
	v1alpha1.WorkloadTPROCHLoad: {v1alpha1.TPROCHLoadWorkload{}, tprochload.Parameters{}},
}

// A field of a workload's API is a field of the loader's parameters and the other way round: nothing is dropped on the way.
func TestParametersAreTheAPIs(t *testing.T) {
	union := reflect.TypeFor[v1alpha1.WorkloadSpec]()
	count := 0
	for field := range union.Fields() {
		if field.Type.Kind() == reflect.Pointer && field.Name != "DataFrom" && field.Name != "SchemaFrom" {
			count++
		}
	}
	must.Same(t, "workloads of the API and of this test", count, len(members))
	for name, m := range members {
		t.Run(string(name), func(t *testing.T) {
			api := fields(reflect.TypeOf(m.api))
			delete(api, "sweep")
			delete(api, "points")
			if name == v1alpha1.WorkloadIIBench { // the plan writes out the stages of SmallDatum
				delete(api, "scale")
			}
			must.Same(t, "parameters of the API and of the loader", api, fields(reflect.TypeOf(m.loader)))
		})
	}
}

// fields are the names of a type's fields in JSON, with those of structures within it.
func fields(typ reflect.Type) map[string]any {
	names := map[string]any{}
	for field := range typ.Fields() {
		inner := field.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		name := field.Tag.Get("json")
		for i, c := range name {
			if c == ',' {
				name = name[:i]
				break
			}
		}
		switch {
		case field.Anonymous:
			maps.Copy(names, fields(inner))
		case inner.Kind() == reflect.Struct:
			names[name] = fields(inner)
		default:
			names[name] = kindOf(inner)
		}
	}
	return names
}

// kindOf tells numbers, strings, truth values and maps of them apart: how large a number may be is the API's to say.
func kindOf(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "number"
	case reflect.Map:
		return "map of " + kindOf(typ.Elem())
	default:
		return typ.Kind().String()
	}
}

// longProgram has so many arguments of 512 characters each, which take four bytes.
func longProgram(arguments int) func(*v1alpha1.BenchmarkRun) {
	return func(r *v1alpha1.BenchmarkRun) {
		long := v1alpha1.CustomArgument(strings.Repeat("\U0001f4a9", 512))
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: &v1alpha1.CustomWorkload{
			Image: "tool:1", User: 1000, Command: slices.Repeat([]v1alpha1.CustomArgument{long}, arguments),
		}}
	}
}

// What cannot be carried out is found before anything is created, at the point that it is about.
func TestValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		want   string
	}{
		"as it should be": {func(*v1alpha1.BenchmarkRun) {}, ""},
		"an unknown workload": {
			func(r *v1alpha1.BenchmarkRun) { r.Spec.Workload.Type = "CommitsIze" }, "workload type CommitsIze lacks its member commitsIze",
		},
		"a long configuration": {longProgram(63), ""},
		"a configuration that is too long for a Pod's environment": {
			longProgram(64), "the loader's configuration has 131867 bytes; at most 130048 are allowed: shorten the workload's texts, or put " +
				"them into a file",
		},
		"several Pods": {
			func(r *v1alpha1.BenchmarkRun) { r.Spec.Loader.Pods = 2 }, "workload CommitSize: this load is made from one Pod: loader.pods is 2 but must be 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := trial.Validate(testutil.MakeRun("r", "ns").With(tc.change).Obj(), plan.Point{})
			must.Same(t, "error", tc.want, must.Text(err))
		})
	}
}

// The loader gets the workload as its author wrote it, with the point's values, and nothing else.
func TestConfigOfWorkload(t *testing.T) {
	run := testutil.MakeRun("r", "ns").Sweep(4).With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.Data = v1alpha1.DataKeep }).Obj()
	c := must.Get(trial.Config(run, trial.Attempt{Point: pointOf(run, 0)}))(t)
	got, err := json.Marshal(c.Workload)
	const want = `{"type":"CommitSize","parameters":{"asPublished":"None","commit":"Explicit","rows":100,"rowsPerCommit":4}}`
	if err != nil || string(got) != want || !c.KeepData || c.Parameters["rowsPerCommit"] != "4" {
		t.Errorf("workload is %s, %v, of %v, kept %t", got, err, c.Parameters, c.KeepData)
	}
}

// The loader of several variants is told all of their servers, by the addresses of Pods that are known, and has room for all.
func TestJobOfSides(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Obj()
	run.UID = "uid"
	run.Spec.Variants = []v1alpha1.Variant{{Name: "durable"}, {
		Name: "lazy", Database: &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}},
	}}
	a := trial.Attempt{
		Trial: plan.Trial{Number: 1, Round: 2, Sides: []int{0, 1}}, Number: 1, Instance: 3,
		Sides: []trial.Side{{Variant: 0, Instance: 3, Address: "10.0.0.3"}, {Variant: 1, Instance: 4, Address: "10.0.0.4"}},
	}
	job := must.Get(trial.Job(run, a, podutil.Images{Loader: "loader"}))(t)
	spec := job.Spec.Template.Spec
	if aliases := spec.HostAliases; len(aliases) != 2 || aliases[0].IP != "10.0.0.3" || aliases[1].Hostnames[0] != "run-db4.ns.svc" {
		t.Errorf("addresses %+v", aliases)
	}
	must.Same(t, "memory", "512Mi", spec.Containers[0].Resources.Limits.Memory().String())
	must.Same(t, "deadline", 2*int64(run.Spec.Trials.DeadlineSeconds), *job.Spec.ActiveDeadlineSeconds)
	var config result.Config
	must.Do(t, json.Unmarshal([]byte(spec.Containers[0].Env[0].Value), &config))
	lazy := config.Side(1)
	if lazy.Server.Host != "run-db4.ns.svc" || lazy.Workload.Type != "CommitSize" || config.Seed != *plan.Side(run, 1, 2).Spec.Seed {
		t.Errorf("%+v", lazy)
	}
	one, err := trial.Config(run, trial.Attempt{Trial: a.Trial, Number: 1, Instance: 4, Sides: a.Sides[1:]})
	if err != nil || one.Sides != nil || one.Server.Host != lazy.Server.Host {
		t.Errorf("a side by itself: %+v, %v", one, err)
	}
}

// Files are the same if they are asked for in the same words, wherever these stand.
func TestSameFiles(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Obj()
	run.Spec.Workload.DataFrom = &v1alpha1.DataSource{PersistentVolumeClaim: "data", Path: "a.csv", HeaderLines: ptr.To[int32](1)}
	run.Spec.Variants = []v1alpha1.Variant{{Name: "a"}, {Name: "b"}}
	same := trial.SameFiles(run)
	run.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{DataFrom: &v1alpha1.DataSource{Path: "b.csv"}}
	if !same || trial.SameFiles(run) {
		t.Errorf("one file is the same: %t; two files are: %t", same, trial.SameFiles(run))
	}
}

// A latency is judged as the metric of the run, or of a claim of any form.
func TestJudgedLatency(t *testing.T) {
	const p99 = "transactionP99Micros"
	for name, claim := range map[string]v1alpha1.Claim{
		"value": {Metric: p99, Value: &v1alpha1.ValueClaim{}}, "ratio": {Metric: p99, Ratio: &v1alpha1.RatioClaim{}},
		"best": {Metric: p99, BestAt: &v1alpha1.BestAtClaim{}}, "order": {Metric: p99, Monotonic: &v1alpha1.MonotonicClaim{}},
		"other": {Ratio: &v1alpha1.RatioClaim{ToMetric: p99}},
	} {
		spec := v1alpha1.BenchmarkRunSpec{Claims: v1alpha1.Claims{{Metric: "transactionsPerSecond"}, claim}}
		must.Same(t, name, p99, trial.JudgedLatency(&spec))
		spec.Claims = spec.Claims[:1]
		must.Same(t, name+", left out", "", trial.JudgedLatency(&spec))
		spec.Metric = p99
		must.Same(t, "the run's", p99, trial.JudgedLatency(&spec))
	}
}
