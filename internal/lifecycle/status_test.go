// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
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
	claims := v1alpha1.Claims{{Name: "best", BestAt: &v1alpha1.BestAtClaim{At: testutil.AtRows("1000")}}}
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

// tenfold says that the second point is ten times the first, and publishes a factor of eight.
func tenfold() v1alpha1.Claims {
	return v1alpha1.Claims{{
		Name: "tenfold", Statement: "ten times as fast", Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("2"), To: testutil.AtRows("1"), AtLeast: "10"},
		Published: []v1alpha1.PublishedFigure{{Of: testutil.AtRows("1"), Value: "100"}, {Of: testutil.AtRows("2"), Value: "800"}},
	}}
}

// claimedRun has two points and the claims, and four records of each point, as many as four claims take: the second is so many
// times the first.
func claimedRun(factor float64, claims ...v1alpha1.Claim) (*v1alpha1.BenchmarkRun, *Observed) {
	run := oneAxis(2, 4)
	run.Spec.Claims = claims
	seen := new(Observed)
	for trial := range 8 {
		value := 1000 * (1 + 0.001*float64(trial%4))
		if trial >= 4 {
			value *= factor
		}
		r := testutil.Record(trial+1, 1, nil, value)
		r.Summary.Metrics = append(r.Summary.Metrics,
			result.Metric{Name: "innodbFsyncsPerTransaction", Value: 1, Unit: "fsyncs/transaction", Better: "lower"})
		r.Fingerprint = &result.Fingerprint{FdatasyncMicros: result.FsyncLatency{Calls: 300, Median: 131}}
		seen.Records = append(seen.Records, r)
	}
	return run, seen
}

// A claim that needs a slower disk than there is has no other verdict.
func TestStatusOfClaimWithoutPremise(t *testing.T) {
	claim := tenfold()[0]
	claim.Needs = v1alpha1.ClaimNeeds{FdatasyncMicros: v1alpha1.LeastNumber{AtLeast: 5000}}
	run, seen := claimedRun(3, claim)
	status := statusOf(t, run, seen, now)
	got := status.Claims[0]
	const want = "needs an fdatasync of at least 5 ms, and here it takes 0.131 ms (median); without that: 3× "
	if got.Verdict != v1alpha1.ClaimPremiseMissing || !strings.HasPrefix(got.Detail, want) || status.Claimed != "premise missing: 1" {
		t.Errorf("%q: %+v", status.Claimed, got)
	}
}

func TestStatusOfClaims(t *testing.T) {
	run, seen := claimedRun(3, append(tenfold(), v1alpha1.Claim{
		Name: "faster", Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("2"), To: testutil.AtRows("1"), AtLeast: "1.5"},
	}, v1alpha1.Claim{
		Name: "unknown", Metric: "x", Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("2"), To: testutil.AtRows("1"), AtLeast: "1.5"},
	}, v1alpha1.Claim{
		Name: "other", Metric: "innodbFsyncsPerTransaction", Ratio: &v1alpha1.RatioClaim{Of: testutil.AtRows("2"), To: testutil.AtRows("1"), WithinPercent: 5},
	})...)
	status := statusOf(t, run, seen, now)
	want := []v1alpha1.ClaimStatus{
		{
			Name: "tenfold", Verdict: v1alpha1.ClaimDoesNotHold, Published: v1alpha1.ClaimDoesNotHold,
			Detail: "3× (3–3×; claimed: at least 10×); published: 8×",
		},
		{Name: "faster", Verdict: v1alpha1.ClaimHolds, Detail: "3× (3–3×; claimed: at least 1.5×)"},
		{Name: "unknown", Verdict: v1alpha1.ClaimCannotSay, Detail: "no metric named x was measured"},
		{
			Name: "other", Verdict: v1alpha1.ClaimCannotSay,
			Detail: "1× (1–1×; claimed: equal within 5%); no difference is said after 10 trials, and there are 4",
		},
	}
	must.Same(t, "claims", want, status.Claims)
	must.Same(t, "together", "holds: 1, does not hold: 1, cannot say: 2", status.Claimed)
	seen.Records = seen.Records[:1]
	must.Same(t, "after one trial", v1alpha1.ClaimCannotSay, statusOf(t, run, seen, now).Claims[0].Verdict)
	if status := statusOf(t, run, &Observed{}, now); status.Claims != nil || status.Claimed != "" {
		t.Errorf("before the first: %+v", status.Claims)
	}
}

// stored is a status as it comes back from the API server.
func stored(t *testing.T, status v1alpha1.BenchmarkRunStatus) v1alpha1.BenchmarkRunStatus {
	t.Helper()
	data := must.Get(json.Marshal(status))(t)
	var s v1alpha1.BenchmarkRunStatus
	must.Do(t, json.Unmarshal(data, &s))
	return s
}

func TestStatusOfAPartOfARun(t *testing.T) {
	run := oneAxis(2, 2)
	run.Generation = 3
	run.Status.StartTime = ptr.To(metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)))
	list := []*result.Record{
		testutil.Record(1, 1, map[string]string{"rowsPerCommit": "1"}, 1000.4),
		disturbed(2, 1, result.OutcomeInvalidated, result.CauseEvicted),
		testutil.Record(2, 2, map[string]string{"rowsPerCommit": "1"}, 1200),
		testutil.Record(3, 1, map[string]string{"rowsPerCommit": "2"}, 14973.2),
	}
	list[3].Summary.Findings = []finding.Finding{finding.OfProgram("the client was busy")}
	status := statusOf(t, run, &Observed{Records: list}, now)
	status.Conditions, status.Environment = nil, v1alpha1.Environment{}
	// Four trials and four disturbances, each with 2 × 300 s to start and 3600 s to measure, and ten minutes.
	deadline := ptr.To(metav1.NewTime(now.Add(4200*time.Second + 10*time.Minute)))
	want := v1alpha1.BenchmarkRunStatus{
		ObservedGeneration: ptr.To[int64](3), StartTime: run.Status.StartTime, Deadline: deadline, Elapsed: "1m3s", Progress: "3/4",
		Trials: v1alpha1.TrialCounts{Planned: ptr.To[int32](4), Measured: ptr.To[int32](3), Invalidated: ptr.To[int32](1), Failed: ptr.To[int32](0)},
		Answer: v1alpha1.AnswerStatus{
			Text:   "14970 rows/s at rowsPerCommit=2",
			Detail: "14970 rows/s (one trial) at rowsPerCommit=2; not ranked: fewer than 3 trials each",
		},
		Points: []v1alpha1.PointStatus{
			{
				Parameters: map[string]v1alpha1.ParameterValue{"rowsPerCommit": "1"}, N: 2, Metric: "rowsPerSecond",
				Median: "1100", Low: "1000", High: "1200", Interval: v1alpha1.IntervalMinMax, Unit: "rows/s",
			},
			{
				Parameters: map[string]v1alpha1.ParameterValue{"rowsPerCommit": "2"}, N: 1, Metric: "rowsPerSecond",
				Median: "14970", Low: "14970", High: "14970", Interval: v1alpha1.IntervalMinMax, Unit: "rows/s",
			},
		},
		Findings: []v1alpha1.FindingStatus{{
			Code: "ProgramWarning", Severity: "Warning", At: "rowsPerCommit=2", Text: "the client was busy",
		}},
	}
	must.Same(t, "status", want, status)
}

func TestStatusOfANewRun(t *testing.T) {
	status := statusOf(t, oneAxis(2, 2), &Observed{}, now)
	if !status.StartTime.Time.Equal(now) || status.CompletionTime != nil || status.Elapsed != "" || status.Answer.Detail != "" {
		t.Errorf("status is %+v", status)
	}
	if status.Progress != "0/4" || *status.Trials.Failed != 0 || status.Points != nil {
		t.Errorf("status is %+v", status)
	}
}

// A run that is made suspended begins when it is resumed; one that is suspended later has begun.
func TestStatusOfASuspendedRun(t *testing.T) {
	run := oneAxis(2, 2)
	run.Spec.Suspend = ptr.To(true)
	if status := statusOf(t, run, &Observed{}, now); status.StartTime != nil || status.Elapsed != "" {
		t.Errorf("made suspended: started %v, elapsed %q", status.StartTime, status.Elapsed)
	}
	run.Status.StartTime = ptr.To(ago(time.Hour))
	if status := statusOf(t, run, &Observed{}, now); !status.StartTime.Time.Equal(ago(time.Hour).Time) {
		t.Errorf("suspended later: started %v", status.StartTime)
	}
}

func TestStatusOfTheEnd(t *testing.T) {
	run := testutil.MakeRun("run", "ns").Repetitions(2).Obj()
	run.Status.StartTime = ptr.To(ago(2*time.Hour + 4*time.Minute))
	published := &v1alpha1.ResultsReference{ConfigMap: "run-results", Digest: "sha256:1234"}
	status := statusOf(t, run, &Observed{Records: records(1, 2), Results: published}, now)
	if status.Elapsed != "2h4m0s" || !status.CompletionTime.Time.Equal(now) {
		t.Errorf("elapsed %q, ended %v", status.Elapsed, status.CompletionTime)
	}
	must.Same(t, "results", v1alpha1.ResultsReference{ConfigMap: "run-results", Digest: "sha256:1234"}, status.Results)
	// Without a sweep there is no place to name.
	must.Same(t, "headline", "1000 rows/s (1000–1000)", status.Answer.Detail)
	// A failed run is at its end when its results are there.
	list := []*result.Record{disturbed(1, 1, result.OutcomeFailed, "SQL")}
	if run.Status = statusOf(t, run, &Observed{Records: list}, now); run.Status.CompletionTime != nil {
		t.Errorf("ended %v, before its results were written", run.Status.CompletionTime)
	}
	failed := statusOf(t, run, &Observed{Records: list, Results: published}, now)
	if *failed.Trials.Failed != 1 || failed.Elapsed != "2h4m0s" {
		t.Errorf("trials %+v, elapsed %q", failed.Trials, failed.Elapsed)
	}
}

// Looked at again, with the clock and the status as the API server has stored them, nothing is left to write.
func TestStatusIsAFixedPoint(t *testing.T) {
	odd := now.Add(987654321 * time.Nanosecond)
	observations := map[string]Observed{
		"nothing":   {},
		"starting":  {Instances: []Instance{instanceOf(1, "u", starting)}},
		"measuring": {Records: records(1, 3), Instances: []Instance{instanceOf(1, "db-pod")}},
		"complete":  {Records: records(1, 2, 3, 4), Results: &v1alpha1.ResultsReference{ConfigMap: "run-results"}},
		"failed":    {Blockers: Blockers{Terminal: &Failure{"Rejected", "quota"}}},
		"disturbed": {Records: []*result.Record{disturbed(1, 1, result.OutcomeInvalidated, result.CauseEvicted)}},
	}
	for name, seen := range observations {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(2, 2)
			run.Status.StartTime = ptr.To(ago(time.Hour))
			first := statusOf(t, run, &seen, odd)
			if again := statusOf(t, run, &seen, odd); !equality.Semantic.DeepEqual(first, again) {
				t.Errorf("the same input gives another status:\n%s", cmp.Diff(first, again))
			}
			if name == "complete" || name == "failed" {
				// The end itself changes what the database's condition says: look at what comes after.
				run.Status = stored(t, first)
				first = statusOf(t, run, &seen, odd)
			}
			run.Status = stored(t, first)
			if second := statusOf(t, run, &seen, odd.Add(time.Second)); !equality.Semantic.DeepEqual(run.Status, second) {
				t.Errorf("a second look (-stored +new):\n%s", cmp.Diff(run.Status, second))
			}
		})
	}
}

// The duration that is shown must not change once the end is stored in whole seconds.
func TestElapsedIsOfWholeSeconds(t *testing.T) {
	run := oneAxis(1, 1)
	run.Status = statusOf(t, run, &Observed{}, now.Add(900*time.Millisecond))
	seen := &Observed{Records: records(1), Results: &v1alpha1.ResultsReference{}}
	run.Status = stored(t, run.Status)
	first := statusOf(t, run, seen, now.Add(10*time.Second+700*time.Millisecond))
	run.Status = stored(t, first)
	if second := statusOf(t, run, seen, now.Add(time.Minute)); first.Elapsed != "10s" || second.Elapsed != first.Elapsed {
		t.Errorf("elapsed %s, then %s", first.Elapsed, second.Elapsed)
	}
}

func TestStatusIsBounded(t *testing.T) {
	run := oneAxis(70, 1)
	var list []*result.Record
	long := strings.Repeat("ö", 3000)
	for i, trial := range planOf(t, run).Trials {
		r := testutil.Record(trial.Number, 1, nil, float64(1000+i))
		for w := range 20 {
			r.Summary.Findings = append(r.Summary.Findings, finding.OfProgram(fmt.Sprint(i, w, long)))
		}
		r.Summary.ServerVersion, r.Summary.SettingsDigest = long, long
		r.Place.DatabaseImage, r.Place.LoaderImage = long, long
		r.Fingerprint = &result.Fingerprint{
			Kernel: long, CPUModel: long, CPUs: -1, MemoryBytes: -1, Filesystem: long, MountOptions: long, IOScheduler: long,
			Swappiness: long, TransparentHugePages: long, FdatasyncMicros: result.FsyncLatency{Median: -1},
		}
		list = append(list, r)
	}
	status := statusOf(t, run, &Observed{Records: list}, now)
	if len(status.Points) != 64 || status.Points[63].Parameters["rowsPerCommit"] != "64" {
		t.Errorf("%d points", len(status.Points))
	}
	if n := len(status.Findings); n != 32 || status.Findings[31] != (v1alpha1.FindingStatus{Text: "1369 more, see the results"}) ||
		status.Findings[0].Code != string(finding.ProgramWarning) || status.Findings[20].At != "rowsPerCommit=2" {
		t.Errorf("%d findings: %.50q", n, status.Findings)
	}
	must.Has(t, status.Answer.Detail, "at rowsPerCommit=70;")
	for _, f := range status.Findings[:31] {
		checkLength(t, "finding", f.Text, 512)
	}
	e := status.Environment
	for _, text := range []struct {
		name, value string
		limit       int
	}{
		{"serverVersion", e.ServerVersion, 256},
		{"settingsDigest", e.SettingsDigest, 128},
		{"databaseImage", e.DatabaseImage, 512},
		{"loaderImage", e.LoaderImage, 512},
		{"kernel", e.Kernel, 256},
		{"cpuModel", e.CPUModel, 256},
		{"filesystem", e.Filesystem, 64},
		{"mountOptions", e.MountOptions, 1024},
		{"ioScheduler", e.IOScheduler, 64},
		{"swappiness", e.Swappiness, 32},
		{"transparentHugePages", e.TransparentHugePages, 32},
	} {
		checkLength(t, text.name, text.value, text.limit)
	}
	if e.CPUs != 0 || e.MemoryBytes != 0 || e.FdatasyncMicros != 0 {
		t.Errorf("unknown numbers: %d CPUs, %d bytes, %d µs", e.CPUs, e.MemoryBytes, e.FdatasyncMicros)
	}
}

// checkLength of a text that was longer than the limit.
func checkLength(t *testing.T, name, text string, limit int) {
	t.Helper()
	if n := utf8.RuneCountInString(text); n != limit || !utf8.ValidString(text) {
		t.Errorf("%s has %d characters, want %d", name, n, limit)
	}
}

const (
	both         = ` yet: LocalQueue "bench" needs quota for database and loader at the same time`
	heldDatabase = "Kueue has not admitted the database's Pod" + both
	heldLoader   = "Kueue has not admitted the loader's Job" + both
)

// gated is a database whose Pod Kueue has yet to admit.
func gated(i *Instance) {
	i.Pod = &corev1.Pod{Spec: corev1.PodSpec{SchedulingGates: []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}}}
	i.Pod.Labels = map[string]string{v1alpha1.LabelKueueQueue: "bench"}
}

func setAge(d time.Duration) func(*Instance) {
	return func(i *Instance) { i.Set.CreationTimestamp = ago(d) }
}

// heldJob is an attempt whose Job Kueue has yet to admit.
func heldJob(a *Attempt) {
	a.Job.Labels, a.Job.Spec.Suspend = map[string]string{v1alpha1.LabelKueueQueue: "bench"}, ptr.To(true)
}

// What waits for Kueue says so, in Kueue's words if it has any, and does so no longer than the start deadline.
func TestNextWaitsForKueue(t *testing.T) {
	waits := func(message string) Decision {
		return after(Decision{Action: Wait{}, Reason: v1alpha1.ReasonWaitingForKueue, Message: message}, pollInterval)
	}
	full := func(i *Instance) { i.Warning = "insufficient unused quota for cpu" }
	fullForJob := func(a *Attempt) { a.Warning = "insufficient unused quota for cpu" }
	up := []Instance{instanceOf(1, "db-pod")}
	late := attemptOf(1, 1, heldJob, createdAgo(300*time.Second))
	checkDecisions(t, map[string]decision{
		"database": {seen: Observed{Instances: []Instance{instanceOf(1, "u", gated)}}, want: waits(heldDatabase)},
		"database, in Kueue's words": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", gated, full)}},
			want: waits(heldDatabase + ": insufficient unused quota for cpu"),
		},
		"database, too long": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", gated, setAge(300*time.Second))}},
			want: failsWith(v1alpha1.ReasonDatabaseNotStarted,
				"the database was not up within trials.startDeadlineSeconds (300): "+heldDatabase),
		},
		"loader": {seen: Observed{Instances: up, Attempts: []Attempt{attemptOf(1, 1, heldJob)}}, want: waits(trialOne + ": " + heldLoader)},
		"loader, in Kueue's words": {
			seen: Observed{Instances: up, Attempts: []Attempt{attemptOf(1, 1, heldJob, fullForJob)}},
			want: waits(trialOne + ": " + heldLoader + ": insufficient unused quota for cpu"),
		},
		"loader, too long": {
			seen: Observed{Instances: up, Attempts: []Attempt{late}},
			want: measuring(RecordAttempt{Attempt: judged(late, trial.Verdict{
				Stage: trial.StageEnded, Outcome: result.OutcomeFailed, Cause: result.CauseNotStarted,
				Message: "no loader ran within trials.startDeadlineSeconds (300): " + heldLoader,
			}), Parameters: parameters}, trialOne),
		},
	})
}
