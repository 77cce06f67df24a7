// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// world carries out decisions, and lets things go wrong by chance.
type world struct {
	t      *testing.T
	run    *v1alpha1.BenchmarkRun
	plan   *plan.Plan
	seen   Observed
	rng    *rand.Rand
	clock  time.Time
	serial int
	// measured is what the last attempt has in its document, and rates how fast each variant is.
	measured result.Summary
	rates    []float64
	// served is the Pod of each instance that has served an attempt.
	served map[int]string
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 0)), clock: now, served: map[int]string{}}
	w.run = oneAxis(1+w.rng.IntN(4), 1+w.rng.Int32N(4))
	spec := &w.run.Spec
	spec.Trials.MaxInvalid = ptr.To([]int32{0, 3, 1000}[w.rng.IntN(3)])
	spec.Trials.Order = []v1alpha1.TrialOrder{v1alpha1.OrderInterleaved, v1alpha1.OrderShuffled, v1alpha1.OrderSequential}[w.rng.IntN(3)]
	if w.rng.IntN(2) == 0 {
		spec.Trials.Server = v1alpha1.ServerPerTrial
	}
	if w.rng.IntN(3) == 0 {
		spec.Trials.Order, spec.Trials.Repetitions = v1alpha1.OrderInterleaved, nil
		spec.Trials.Precision = &v1alpha1.PrecisionSpec{TargetRelativeCIPercent: 10, Min: 6, Max: 9}
	}
	if w.rng.IntN(2) == 0 {
		w.seen.Lane.Holder = &Holder{Kind: RunKind, Namespace: "ns", Name: "other", UID: "other"}
	}
	w.plan = planOf(t, w.run)
	return w
}

// uid is one that was not used before.
func (w *world) uid() types.UID {
	w.serial++
	return types.UID(fmt.Sprint("uid-", w.serial))
}

// step looks, decides, acts, and writes the status. It says whether the run has ended.
func (w *world) step() bool {
	w.t.Helper()
	w.clock = w.clock.Add(time.Second)
	if len(w.run.Spec.Variants) > 0 { // which alternate as the status says
		var err error
		if w.plan, err = plan.New(w.run, w.plan.Alternation); err != nil {
			w.t.Fatal(err)
		}
	}
	w.seen.Judge(w.run)
	d := Next(w.run, w.plan, &w.seen, w.clock)
	if diff := cmp.Diff(d, Next(w.run, w.plan, &w.seen, w.clock)); diff != "" {
		w.t.Errorf("one situation, two decisions:\n%s", diff)
	}
	w.run.Status = Status(w.run, w.plan, &w.seen, d, w.clock)
	w.checkCounts()
	switch a := d.Action.(type) {
	case Wait:
		w.pass()
	case TakeLane:
		if w.seen.Lane.Holder != nil {
			w.t.Errorf("the lane is taken from %s", w.seen.Lane.Holder)
		}
		w.seen.Lane = held(w.run)
	case ProvideDatabase:
		w.provide(a)
	case RemoveDatabase:
		i := w.seen.Instance(a.Instance)
		i.Set, i.Others, i.Pod = nil, false, nil
	case StartAttempt:
		w.checkStart(a.Attempt)
		w.start(a.Attempt)
	case RecordAttempt:
		w.record(a)
	case RemoveJob:
		w.seen.Attempts = slices.DeleteFunc(w.seen.Attempts, func(x Attempt) bool { return x.Job.Name == a.Job.Name })
	case Publish:
		w.seen.Results = &v1alpha1.ResultsReference{ConfigMap: "results"}
	default:
		w.t.Fatalf("action is %T", a)
	}
	return d.Complete || d.Failure != nil
}

// pass lets what was waited for happen.
func (w *world) pass() {
	if h := w.seen.Lane.Holder; h != nil && *h != HolderOf(w.run) {
		w.seen.Lane.Holder = nil
	}
	w.seen.Instances = slices.DeleteFunc(w.seen.Instances, func(i Instance) bool { return i.Set == nil })
	for i := range w.seen.Instances {
		if w.seen.Instances[i].Pod != nil {
			testutil.ReadyDatabasePod(w.seen.Instances[i].Pod)
		}
	}
}

func (w *world) provide(a ProvideDatabase) {
	if w.seen.Lane.Holder == nil || *w.seen.Lane.Holder != HolderOf(w.run) {
		w.t.Errorf("a database is made while lane is %+v", w.seen.Lane)
	}
	if w.seen.Instance(a.Instance) != nil {
		w.t.Errorf("instance %d is there already", a.Instance)
	}
	i := instanceOf(a.Instance, w.uid())
	i.Set.CreationTimestamp = metav1.NewTime(w.clock)
	if w.rng.IntN(2) == 0 {
		starting(&i)
	}
	w.seen.Instances = append(w.seen.Instances, i)
}

// checkStart holds what must be so of every attempt.
func (w *world) checkStart(a trial.Attempt) {
	w.t.Helper()
	number := 0
	for _, r := range w.seen.Records {
		if r.Trial != a.Trial.Number {
			continue
		}
		number = max(number, r.Attempt)
		if r.Outcome == result.OutcomeAccepted {
			w.t.Errorf("trial %d is measured again", r.Trial)
		}
	}
	if a.Number != number+1 {
		w.t.Errorf("attempt %d of trial %d comes after %d", a.Number, a.Trial.Number, number)
	}
	if len(w.seen.Attempts) > 0 {
		w.t.Errorf("two attempts at a time: %s", w.seen.Attempts[0].Job.Name)
	}
	i := w.seen.Instance(a.Instance)
	if i == nil || i.Pod == nil || !i.Pod.Status.ContainerStatuses[0].Ready {
		w.t.Fatalf("instance %d is not up", a.Instance)
	}
	if pod, used := w.served[a.Instance]; used && (pod != string(i.Pod.UID) || w.run.Spec.Trials.Server == v1alpha1.ServerPerTrial) {
		w.t.Errorf("instance %d has served before, by %s", a.Instance, pod)
	}
	most := 1
	if w.plan.Together() {
		most = 0
		for variant := range w.plan.Variants {
			if w.seen.Compared.Needs(variant, a.Trial.Round) {
				most++
			}
		}
	}
	if len(w.seen.Instances) != most {
		w.t.Errorf("%d databases at a time, want %d", len(w.seen.Instances), most)
	}
	for i, side := range a.Sides {
		if side.Variant != a.Trial.Sides[i] || plan.VariantOf(w.run, side.Instance) != side.Variant {
			w.t.Errorf("trial %+v is measured on %+v", a.Trial, a.Sides)
		}
	}
	if len(a.Sides) != len(a.Trial.Sides) {
		w.t.Errorf("trial %+v is measured on %+v", a.Trial, a.Sides)
	}
}

// start an attempt that has ended when it is looked at the next time.
func (w *world) start(a trial.Attempt) {
	attempt := attemptOf(a.Trial.Number, a.Number, loading)
	attempt.Instance, attempt.Instances, attempt.Job.CreationTimestamp = a.Instance, []int{a.Instance}, metav1.NewTime(w.clock)
	for i, side := range a.Sides {
		attempt.Instances = append(attempt.Instances[:i], side.Instance)
	}
	pod := &attempt.Pods[0]
	switch w.rng.IntN(20) {
	case 0, 1: // its Pod is evicted
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		testutil.JobCondition(attempt.Job, batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded)
	case 2: // somebody deletes its Job before it has ended
		return
	case 3: // it restarts the database
		db := w.seen.Instance(a.Instance).Pod
		db.Status.ContainerStatuses[0].RestartCount++
		vanished(&attempt)
	case 4: // it fails for good, or vanishes
		if w.rng.IntN(5) == 0 {
			testutil.JobCondition(attempt.Job, batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded)
			break
		}
		vanished(&attempt)
	default:
		doc := testutil.Document(pod.UID, a.Trial.Number, a.Number, 1000+100*w.rng.Float64())
		w.measured = doc.Summarize(result.EncodedDocument{SHA256: "feed"})
		for _, side := range a.Trial.Sides {
			one := testutil.Document(pod.UID, a.Trial.Number, a.Number, (1000+20*w.rng.Float64())*w.rates[side])
			w.measured.Sides = append(w.measured.Sides, result.SideSummary{
				Variant: w.plan.Variants[side], Summary: one.Summarize(result.EncodedDocument{}),
			})
		}
		message, err := result.EncodeSummary(doc.Summarize(result.EncodedDocument{SHA256: "feed"}))
		if err != nil {
			w.t.Fatal(err)
		}
		testutil.EndedLoaderPod(pod, 0, string(message), w.clock)
		testutil.JobCondition(attempt.Job, batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached)
	}
	w.seen.Attempts = append(w.seen.Attempts, attempt)
}

func (w *world) record(a RecordAttempt) {
	if w.seen.recorded(a.Attempt.Trial, a.Attempt.Number) {
		w.t.Errorf("attempt %d of trial %d is recorded twice", a.Attempt.Number, a.Attempt.Trial)
	}
	r := &result.Record{
		Version: result.RecordVersion, Trial: a.Attempt.Trial, Attempt: a.Attempt.Number, Instance: a.Attempt.Instance, Parameters: a.Parameters,
		Outcome: a.Attempt.Verdict.Outcome, Cause: a.Attempt.Verdict.Cause, Summary: a.Attempt.Verdict.Summary, Recorded: w.clock,
	}
	if r.Outcome == result.OutcomeAccepted && w.rng.IntN(20) == 0 {
		r.Outcome, r.Cause = result.OutcomeInvalidated, result.CauseDocumentLost
	}
	if len(w.run.Spec.Variants) > 0 {
		if r.Outcome == result.OutcomeAccepted {
			whole := w.measured
			if r.Summary = &whole; len(whole.Sides) == 1 {
				r.Summary = &whole.Sides[0].Summary
			}
		}
		for _, number := range a.Attempt.Instances {
			side := result.SideRecord{Variant: w.plan.Variants[plan.VariantOf(w.run, number)], Instance: number}
			if i := w.seen.Instance(number); i != nil && i.Pod != nil {
				side.Place = result.Place{DatabasePodUID: string(i.Pod.UID), DatabaseNode: "worker"}
				w.served[number] = string(i.Pod.UID)
			}
			r.Sides = append(r.Sides, side)
		}
	}
	if i := w.seen.Instance(a.Attempt.Instance); i != nil && i.Pod != nil {
		r.Place = result.Place{DatabasePodUID: string(i.Pod.UID), DatabaseNode: "worker", LoaderNode: "worker2"}
		w.served[i.Number] = string(i.Pod.UID)
	}
	w.seen.Records = append(w.seen.Records, r)
	switch w.rng.IntN(10) {
	case 0: // the database's Pod is replaced
		w.seen.Instances[0].Pod = instanceOf(1, w.uid(), starting).Pod
	case 1: // somebody deletes the StatefulSet
		w.seen.Instances[0].Set, w.seen.Instances[0].Others = nil, w.rng.IntN(2) == 0
	}
}

// checkCounts compares the status with the records.
func (w *world) checkCounts() {
	w.t.Helper()
	outcomes, sides := map[result.Outcome]int32{}, int32(0)
	for _, r := range w.seen.Records {
		outcomes[r.Outcome]++
		if r.Outcome == result.OutcomeAccepted {
			sides += int32(max(1, len(r.Sides)))
		}
	}
	s := &w.run.Status
	if *s.Trials.Measured != outcomes[result.OutcomeAccepted] || *s.Trials.Invalidated != outcomes[result.OutcomeInvalidated] ||
		*s.Trials.Failed != outcomes[result.OutcomeFailed] {
		w.t.Errorf("counts are %+v, records %v", s.Trials, outcomes)
	}
	n := int32(0)
	for _, p := range s.Points {
		n += p.N
	}
	if n != sides || *s.Trials.Measured > *s.Trials.Planned || int(*s.Trials.Planned) > len(w.plan.Trials) {
		w.t.Errorf("points are of %d sides; counts are %+v of %d trials", n, s.Trials, len(w.plan.Trials))
	}
}

// Whatever goes wrong: no trial counts twice, no number is used twice, nothing measures a database that has changed, and
// the run comes to an end.
func TestRunsByChance(t *testing.T) {
	ends := map[bool]int{}
	for seed := range uint64(300) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newWorld(t, seed)
			steps := 0
			for !w.step() {
				if steps++; steps > 2000 {
					t.Fatal("it does not end")
				}
			}
			s := statuses(w.run.Status.Conditions)
			complete := s[v1alpha1.ConditionComplete] == "True Complete"
			ends[complete]++
			if complete && *w.run.Status.Trials.Measured != *w.run.Status.Trials.Planned {
				t.Errorf("complete with %s", w.run.Status.Progress)
			}
			if !complete && *w.run.Status.Trials.Failed == 0 && *w.run.Status.Trials.Invalidated <= *w.run.Spec.Trials.MaxInvalid {
				t.Errorf("failed without a reason: %v", s)
			}
		})
	}
	if ends[true] < 50 || ends[false] < 50 {
		t.Errorf("%d runs were complete, %d failed: chance is too kind or too cruel", ends[true], ends[false])
	}
}

// The same of runs with variants, however they alternate. Each round is whole, on servers of its own, and no more rounds are measured
// than the answer takes, nor more of a variant than its own answer takes.
func TestVariantsByChance(t *testing.T) {
	ends, answered, dropped, seeds := map[bool]int{}, 0, 0, uint64(150)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			w := newWorld(t, seed)
			w.rates = [][]float64{{1, 1, 1}, {1, 1.5, 2}, {1, 1.5, 1}}[seed%3]
			w.run = oneAxis(1+w.rng.IntN(2), 1)
			spec := &w.run.Spec
			spec.Trials.MaxInvalid = ptr.To([]int32{3, 1000}[w.rng.IntN(2)])
			spec.Variants = []v1alpha1.Variant{{Name: "a"}, {Name: "b"}, {Name: "c"}}[:2+seed/3%2]
			spec.Rounds = &v1alpha1.RoundsSpec{AtMost: 12, AtLeast: 6, Until: v1alpha1.RoundsDecided}
			alternation := []v1alpha1.Alternation{
				v1alpha1.AlternateSlices, v1alpha1.AlternateTrials, v1alpha1.AlternateRuns,
			}[w.rng.IntN(3)]
			w.plan = &plan.Plan{Alternation: alternation}
			w.seen.Checked = true
			for steps := 0; !w.step(); steps++ {
				if steps > 3000 {
					t.Fatal("it does not end")
				}
			}
			s := &w.run.Status
			complete := statuses(s.Conditions)[v1alpha1.ConditionComplete]
			ends[strings.HasPrefix(complete, "True")]++
			switch {
			case complete == "True Decided":
				answered++
			case strings.HasPrefix(complete, "True") && s.Progress != "12/12":
				t.Errorf("it ends undecided after %s", s.Progress)
			case !strings.HasPrefix(complete, "True") && *s.Trials.Failed == 0 && *s.Trials.Invalidated <= *spec.Trials.MaxInvalid:
				t.Errorf("failed without a reason: %v", s.Conditions)
			}
			if w.rates[1] == 1 || !strings.HasPrefix(complete, "True") {
				return
			}
			all := w.rates[2] > 1 || len(spec.Variants) == 2
			if p := s.Pairs[0]; p.Verdict != v1alpha1.VerdictFaster || p.Rounds != 6 || all && s.Progress != "6/12" {
				t.Errorf("after %s: %+v", s.Progress, s.Pairs)
			}
			if !all && s.Progress != "6/12" {
				dropped++
				for _, r := range w.seen.Records {
					if r.Measures("b") && w.plan.Trials[r.Trial-1].Round > 6 {
						t.Errorf("trial %d measures a variant that is decided", r.Trial)
					}
				}
			}
		})
	}
	if fifth := int(seeds / 5); ends[true] < fifth || ends[false] < fifth || answered < fifth/2 || dropped == 0 {
		t.Errorf("%d runs were complete, %d of them answered, %d went on without a variant, %d failed: chance is too kind or too cruel",
			ends[true], answered, dropped, ends[false])
	}
}

// TestFrozenRandomRuns: the last status and all records of runs in a world where things go wrong by chance.
func TestFrozenRandomRuns(t *testing.T) {
	for seed := range uint64(12) {
		w := newWorld(t, seed)
		for n := 0; !w.step(); n++ {
			if n > 2000 {
				t.Fatalf("seed %d has no end", seed)
			}
		}
		frozen.Check(t, fmt.Sprintf("scenarios/random-run-%d.json", seed), frozen.Stable(t, map[string]any{
			"spec": w.run.Spec, "status": w.run.Status, "records": w.seen.Records,
		}))
	}
}
