// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/validation"
	scripts "github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

// twoPoints is a run with points rowsPerCommit=1 and 2.
func twoPoints() *v1alpha1.BenchmarkRun {
	return testutil.MakeRun("run", "ns").Sweep(1, 2).Repetitions(3).Obj()
}

// A claim about a point that is not measured ends the run before anything is created.
func TestPlanRefusesClaims(t *testing.T) {
	run := twoPoints()
	run.Spec.Claims = v1alpha1.Claims{{
		Name: "tenfold", Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("2"), To: testutil.AtRows("1"), AtLeast: "10"},
	}}
	must.Get(validation.PlanRun(run))(t)
	run.Spec.Claims[0].Ratio.Of = testutil.AtRows("3")
	must.Same(t, "error", "claim tenfold: of: rowsPerCommit=3 names no point", must.Text(must.Err(validation.PlanRun(run))))
	s := testutil.MakeVariants("s", "ns", "durable", "lazy").With(func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Claims = v1alpha1.Claims{{Name: "c", BestAt: &v1alpha1.BestAtClaim{At: v1alpha1.PointSelector{Variant: "other"}}}}
	}).Obj()
	must.Same(t, "error", "claim c: bestAt: other names no point of everything", must.Text(must.Err(validation.PlanRun(s))))
}

// custom has so many points, and a text of so many bytes.
func custom(points, bytes int) v1alpha1.WorkloadSpec {
	w := &v1alpha1.CustomWorkload{
		Image: "i", Command: []v1alpha1.CustomArgument{"x", "${n}", v1alpha1.CustomArgument(strings.Repeat("x", bytes))}, User: 1,
		Parameters: map[string]v1alpha1.SweptValue{"n": "0"},
	}
	for i := range points {
		w.Points = append(w.Points, v1alpha1.CustomPoint{Parameters: map[string]v1alpha1.SweptValue{"n": v1alpha1.SweptValue(fmt.Sprint(i))}})
	}
	return v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadCustom, Custom: w}
}

// What a specification costs to look at is bounded: its texts at all points, and in all variants of a comparison.
func TestTooLargeAtAllPoints(t *testing.T) {
	for name, tc := range map[string]struct {
		points, bytes, variants int
		refused                 bool
	}{
		"a large text":              {1, 100_000, 2, false},
		"many points":               {1000, 1000, 2, false},
		"both":                      {1000, 100_000, 2, true},
		"each of them, in variants": {1000, 5000, 4, true},
	} {
		s := testutil.MakeVariants("s", "ns").With(func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Workload = custom(tc.points, tc.bytes)
			s.Spec.Rounds.AtMost = 1
			for i := range tc.variants {
				s.Spec.Variants = append(s.Spec.Variants, v1alpha1.Variant{Name: fmt.Sprint("v", i)})
			}
		}).Obj()
		_, err := validation.PlanRun(s)
		if refused := err != nil && strings.Contains(err.Error(), "bytes at all points together; at most 16777216 are allowed"); refused != tc.refused {
			t.Errorf("%s: %v", name, err)
		}
		s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAdmitted}}
		if _, err := validation.PlanRun(s); err != nil {
			t.Errorf("%s, accepted by an earlier operator: %v", name, err)
		}
	}
	run := testutil.MakeRun("r", "ns").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) { r.Spec.Workload = custom(1000, 100_000) }).Obj()
	must.Refused(validation.PlanRun(run))(t, "at all points together")
}

func sliced(s *v1alpha1.BenchmarkRun) { s.Spec.Alternation = v1alpha1.AlternateSlices }

func sysbench(s *v1alpha1.BenchmarkRun) {
	s.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
		Script: "oltp_read_only", Clients: 1, Seconds: ptr.To[int32](1), Percentile: 95, RandType: "uniform",
	}}
}

// The loader takes what a preset writes.
func TestPresetIsPlanned(t *testing.T) {
	run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{
			AsPublished: v1alpha1.AsPublishedSmallDatum, Scale: "0.001", Clients: 64, Table: v1alpha1.IIBenchInsertBenchmark, StorageEngine: "InnoDB",
		}}
	}).Obj()
	must.Same(t, "points", 10, len(must.Get(validation.PlanRun(run))(t).Points))
}

// An attempt that cannot end in its time is refused before hours were measured.
func TestAttemptThatCannotEndInTime(t *testing.T) {
	const refused = "an attempt measures and rests for 10890 s at least, and trials.deadlineSeconds would end it after 3600 s: set " +
		"trials.deadlineSeconds to more, or measure less"
	run := testutil.MakeRun("run", "ns").With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadIIBench, IIBench: &v1alpha1.IIBenchWorkload{
			AsPublished: v1alpha1.AsPublishedSmallDatum, Clients: 1, Table: v1alpha1.IIBenchInsertBenchmark, StorageEngine: "InnoDB",
		}}
		r.Spec.Trials.DeadlineSeconds = 3600
	}).Obj()
	must.Same(t, "error", refused, must.Text(must.Err(validation.PlanRun(run))))
	run.Spec.Trials.DeadlineSeconds = 20_000
	must.Get(validation.PlanRun(run))(t)
	limited := twoPoints()
	limited.Spec.Workload.Limits.Seconds = ptr.To[int32](4000)
	limited.Spec.Trials.DeadlineSeconds = 3600
	if _, err := validation.PlanRun(limited); err == nil {
		t.Error("a time limit beyond the deadline is accepted")
	}
}

// Two settings cannot be compared on one external server, where they are not set: what is measured would be the same.
func TestSettingsOfOneExternalServer(t *testing.T) {
	comparison := func(change func(lazy *v1alpha1.DatabaseSpec)) *v1alpha1.BenchmarkRun {
		return testutil.MakeVariants("s", "ns", "durable", "lazy").With(func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Alternation = v1alpha1.AlternateRuns
			s.Spec.Database = v1alpha1.DatabaseSpec{
				Engine: v1alpha1.EngineMariaDB, Provisioner: v1alpha1.ProvisionerExternal,
				External: &v1alpha1.ExternalSpec{Host: "db", CredentialsSecretName: "c"},
			}
			s.Spec.Variants[1].Database = new(v1alpha1.DatabaseSpec)
			change(s.Spec.Variants[1].Database)
		}).Obj()
	}
	lazy := func(db *v1alpha1.DatabaseSpec) { db.Settings.FlushLogAtTrxCommit = ptr.To[int32](0) }
	const refused = "variant lazy: innodb_flush_log_at_trx_commit (unset → 0): it has the external server of the baseline, db:3306, " +
		"where Benchrun sets no variable; compare settings on servers that Benchrun creates, or on two external servers"
	for name, tc := range map[string]struct {
		change func(*v1alpha1.DatabaseSpec)
		want   string
	}{
		"the same settings": {func(*v1alpha1.DatabaseSpec) {}, ""},
		"another setting":   {lazy, refused},
		"the same port, which is said": {func(db *v1alpha1.DatabaseSpec) {
			lazy(db)
			db.External = &v1alpha1.ExternalSpec{Host: "db", Port: 3306, CredentialsSecretName: "c"}
		}, refused},
		"another port": {func(db *v1alpha1.DatabaseSpec) {
			lazy(db)
			db.External = &v1alpha1.ExternalSpec{Host: "db", Port: 3307, CredentialsSecretName: "c"}
		}, ""},
		"another server": {func(db *v1alpha1.DatabaseSpec) {
			lazy(db)
			db.External = &v1alpha1.ExternalSpec{Host: "other", Port: 3306, CredentialsSecretName: "c"}
		}, ""},
	} {
		_, err := validation.PlanRun(comparison(tc.change))
		must.Same(t, name, tc.want, must.Text(err))
	}
}

// What cannot be measured in turns is refused before anything is created, with what can.
func TestAlternationRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		want   string
	}{
		"fine": {func(*v1alpha1.BenchmarkRun) {}, ""},
		"a tuned node": {
			func(s *v1alpha1.BenchmarkRun) {
				s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{
					HostTuning: &v1alpha1.HostTuningSpec{IOScheduler: "none"},
				}
			},
			"alternation: Trials: variant lazy: database.hostTuning tunes the node for one server; use alternation: Runs",
		},
		"a tool":           {sysbench, ""},
		"a tool in slices": {func(s *v1alpha1.BenchmarkRun) { sliced(s); sysbench(s) }, ""},
		"a tool at a rate in slices": {
			func(s *v1alpha1.BenchmarkRun) {
				sliced(s)
				sysbench(s)
				s.Spec.Workload.Sysbench.Sweep = &v1alpha1.SysbenchSweep{RatePerSecond: []v1alpha1.SysbenchRate{0, 100}}
			},
			"alternation: Slices: variant durable: the program's schedule of a rate goes on while it is halted; use alternation: Trials",
		},
		"a tool's latency in slices": {
			func(s *v1alpha1.BenchmarkRun) { sliced(s); sysbench(s); s.Spec.Metric = "transactionP99Micros" },
			"alternation: Slices: metric is transactionP99Micros, and the program's latencies contain its pauses; use alternation: Trials",
		},
		"slices": {sliced, ""},
		"slices of different points": {
			func(s *v1alpha1.BenchmarkRun) {
				sliced(s)
				points := func(values ...v1alpha1.CommitSizeRowsPerCommit) *v1alpha1.CommitSizeWorkload {
					return &v1alpha1.CommitSizeWorkload{Sweep: &v1alpha1.CommitSizeSweep{RowsPerCommit: values}}
				}
				s.Spec.Workload.CommitSize.Sweep = points(1, 2).Sweep
				s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: points(2, 3)}
			},
			"alternation: Slices: the variants are measured at different points; use alternation: Trials",
		},
		"slices of loaders of their own": {
			func(s *v1alpha1.BenchmarkRun) {
				sliced(s)
				s.Spec.Variants[1].Loader = &v1alpha1.LoaderSpec{NodeSelector: map[string]string{"near": "db"}}
			},
			"alternation: Slices: the variants have loaders of their own; use alternation: Trials",
		},
		"slices of several Pods": {
			func(s *v1alpha1.BenchmarkRun) {
				sliced(s)
				run := &s.Spec
				run.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadBulkInsert, BulkInsert: &v1alpha1.BulkInsertWorkload{
					Rows: 100, RowsPerStatement: 10, StatementsPerTransaction: 1, Clients: 2, Table: "Narrow", Tables: 1,
					StorageEngine: "InnoDB",
				}}
				run.Loader.Pods = 2
			},
			"alternation: Slices: variant durable: one loader Pod measures all variants, and loader.pods is more; use alternation: Trials",
		},
	} {
		s := testutil.MakeVariants("s", "ns", "durable", "lazy").With(func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Alternation = v1alpha1.AlternateTrials
		}).With(tc.change).Obj()
		_, err := validation.PlanRun(s)
		must.Same(t, name, tc.want, must.Text(err))
	}
}

// What a comparison measures with that leaves the choice: slices, unless something stands against it.
func TestAlternationChosen(t *testing.T) {
	lazy := func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Variants[1].Database = &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](0)}}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRun)
		want   v1alpha1.Alternation
		why    string
	}{
		"two servers":    {lazy, v1alpha1.AlternateSlices, ""},
		"the same twice": {func(*v1alpha1.BenchmarkRun) {}, v1alpha1.AlternateSlices, ""},
		"a new server for each trial": {
			func(s *v1alpha1.BenchmarkRun) {
				lazy(s)
				s.Spec.Trials.Server = v1alpha1.ServerPerTrial
			},
			v1alpha1.AlternateRuns, "variant durable: trials.server is PerTrial, and the servers of a round stay for all of its trials",
		},
		"sysbench":            {func(s *v1alpha1.BenchmarkRun) { sysbench(s); s.Spec.Workload.Sysbench.Seconds = ptr.To[int32](10) }, v1alpha1.AlternateSlices, ""},
		"sysbench by default": {func(s *v1alpha1.BenchmarkRun) { sysbench(s); s.Spec.Workload.Sysbench.Seconds = nil }, v1alpha1.AlternateSlices, ""},
		"a short sysbench": {
			func(s *v1alpha1.BenchmarkRun) { lazy(s); sysbench(s) }, v1alpha1.AlternateTrials,
			"the program is measured for less than 10 s, and the first and the last of its slices do not count",
		},
		"a short one of a variant": {
			func(s *v1alpha1.BenchmarkRun) {
				sysbench(s)
				s.Spec.Workload.Sysbench.Seconds = ptr.To[int32](10)
				s.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{Sysbench: &v1alpha1.SysbenchWorkload{Seconds: ptr.To[int32](9)}}
			}, v1alpha1.AlternateTrials, "the program is measured for less than 10 s, and the first and the last of its slices do not count",
		},
		"a latency of sysbench": {
			func(s *v1alpha1.BenchmarkRun) { sysbench(s); s.Spec.Metric = "transactionP99Micros" }, v1alpha1.AlternateTrials,
			"metric is transactionP99Micros, and the program's latencies contain its pauses",
		},
		"a claim about one": {
			func(s *v1alpha1.BenchmarkRun) {
				sysbench(s)
				s.Spec.Claims = v1alpha1.Claims{{Name: "same", Ratio: &v1alpha1.RatioClaim{
					Of: v1alpha1.PointSelector{Variant: "lazy"}, To: v1alpha1.PointSelector{Variant: "durable"},
					ToMetric: "transactionP95Micros", AtLeast: "1",
				}}}
			}, v1alpha1.AlternateTrials, "metric is transactionP95Micros, and the program's latencies contain its pauses",
		},
		"a program of one's own": {
			func(s *v1alpha1.BenchmarkRun) { lazy(s); s.Spec.Workload = custom(1, 1) }, v1alpha1.AlternateTrials,
			"variant durable: nobody counts what the program of workload Custom does in one",
		},
		"chosen before": {
			func(s *v1alpha1.BenchmarkRun) {
				lazy(s)
				s.Status.Alternation, s.Status.AlternationReason = v1alpha1.AlternateRuns, "no room"
			}, v1alpha1.AlternateRuns, "no room",
		},
	} {
		s := testutil.MakeVariants("s", "ns", "durable", "lazy").With(func(s *v1alpha1.BenchmarkRun) {
			s.Spec.Alternation = v1alpha1.AlternateAutomatic
		}).With(tc.change).Obj()
		p := must.Get(validation.PlanRun(s))(t)
		if p.Alternation != tc.want || p.AlternationReason != tc.why {
			t.Errorf("%s: %s: %q", name, p.Alternation, p.AlternationReason)
		}
	}
}

// A headline that a program of one's own does not declare is refused before anything runs, and so is what a variant cannot remove.
func TestMetricAndRemoved(t *testing.T) {
	for metric, says := range map[string]string{
		"": "", "tps": "", "durationSeconds": "", "coffee": "metric: coffee is none of custom.result.metrics: tps",
	} {
		run := testutil.MakeRun("run", "ns").Obj()
		run.Spec.Metric, run.Spec.Workload = metric, custom(1, 1)
		run.Spec.Workload.Custom.Result = &v1alpha1.CustomResult{Pattern: "(?P<tps>.*)", Metrics: []v1alpha1.CustomMetric{
			{Name: "tps", Unit: "tx/s", Better: v1alpha1.MetricHigher},
		}}
		if _, err := validation.PlanRun(run); (err != nil || says != "") && fmt.Sprint(err) != says {
			t.Errorf("%q: %v, want %q", metric, err, says)
		}
	}
	run := testutil.MakeRun("run", "ns").Obj() // a program that reports by itself
	run.Spec.Metric, run.Spec.Workload = "coffee", custom(1, 1)
	must.Get(validation.PlanRun(run))(t)
	run = testutil.MakeVariants("run", "ns", "a", "b").Obj()
	run.Spec.Variants[1].Remove = []string{"database.variables.sync_binlog"}
	const want = "variant b: remove: database.variables.sync_binlog: the run has no "
	if _, err := validation.PlanRun(run); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Variants with points of their own are measured trial by trial unless the run says otherwise.
func TestUnevenPoints(t *testing.T) {
	run := testutil.MakeVariants("run", "ns", "a", "b").Sweep(1, 2).Obj()
	own := v1alpha1.CommitSizeWorkload{Sweep: &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{2}}}
	run.Spec.Alternation, run.Spec.Variants[1].Workload = v1alpha1.AlternateAutomatic, &v1alpha1.WorkloadSpec{CommitSize: &own}
	p, err := validation.PlanRun(run)
	if err != nil || p.Alternation != v1alpha1.AlternateTrials || p.AlternationReason != "the variants are measured at different points" {
		t.Fatalf("%s: %s, %v", p.Alternation, p.AlternationReason, err)
	}
}

// sweepOf is a run over scripts of Sysbench.
func sweepOf(names []string, change func(*v1alpha1.BenchmarkRunSpec)) *v1alpha1.BenchmarkRun {
	var swept []v1alpha1.SysbenchScript
	for _, name := range names {
		swept = append(swept, v1alpha1.SysbenchScript(name))
	}
	return testutil.MakeRun("run", "ns").Repetitions(2).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{
			Clients: 1, Seconds: ptr.To[int32](1), Percentile: 95, RandType: "uniform", Sweep: &v1alpha1.SysbenchSweep{Script: swept},
		}}
		if change != nil {
			change(&r.Spec)
		}
	}).Obj()
}

// What the API server takes is what the loader knows, and a run can measure all of it.
func TestScriptsOfSysbench(t *testing.T) {
	text := must.Get(os.ReadFile("../../config/crd/bases/benchrun.dev_benchmarkruns.yaml"))(t)
	var crd apiextensionsv1.CustomResourceDefinition
	must.Do(t, yaml.Unmarshal(text, &crd))
	sysbench := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["workload"].Properties["sysbench"]
	var names []string
	for _, value := range sysbench.Properties["script"].Enum {
		names = append(names, strings.Trim(string(value.Raw), `"`))
	}
	slices.Sort(names)
	must.Same(t, "scripts of the loader and of the CRD", scripts.Scripts(), names)
	plan, err := validation.PlanRun(sweepOf(names, nil))
	if err != nil || len(plan.Points) != len(names) || len(plan.Trials) != 2*len(names) {
		t.Errorf("%d points, %v", len(plan.Points), err)
	}
}

// What the schema cannot refuse of scripts that are swept ends the run before anything is created, and names the point.
func TestScriptsRefused(t *testing.T) {
	for want, run := range map[string]*v1alpha1.BenchmarkRun{
		"workload Sysbench: trials.data: Keep is for all scripts but tpcc, bulk_insert and your own: the others share tables " +
			"(script=bulk_insert)": sweepOf([]string{"scan", "bulk_insert"}, func(s *v1alpha1.BenchmarkRunSpec) {
			s.Trials.Data = v1alpha1.DataKeep
		}),
		"workload Sysbench: options: range_size cannot be set with script read-only-10, whose options belong to its name, but for those " +
			"that begin with mysql, pgsql, db or rand: leave it out, or use one of sysbench's own scripts (script=read-only-10)": sweepOf([]string{"oltp_read_only", "read-only-10"}, func(s *v1alpha1.BenchmarkRunSpec) {
			s.Workload.Sysbench.Options = map[string]v1alpha1.SysbenchOption{"range_size": "10"}
		}),
	} {
		must.Same(t, "error", want, must.Text(must.Err(validation.PlanRun(run))))
	}
}

// Points may leave the script to the workload, or all have one.
func TestScriptsOfPoints(t *testing.T) {
	with := func(script v1alpha1.SysbenchScript, points ...v1alpha1.SysbenchPoint) *v1alpha1.BenchmarkRun {
		return sweepOf(nil, func(s *v1alpha1.BenchmarkRunSpec) {
			s.Workload.Sysbench.Script, s.Workload.Sysbench.Sweep, s.Workload.Sysbench.Points = script, nil, points
		})
	}
	scan := v1alpha1.SysbenchPoint{Script: ptr.To[v1alpha1.SysbenchScript]("scan")}
	threads := v1alpha1.SysbenchPoint{Clients: ptr.To[v1alpha1.SysbenchClients](2)}
	plan, err := validation.PlanRun(with("insert", scan, threads))
	if err != nil || plan.Points[0].Parameters["script"] != "scan" || plan.Points[1].Parameters["script"] != "insert" {
		t.Errorf("%+v, %v", plan, err)
	}
	want := "workload.sysbench.points[1] leaves out script, which the workload does not set: set it in one of them"
	must.Same(t, "error", want, must.Text(must.Err(validation.PlanRun(with("", scan, threads)))))
}
