// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/randfill"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// comparisonWorld carries out the decisions of a comparison, and those of its runs, which share a database unless stepRun is
// replaced, and lets things go wrong by chance.
type comparisonWorld struct {
	t          *testing.T
	comparison *v1alpha1.BenchmarkComparison
	plan       *analysis.ComparisonPlan
	// runs by name, each with what it has; Instances, if they are shared, and Lane are set when it is looked at.
	runs map[string]*world
	// stepRun lets a run take a step.
	stepRun   func(*world)
	instances []Instance
	// made says which Pod has served an instance, for all that there were.
	made    map[int]types.UID
	lane    *Holder
	results *v1alpha1.ResultsReference
	rng     *rand.Rand
	clock   time.Time
	serial  int
}

func newComparisonWorld(t *testing.T, seed uint64) *comparisonWorld {
	t.Helper()
	w := &comparisonWorld{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), clock: now, runs: map[string]*world{}, made: map[int]types.UID{},
		comparison: testutil.Pair(testutil.FixedRounds(3), func(s *v1alpha1.BenchmarkComparison) {
			s.Spec.Template.Spec.Trials.MaxInvalid = ptr.To[int32](1000)
			s.Spec.Template.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{
				RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 2},
			}
		}),
	}
	w.plan, w.stepRun = planOfComparison(t, w.comparison), w.stepSharing
	return w
}

func (w *comparisonWorld) uid() types.UID {
	w.serial++
	return types.UID(fmt.Sprint("uid-", w.serial))
}

// step lets something go wrong, the comparison take a step, and then its runs. It says whether the comparison has ended and left
// its lane.
func (w *comparisonWorld) step() bool {
	w.t.Helper()
	w.clock = w.clock.Add(time.Second)
	w.chance()
	seen := w.look()
	d := NextOfComparison(w.comparison, w.plan, seen, w.clock)
	if a, ok := d.Action.(CreateMember); ok {
		w.create(a, seen)
	}
	w.comparison.Status = StatusOfComparison(w.comparison, w.plan, seen, d, w.clock)
	switch a := d.Action.(type) {
	case Wait, DeleteComparison, CreateMember:
	case TakeLane:
		w.lane = ptr.To(HolderOfComparison(w.comparison))
	case ReleaseLane:
		if slices.ContainsFunc(w.instances, func(i Instance) bool { return i.MayLoad(w.clock) }) || seen.Lingering {
			w.t.Error("the lane is left beside a server or a loader")
		}
		w.lane = nil
	case SuspendMember:
		w.runs[a.Name].run.Spec.Suspend = ptr.To(a.Suspend)
	case RemoveMember:
		delete(w.runs, a.Name)
	case RemoveDatabase:
		w.remove(a.Instance)
	case PublishComparison:
		w.results = &v1alpha1.ResultsReference{ConfigMap: "results"}
	default:
		w.t.Fatalf("action is %T", a)
	}
	for _, m := range w.plan.Members {
		if r := w.runs[plan.MemberName(w.comparison, m)]; r != nil {
			w.stepRun(r)
		}
	}
	return d.Action == (Wait{}) && w.lane == nil && apimeta.IsStatusConditionTrue(w.comparison.Status.Conditions, v1alpha1.ConditionFinished)
}

// chance lets something go wrong, now and then: a server restarts, a user deletes a StatefulSet, the comparison is suspended or
// resumed, its Lease is deleted, or the run that is under way is.
func (w *comparisonWorld) chance() {
	switch w.rng.IntN(60) {
	case 0:
		for i := range w.instances {
			if pod := w.instances[i].Pod; pod != nil {
				pod.Status.ContainerStatuses[0].RestartCount++
			}
		}
	case 1:
		for i := range w.instances {
			setGone(&w.instances[i])
		}
	case 2:
		w.comparison.Spec.Suspend = ptr.To(true)
	case 3:
		w.lane = &Holder{Kind: RunKind, Namespace: "ns", Name: "other", UID: "other"}
	case 4:
		for name, r := range w.runs {
			if !r.finished() && w.rng.IntN(2) == 0 {
				delete(w.runs, name)
			}
		}
	case 5, 6, 7, 8, 9, 10:
		w.comparison.Spec.Suspend = ptr.To(false)
		if w.lane != nil && *w.lane != HolderOfComparison(w.comparison) {
			w.lane = nil
		}
	}
	// What is deleted in part is gone a moment later, unless the operator has something left to delete.
	w.instances = slices.DeleteFunc(w.instances, func(i Instance) bool { return i.Set == nil && !i.Others })
	for i := range w.instances {
		if w.instances[i].Set == nil {
			w.instances[i].Pod, w.instances[i].Claims = nil, nil
		}
	}
}

func (w *comparisonWorld) look() *ComparisonObserved {
	seen := &ComparisonObserved{
		Checked: true, ComparisonRuns: membersOf(w.plan), Lane: Lane{Lease: "s/l", Holder: w.lane},
		Instances: slices.Clone(w.instances), Results: w.results, Current: w.comparison.Status.CurrentRuns,
	}
	for i, m := range w.plan.Members {
		r := w.runs[plan.MemberName(w.comparison, m)]
		if r == nil {
			continue
		}
		seen.Members[i].Run = r.run
		_, shares := plan.SharedBy(r.run)
		seen.Left = max(seen.Left, leftBy(r))
		seen.Lingering = seen.Lingering || len(r.seen.Attempts) > 0 || !shares && len(r.seen.Instances) > 0
		if statuses(r.run.Status.Conditions)[v1alpha1.ConditionComplete] == "True Complete" {
			seen.Members[i].Measured = analysis.MeasurementsOf(r.plan, r.seen.Records, nil)
		}
	}
	seen.Judged = analysis.Judge(w.comparison, w.plan, &seen.ComparisonRuns, analysis.Verdicts{})
	return seen
}

// leftBy a run is what it has left on its nodes, if it has finished.
func leftBy(r *world) Leftover {
	_, shares := plan.SharedBy(r.run)
	works := func(i Instance) bool { return i.Set != nil }
	switch {
	case !r.finished() || shares || len(r.seen.Instances) == 0:
		return NothingLeft
	case slices.ContainsFunc(r.seen.Instances, works):
		return Working
	}
	return Stopping
}

func (w *comparisonWorld) create(a CreateMember, seen *ComparisonObserved) {
	run := plan.MemberRun(w.comparison, a.Member)
	if w.runs[run.Name] != nil {
		w.t.Errorf("run %s is there already", run.Name)
	}
	run.UID = w.uid()
	seen.Current = a.Current(run)
	ofComparison(w.comparison.Name, w.comparison.UID)(run)
	if a.Shared != nil {
		plan.Share(run, *a.Shared)
	}
	w.runs[run.Name] = &world{t: w.t, run: run, plan: planOf(w.t, run), rng: w.rng, served: map[int]string{}}
}

// remove an instance, at once or in part.
func (w *comparisonWorld) remove(number int) {
	for i := range w.instances {
		if one := &w.instances[i]; one.Number == number {
			one.Set, one.Others = nil, w.rng.IntN(3) == 0 && one.Set != nil
		}
	}
}

func (w *world) finished() bool {
	return statuses(w.run.Status.Conditions)[v1alpha1.ConditionFinished] == "True Complete"
}

// stepSharing lets a run take a step, as it sees what all share.
func (w *comparisonWorld) stepSharing(r *world) {
	w.t.Helper()
	r.seen.Lane, r.seen.Instances, r.clock = Lane{Lease: "s/l", Holder: w.lane}, slices.Clone(w.instances), w.clock
	r.seen.Alternation, r.seen.Named = AlternationOf(r.run, w.comparison)
	if r.finished() {
		r.seen.Instances = nil
	}
	r.seen.Judge(r.run)
	d := Next(r.run, r.plan, &r.seen, w.clock)
	r.run.Status = Status(r.run, r.plan, &r.seen, d, w.clock)
	switch a := d.Action.(type) {
	case Wait:
	case ProvideDatabase:
		w.provide(a.Instance)
	case RemoveDatabase:
		w.remove(a.Instance)
	case StartAttempt:
		w.start(r, a.Attempt)
	case RecordAttempt:
		record := testutil.Record(a.Attempt.Trial, a.Attempt.Number, a.Parameters, 1000)
		record.Instance, record.Recorded = a.Attempt.Instance, w.clock
		record.Outcome, record.Cause, record.Summary = a.Attempt.Verdict.Outcome, a.Attempt.Verdict.Cause, a.Attempt.Verdict.Summary
		record.Place.DatabasePodUID = string(w.made[a.Attempt.Instance])
		r.seen.Records = append(r.seen.Records, record)
	case RemoveJob:
		r.seen.Attempts = slices.DeleteFunc(r.seen.Attempts, func(x Attempt) bool { return x.Job.Name == a.Job.Name })
	case Publish:
		r.seen.Results = &v1alpha1.ResultsReference{ConfigMap: "results"}
	default:
		w.t.Fatalf("action of %s is %T", r.run.Name, a)
	}
}

func (w *comparisonWorld) provide(number int) {
	for _, i := range w.instances {
		if i.Number != number {
			w.t.Errorf("instance %d is made beside instance %d", number, i.Number)
		}
	}
	if _, used := w.made[number]; used && len(w.instances) == 0 {
		w.t.Errorf("number %d is used twice", number)
	}
	if w.lane == nil || *w.lane != HolderOfComparison(w.comparison) {
		w.t.Errorf("a database is made while lane is %+v", w.lane)
	}
	w.made[number] = w.uid()
	one := instanceOf(number, w.made[number])
	one.Set.CreationTimestamp = metav1.NewTime(w.clock)
	w.instances = []Instance{one}
}

// start an attempt that has ended when it is looked at the next time, badly now and then.
func (w *comparisonWorld) start(r *world, a trial.Attempt) {
	if len(w.instances) != 1 || w.instances[0].Number != a.Instance || w.instances[0].Pod.UID != w.made[a.Instance] {
		w.t.Errorf("%s measures instance %d, there is %+v", r.run.Name, a.Instance, w.instances)
	}
	attempt := attemptOf(a.Trial.Number, a.Number, loading)
	attempt.Instance, attempt.Job.CreationTimestamp = a.Instance, metav1.NewTime(w.clock)
	if w.rng.IntN(10) == 0 {
		vanished(&attempt)
	} else {
		doc := testutil.Document(attempt.Pods[0].UID, a.Trial.Number, a.Number, 1000+100*w.rng.Float64())
		message, err := result.EncodeSummary(doc.Summarize(result.EncodedDocument{SHA256: "feed"}))
		if err != nil {
			w.t.Fatal(err)
		}
		testutil.EndedLoaderPod(&attempt.Pods[0], 0, string(message), w.clock)
		testutil.JobCondition(attempt.Job, batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached)
	}
	r.seen.Attempts = append(r.seen.Attempts, attempt)
}

// Whatever goes wrong: no number of an instance is used twice, a run measures the only one there is, a comparison leaves its lane
// without a database, and comes to an end.
func TestSharedDatabaseByChance(t *testing.T) {
	instances, ends := map[int]int{}, map[string]int{}
	for seed := range uint64(200) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newComparisonWorld(t, seed)
			steps := 0
			for !w.step() {
				if steps++; steps > 3000 {
					t.Fatalf("it does not end: %+v", w.comparison.Status)
				}
			}
			if len(w.instances) > 0 {
				t.Errorf("%d databases are left", len(w.instances))
			}
			instances[min(len(w.made), 3)]++
			ends[statuses(w.comparison.Status.Conditions)[v1alpha1.ConditionFinished]]++
		})
	}
	if instances[1] < 5 || instances[3] < 50 {
		t.Errorf("comparisons by their number of instances: %v: chance is too kind or too cruel", instances)
	}
	t.Logf("ends: %v, instances: %v", ends, instances)
}

// FuzzComparisonStatus: whatever the runs of a comparison measured, the API server accepts the comparison's status.
func FuzzComparisonStatus(f *testing.F) {
	schema := testutil.MakeComparisonSchema(f)
	for i, spec := range specs(f, "BenchmarkComparison") {
		f.Add(spec, []byte{byte(i)})
	}
	f.Fuzz(func(t *testing.T, spec string, facts []byte) {
		comparison, refused := schema.Stored(t, comparisonOf(spec))
		if refused != nil {
			return
		}
		for n := range 2 { // the second status is made from the first one
			seen, p := new(ComparisonObserved), new(analysis.ComparisonPlan)
			planned, err := validation.PlanComparison(comparison)
			if err != nil {
				seen.Terminal = InvalidVariant(err)
			} else {
				p = planned
				seen = anyRuns(append(facts, byte(n)), comparison, p)
			}
			old := comparison.DeepCopy()
			at := now.Add(time.Duration(n) * time.Second)
			comparison.Status = StatusOfComparison(comparison, p, seen, NextOfComparison(comparison, p, seen, at), at)
			if errs := schema.StatusErrors(t, old, comparison); len(errs) > 0 {
				t.Fatalf("the API server refuses the status: %.2000s", errs.ToAggregate())
			}
			text, err := json.Marshal(comparison.Status)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > maxStatusBytes {
				t.Fatalf("the status has %d bytes", len(text))
			}
			var back v1alpha1.BenchmarkComparisonStatus
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			comparison.Status = back
		}
	})
}

func comparisonOf(spec string) []byte {
	return fmt.Appendf(nil, `{"apiVersion": "benchrun.dev/v1alpha1", "kind": "BenchmarkComparison", "metadata": {"name": "comparison",
		"namespace": "ns", "uid": "01234567-89ab-cdef-0123-456789abcdef", "generation": 1}, "spec": %s}`, spec)
}

// anyRuns are runs of a comparison that have ended, as many as facts say, with any values.
func anyRuns(facts []byte, comparison *v1alpha1.BenchmarkComparison, p *analysis.ComparisonPlan) *ComparisonObserved {
	fill := randfill.NewFromGoFuzz(facts).NilChance(0.2).NumElements(0, 20).Funcs(anyText, anyNumber, anyInteger, anyObject)
	seen := &ComparisonObserved{Checked: true, ComparisonRuns: membersOf(p)}
	var ended, chance uint8
	fill.Fill(&ended)
	for i, m := range p.Members[:min(int(ended), len(p.Members))] {
		run := plan.MemberRun(comparison, m)
		fill.Fill(&run.Status.Environment)
		fill.Fill(&run.Status.Trials)
		if fill.Fill(&chance); chance%16 == 0 {
			endedRun(run, v1alpha1.ConditionFailed)
			seen.Members[i] = analysis.Member{Run: run}
			break
		}
		endedRun(run, v1alpha1.ConditionComplete)
		measured := &analysis.Measurements{Values: slices.Repeat([]float64{math.NaN()}, len(p.Variants[m.Variant].Plan.Points))}
		fill.Fill(&measured.Metric)
		for point := range measured.Values {
			if fill.Fill(&measured.Values[point]); chance%4 == 1 {
				measured.Values[point] = math.Abs(measured.Values[point]) + 1
			}
		}
		seen.Members[i] = analysis.Member{Run: run, Measured: measured}
	}
	fill.Fill(&seen.Variables)
	if len(seen.Variables) != len(p.Variants) {
		seen.Variables = make([]map[string]string, len(p.Variants))
	}
	if fill.Fill(&chance); chance%4 == 0 {
		seen.Results = new(v1alpha1.ResultsReference)
		fill.Fill(seen.Results)
	}
	if chance%8 == 1 {
		fill.Fill(&seen.Predecessor)
	}
	fill.Fill(&seen.RetryError)
	seen.Judged = analysis.Judge(comparison, p, &seen.ComparisonRuns, analysis.Verdicts{})
	return seen
}
