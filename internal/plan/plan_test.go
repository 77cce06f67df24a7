// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// planned is the plan of a run with so many points and rounds.
func planned(t *testing.T, points int, rounds int32, order v1alpha1.TrialOrder, seed int64) *plan.Plan {
	t.Helper()
	var values []v1alpha1.CommitSizeRowsPerCommit
	for i := range points {
		values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
	}
	spec := commits(values...)
	spec.Trials.Order, spec.Trials.Repetitions, spec.Seed = order, &rounds, &seed
	p := must.Get(plan.ForRun(spec))(t)
	return p
}

// visits are the points in the order of measuring.
func visits(p *plan.Plan) []int {
	var list []int
	for _, trial := range p.Trials {
		list = append(list, trial.Point)
	}
	return list
}

// The order of a seed never changes: a plan is computed anew by every release.
func TestOrderGolden(t *testing.T) {
	cases := map[string]struct {
		order v1alpha1.TrialOrder
		seed  int64
		want  []int
	}{
		"interleaved, seed 1":        {v1alpha1.OrderInterleaved, 1, []int{0, 2, 3, 1, 2, 1, 0, 3, 3, 2, 0, 1}},
		"interleaved, seed 2":        {v1alpha1.OrderInterleaved, 2, []int{0, 1, 2, 3, 2, 3, 1, 0, 3, 2, 1, 0}},
		"interleaved, largest seed":  {v1alpha1.OrderInterleaved, 9007199254740991, []int{2, 0, 3, 1, 1, 0, 3, 2, 3, 1, 0, 2}},
		"no order is interleaved":    {"", 1, []int{0, 2, 3, 1, 2, 1, 0, 3, 3, 2, 0, 1}},
		"shuffled, seed 1":           {v1alpha1.OrderShuffled, 1, []int{0, 3, 0, 3, 2, 2, 2, 0, 1, 1, 3, 1}},
		"shuffled, seed 0":           {v1alpha1.OrderShuffled, 0, []int{0, 3, 3, 2, 1, 0, 1, 3, 1, 2, 2, 0}},
		"sequential, seed 1":         {v1alpha1.OrderSequential, 1, []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}},
		"sequential, any other seed": {v1alpha1.OrderSequential, 99, []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "points", tc.want, visits(planned(t, 4, 3, tc.order, tc.seed)))
		})
	}
}

func TestSeedDefaultsToOne(t *testing.T) {
	spec := commits(1, 2, 3, 4)
	spec.Seed = nil
	p := must.Get(plan.ForRun(spec))(t)
	must.Same(t, "plan", planned(t, 4, v1alpha1.DefaultRepetitions, v1alpha1.OrderInterleaved, 1).Trials, p.Trials)
}

// Whatever the order, each point has one trial in each round, and trials are numbered as they are measured.
func TestEachPointOncePerRound(t *testing.T) {
	for _, order := range []v1alpha1.TrialOrder{v1alpha1.OrderInterleaved, v1alpha1.OrderShuffled, v1alpha1.OrderSequential} {
		t.Run(string(order), func(t *testing.T) {
			p := planned(t, 11, 7, order, 5)
			seen := map[[2]int]bool{}
			for i, trial := range p.Trials {
				must.Same(t, "number", i+1, trial.Number)
				if order == v1alpha1.OrderInterleaved && trial.Round != i/11+1 {
					t.Errorf("trial %d is in round %d, want %d", trial.Number, trial.Round, i/11+1)
				}
				at := [2]int{trial.Round, trial.Point}
				if seen[at] || trial.Round < 1 || trial.Round > 7 || trial.Point < 0 || trial.Point > 10 {
					t.Errorf("trial %d: %+v is not of the plan, or comes twice", i+1, trial)
				}
				seen[at] = true
			}
			must.Same(t, "number of trials", 77, len(seen))
		})
	}
}

func TestShuffledMixesRounds(t *testing.T) {
	p := planned(t, 11, 7, v1alpha1.OrderShuffled, 5)
	if slices.IsSortedFunc(p.Trials, func(a, b plan.Trial) int { return a.Round - b.Round }) {
		t.Error("all rounds come one after the other")
	}
}

func TestOrderDependsOnSeed(t *testing.T) {
	for _, order := range []v1alpha1.TrialOrder{v1alpha1.OrderInterleaved, v1alpha1.OrderShuffled} {
		seen := map[string]int64{}
		for seed := range int64(50) {
			text := cmp.Diff([]int(nil), visits(planned(t, 10, 3, order, seed)))
			if other, twice := seen[text]; twice {
				t.Errorf("%s: seeds %d and %d give one order", order, seed, other)
			}
			seen[text] = seed
		}
	}
}

// Each point is equally likely at each place: chi-squared with 5 degrees of freedom is below 25.7 for all but one in 10,000
// tables.
func TestOrderIsUnbiased(t *testing.T) {
	const points, seeds = 6, 6000
	var counts [points][points]int
	for seed := range int64(seeds) {
		for place, point := range visits(planned(t, points, 1, v1alpha1.OrderInterleaved, seed)) {
			counts[place][point]++
		}
	}
	for place := range counts {
		chi := 0.0
		for _, n := range counts[place] {
			d := float64(n) - seeds/points
			chi += d * d / (seeds / points)
		}
		if chi > 25.7 {
			t.Errorf("place %d: %v, chi-squared is %.1f", place, counts[place], chi)
		}
	}
}

func digest(t *testing.T, spec *v1alpha1.BenchmarkRunSpec) string {
	t.Helper()
	d := must.Get(plan.Digest(spec))(t)
	return d
}

// The digest of a specification does not change within a version of the method: it is how published runs are found to have asked
// for the same.
func TestDigestGolden(t *testing.T) {
	cases := map[string]struct {
		spec *v1alpha1.BenchmarkRunSpec
		want string
	}{
		"default": {&testutil.MakeRun("r", "ns").Obj().Spec, "v3:sha256:1ca976a991aafdde1ea332cfd0b26406f20cbf3a81222947717cbd0ad013ce40"},
		"sweep":   {commits(1, 16), "v3:sha256:5ded4bb366a9757bb4e1166d2b50fef88c7332e95930dfaa257e92d8db9d4f88"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			// As it was stored before there were these fields.
			tc.spec.Trials.PrimeSeconds, tc.spec.Workload.CommitSize.Commit = nil, ""
			must.Same(t, "digest", tc.want, digest(t, tc.spec))
		})
	}
}

func TestDigestIgnoresWhatChangesNoNumber(t *testing.T) {
	spec := commits(1, 16)
	spec.Claims = v1alpha1.Claims{{Name: "faster"}}
	spec.Lane = "fast"
	spec.Suspend = ptr.To(true)
	spec.DeadlineSeconds = ptr.To[int32](1)
	spec.Title, spec.Metric = "another", "commitP99Micros"
	spec.TTLSecondsAfterFinished = ptr.To[int32](60)
	spec.Cleanup = v1alpha1.CleanupNever
	spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "registry"}}
	spec.Results.Retention = v1alpha1.RetentionRetain
	before := spec.DeepCopy()
	must.Same(t, "digest", digest(t, commits(1, 16)), digest(t, spec))
	must.Same(t, "the specification that was read", before, spec)
}

// A quantity written in another way is the same quantity once the API server has stored it.
func TestDigestOfStoredSpecification(t *testing.T) {
	spec := commits(1, 16)
	spec.Database.Settings.BufferPoolSize = ptr.To(resource.MustParse("131072Ki"))
	data := must.Get(json.Marshal(spec))(t)
	stored := new(v1alpha1.BenchmarkRunSpec)
	must.Do(t, json.Unmarshal(data, stored))
	must.Same(t, "digest", digest(t, commits(1, 16)), digest(t, stored))
}

func TestDigestIsSensitiveToAllElse(t *testing.T) {
	changes := map[string][]func(*v1alpha1.BenchmarkRunSpec){
		"PodMetadata": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.PodMetadata.Labels = map[string]string{"a": "b"} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.PodMetadata.Annotations = map[string]string{"a": "b"} },
		},
		"Database": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Engine = "Other" },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Image = "mariadb:11.4" },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Provisioner = "Other" },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Settings.BinaryLog = ptr.To(true) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Settings.FlushLogAtTrxCommit = nil },
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Database.Settings.RedoLogSize = ptr.To(resource.MustParse("97Mi"))
			},
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Variables = map[string]v1alpha1.VariableValue{"a": ""} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Storage.Medium = v1alpha1.MediumMemory },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Storage.StorageClassName = "fast" },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Storage.Size = resource.MustParse("6Gi") },
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Database.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
			},
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Database.HostTuning = &v1alpha1.HostTuningSpec{Swappiness: ptr.To[int32](0)}
			},
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.NodeSelector = map[string]string{"disk": "ssd"} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.Tolerations = []corev1.Toleration{{Key: "k"}} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.NodeAffinity = &corev1.NodeAffinity{} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Database.PriorityClassName = "high" },
		},
		"Workload": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.Type = "Other" },
			func(s *v1alpha1.BenchmarkRunSpec) { *s.Workload.CommitSize.Rows++ },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.CommitSize.RowsPerCommit++ },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.CommitSize.AsPublished = v1alpha1.AsPublishedIsotopp },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.Limits.Seconds = ptr.To[int32](5) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.Limits.ErrorPercent = ptr.To[int32](5) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Workload.CommitSize.Sweep = nil },
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Workload.CommitSize.Sweep.RowsPerCommit = []v1alpha1.CommitSizeRowsPerCommit{16, 1}
			},
		},
		"Capacity": {func(s *v1alpha1.BenchmarkRunSpec) { s.Capacity = &v1alpha1.CapacitySpec{AtMost: "20000"} }},
		"Sweep":    {func(s *v1alpha1.BenchmarkRunSpec) { s.Sweep = &v1alpha1.SweepSpec{Mode: v1alpha1.SweepOneFactor} }},
		"Trials": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Repetitions = ptr.To[int32](4) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Precision = &v1alpha1.PrecisionSpec{Min: 6, Max: 12} },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Order = v1alpha1.OrderShuffled },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.Server = v1alpha1.ServerPerTrial },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.DeadlineSeconds++ },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Trials.MaxInvalid = ptr.To[int32](0) },
		},
		"Loader": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Loader.SeparateFromDatabase = v1alpha1.SeparationNone },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Loader.Transport = v1alpha1.TransportUnixSocket },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Loader.Scratch = &v1alpha1.ScratchSpec{} },
		},
		"Variants":                {func(s *v1alpha1.BenchmarkRunSpec) { s.Variants = []v1alpha1.Variant{{Name: "a"}, {Name: "b"}} }},
		"Baseline":                {func(s *v1alpha1.BenchmarkRunSpec) { s.Baseline = "b" }},
		"Rounds":                  {func(s *v1alpha1.BenchmarkRunSpec) { s.Rounds = &v1alpha1.RoundsSpec{AtMost: 7} }},
		"Alternation":             {func(s *v1alpha1.BenchmarkRunSpec) { s.Alternation = v1alpha1.AlternateRuns }},
		"EquivalentWithinPercent": {func(s *v1alpha1.BenchmarkRunSpec) { s.EquivalentWithinPercent = ptr.To[int32](3) }},
		"Placement":               {func(s *v1alpha1.BenchmarkRunSpec) { s.Placement = v1alpha1.PlacementAny }},
		"Seed": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Seed = ptr.To[int64](2) },
			func(s *v1alpha1.BenchmarkRunSpec) { s.Seed = ptr.To[int64](0) },
		},
	}
	base := digest(t, commits(1, 16))
	seen := map[string]bool{base: true}
	for field, list := range changes {
		for i, change := range list {
			spec := commits(1, 16)
			change(spec)
			d := digest(t, spec)
			if seen[d] {
				t.Errorf("change %d of %s gives a digest that was seen before", i, field)
			}
			seen[d] = true
		}
	}
	// A new field must be decided about.
	fields := append(slices.Collect(maps.Keys(changes)), "Title", "Metric", "Claims", "Lane", "Suspend", "DeadlineSeconds", "TTLSecondsAfterFinished", "Cleanup", "ImagePullSecrets", "Results")
	var have []string
	for field := range reflect.TypeFor[v1alpha1.BenchmarkRunSpec]().Fields() {
		have = append(have, field.Name)
	}
	slices.Sort(fields)
	slices.Sort(have)
	must.Same(t, "fields of the specification, and those that are tested", have, fields)
}

// inStages is a workload with three stages that are measured, and one that is not.
const inStages = `{"type": "IIBench", "iiBench": {"stages": [
	{"name": "l.i0", "insert": {"rows": 10}}, {"name": "l.x", "createIndexes": 3}, {"name": "rest", "rest": {}},
	{"name": "q", "query": {"by": "PrimaryKey", "seconds": 1}}]}}`

// A trial measures a point for each of its stages. Its own parameters have none.
func TestStages(t *testing.T) {
	spec := specOf(t, inStages, "")
	spec.Trials.Repetitions = ptr.To[int32](2)
	p := must.Get(plan.ForRun(spec))(t)
	var points []parameters
	for _, point := range p.Points {
		points = append(points, point.Parameters)
		if point.Swept() != nil {
			t.Errorf("a trial at %v sets %v", point.Parameters, point.Swept())
		}
	}
	must.Same(t, "points", []parameters{{"stage": "l.i0"}, {"stage": "l.x"}, {"stage": "q"}}, points)
	must.Same(t, "trials", []plan.Trial{{Number: 1, Round: 1}, {Number: 2, Round: 2}}, p.Trials)
	if from, to := p.Measured(&p.Trials[1]); from != 0 || to != 3 {
		t.Errorf("a trial measures points %d to %d", from, to)
	}
	whole, err := parametersAt(&spec.Workload, p.Points[2])
	if err != nil || strings.Contains(string(whole), `"stage"`) || !strings.Contains(string(whole), `"stages":[{"name":"l.i0"`) {
		t.Errorf("parameters %s, %v", whole, err)
	}
}

// Stages and a sweep multiply. Each trial has the points of one combination, which stand together.
func TestStagesOfASweep(t *testing.T) {
	swept := strings.Replace(inStages, `"stages"`, `"sweep": {"storageEngine": ["InnoDB", "Aria"]}, "stages"`, 1)
	p, err := plan.ForRun(specOf(t, swept, ""))
	if err != nil || len(p.Points) != 6 {
		t.Fatalf("%d points, %v", len(p.Points), err)
	}
	if got := p.Points[4]; !cmp.Equal(got.Parameters, parameters{"stage": "l.x", "storageEngine": "Aria"}) ||
		!cmp.Equal(got.Swept(), parameters{"storageEngine": "Aria"}) {
		t.Errorf("point 4 is %v, of which %v is swept", got.Parameters, got.Swept())
	}
	seen := map[int]int{}
	for i := range p.Trials {
		from, to := p.Measured(&p.Trials[i])
		seen[from]++
		must.Same(t, "number of points of a trial", 3, to-from)
	}
	if seen[0] == 0 || seen[3] != seen[0] || len(seen) != 2 {
		t.Errorf("trials begin at points %v", seen)
	}
}

func TestWithoutStages(t *testing.T) {
	p := must.Get(plan.ForRun(commits(1, 2)))(t)
	for i := range p.Trials {
		if from, to := p.Measured(&p.Trials[i]); from != p.Trials[i].Point || to != from+1 {
			t.Errorf("a trial at point %d measures points %d to %d", p.Trials[i].Point, from, to)
		}
	}
	if got := p.Points[1]; !cmp.Equal(got.Swept(), got.Parameters) {
		t.Errorf("a trial at %v sets %v", got.Parameters, got.Swept())
	}
}

// A program of the user's own may have a parameter that is called stage.
func TestAParameterCalledStage(t *testing.T) {
	p, err := plan.ForRun(specOf(t, `{"type": "Sysbench", "sysbench": {"options": {"stage": "a"}, "sweep": {"options": {"stage": ["a", "b"]}}}}`, ""))
	if err != nil || len(p.Points) != 2 || !cmp.Equal(p.Points[1].Swept(), parameters{"stage": "b"}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// The name of an attempt says which one it is, and no other name does.
func TestAttemptOf(t *testing.T) {
	run := testutil.MakeRun("run-t1-a1", "").Obj()
	for _, want := range [][2]int{{1, 1}, {12, 3}, {5000, 10}} {
		trial, attempt, found := plan.AttemptOf(run, plan.AttemptName(run, want[0], want[1]))
		if !found || trial != want[0] || attempt != want[1] {
			t.Errorf("%v is trial %d, attempt %d, %t", want, trial, attempt, found)
		}
	}
	for _, name := range []string{
		"", "run-t1-a1", "run-t1-a1-t1", "run-t1-a1-t1-a", "run-t1-a1-t1-a1-x", "run-t1-a1-t01-a1", "run-t1-a1-t+1-a1", "-t1-a1", "other-t1-a1",
	} {
		if trial, attempt, found := plan.AttemptOf(run, name); found {
			t.Errorf("%q is trial %d, attempt %d", name, trial, attempt)
		}
	}
}

// parametersAt a point, of a workload that was encoded for it.
func parametersAt(w *v1alpha1.WorkloadSpec, p plan.Point) (json.RawMessage, error) {
	parameters, err := plan.ParametersOf(w)
	if err != nil {
		return nil, err
	}
	return parameters.At(p), nil
}

// What is encoded once serves all points, in any order, and is the same as what is encoded for one.
func TestParametersOfAllPoints(t *testing.T) {
	for _, workload := range []string{
		`{"type": "CommitSize", "commitSize": {"rows": 5, "sweep": {"rowsPerCommit": [1, 16]}}}`,
		`{"type": "Sysbench", "sysbench": {"options": {"a": "1", "b": "<&>"}, "sweep": {"options": {"b": ["\"3\"", "4"], "c": ["5"]}}}}`,
		`{"type": "Sysbench", "sysbench": {"script": "tpcc", "points": [{"options": {"a": "1"}}, {"options": {"a": "2"}, "scale": 7}],
		  "scale": 1}}`,
	} {
		spec := specOf(t, workload, "")
		p := must.Get(plan.ForRun(spec))(t)
		all := must.Get(plan.ParametersOf(&spec.Workload))(t)
		for range 2 {
			for i := range p.Points {
				want := must.Get(parametersAt(&spec.Workload, p.Points[i]))(t)
				var decoded map[string]any
				if got := all.At(p.Points[i]); string(got) != string(want) || json.Unmarshal(got, &decoded) != nil {
					t.Errorf("%s at %v: %s, want %s", workload, p.Points[i].Parameters, got, want)
				}
				if again, err := json.Marshal(decoded); err != nil || len(again) != len(want) {
					t.Errorf("%s is not written as JSON is: %s", want, again)
				}
			}
		}
		if p.Bytes < len(p.Points)*len(`{"rows":5}`) {
			t.Errorf("%d bytes", p.Bytes)
		}
	}
}

// The headline is what the run asks for or, where all points offer a rate, a latency: how many rows there were follows from the rate.
func TestMetric(t *testing.T) {
	paced := func(rates ...int64) func(*v1alpha1.BenchmarkRunSpec) {
		return func(spec *v1alpha1.BenchmarkRunSpec) {
			if len(rates) == 1 {
				spec.Workload.CommitSize.RatePerSecond = ptr.To(v1alpha1.RowsPerSecond(rates[0]))
				return
			}
			w := new(v1alpha1.BulkInsertWorkload)
			for _, rate := range rates {
				var p v1alpha1.BulkInsertPoint
				p.RatePerSecond = ptr.To(v1alpha1.RowsPerSecond(rate))
				w.Points = append(w.Points, p)
			}
			spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadBulkInsert, BulkInsert: w}
		}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		want   string
	}{
		"none":             {func(*v1alpha1.BenchmarkRunSpec) {}, ""},
		"asked for":        {func(spec *v1alpha1.BenchmarkRunSpec) { spec.Metric = "commitP99Micros" }, "commitP99Micros"},
		"a rate":           {paced(1000), "transactionP99Micros"},
		"no rate":          {paced(0), ""},
		"rates":            {paced(1000, 2000), "transactionP99Micros"},
		"not all rates":    {paced(1000, 0), ""},
		"rates, asked for": {func(spec *v1alpha1.BenchmarkRunSpec) { paced(1000)(spec); spec.Metric = "rowsPerSecond" }, "rowsPerSecond"},
	} {
		spec := commits(1, 2)
		tc.change(spec)
		must.Same(t, name, tc.want, must.Get(plan.ForRun(spec))(t).Metric)
	}
	run := withVariants()
	run.Spec.Workload.CommitSize.RatePerSecond = ptr.To[v1alpha1.RowsPerSecond](1000)
	for rate, want := range map[int64]string{2000: "transactionP99Micros", 0: ""} {
		run.Spec.Variants[1].Workload = &v1alpha1.WorkloadSpec{CommitSize: &v1alpha1.CommitSizeWorkload{}}
		run.Spec.Variants[1].Workload.CommitSize.RatePerSecond = ptr.To(v1alpha1.RowsPerSecond(rate))
		must.Same(t, fmt.Sprintf("a variant offers %d rows/s", rate), want, must.Get(plan.New(run, v1alpha1.AlternateSlices))(t).Metric)
	}
}

// A search ends between the last rate that is not too high and the first that is, after as many rates as it takes to halve them.
func TestSearch(t *testing.T) {
	const rates = 60
	for truth := range rates + 1 { // rates below it are not too high
		offered := map[int]bool{}
		s := plan.Search{}
		for s.Next >= 0 {
			s = plan.SearchOf(rates, func(rate int) (tooHigh, known bool) { return rate >= truth, offered[rate] })
			if offered[s.Next] {
				t.Fatalf("%d: %d is offered again", truth, s.Next)
			}
			offered[s.Next] = true
		}
		must.Same(t, "found", plan.Search{Next: -1, Low: truth - 1, High: truth}, s)
		if n := len(offered) - 1; n > 6 {
			t.Errorf("%d: %d rates", truth, n)
		}
	}
}

func TestCapacityPoints(t *testing.T) {
	spec := commits()
	spec.Capacity = &v1alpha1.CapacitySpec{AtMost: "20000"}
	rates := func(list ...v1alpha1.RowsPerSecond) {
		spec.Workload.CommitSize.Sweep = new(v1alpha1.CommitSizeSweep)
		spec.Workload.CommitSize.Sweep.RatePerSecond = list
	}
	rates(400, 100, 200)
	p := must.Get(plan.ForRun(spec))(t)
	var offered []string
	for _, point := range p.Points {
		offered = append(offered, point.Parameters["ratePerSecond"])
	}
	must.Same(t, "rates", "100 105 110 115 121 127 133 140 147 154 161 169 177 186 195 205 215 225 236 248 260 273 286 300 315 330 347 "+
		"364 381 400", strings.Join(offered, " "))
	must.Same(t, "metric", "transactionP99Micros", p.Metric)
	spec.Capacity.Metric = "commitP99Micros"
	must.Same(t, "metric that is named", "commitP99Micros", must.Get(plan.ForRun(spec))(t).Metric)
	spec.Metric = "transactionP50Micros"
	must.Refused(plan.ForRun(spec))(t, "metric is transactionP50Micros and capacity.metric commitP99Micros")
	for _, list := range [][]v1alpha1.RowsPerSecond{{100}, {0, 100}, {100, 100}} {
		rates(list...)
		must.Refused(plan.ForRun(spec))(t, "sweep ratePerSecond alone, from a rate above 0 to a higher one")
	}
	must.Refused(plan.ForRun(func() *v1alpha1.BenchmarkRunSpec {
		other := commits(1, 2)
		other.Capacity = spec.Capacity
		return other
	}()))(t, "sweep ratePerSecond alone")
}
