// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// now is the time of every decision; what is observed was made before it.
var now = time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// oneAxis is a run with points rowsPerCommit=1, 2 and so on, in the order of the sweep, without a warm-up.
func oneAxis(points int, repetitions int32) *v1alpha1.BenchmarkRun {
	var values []v1alpha1.CommitSizeRowsPerCommit
	for i := range points {
		values = append(values, v1alpha1.CommitSizeRowsPerCommit(i+1))
	}
	return testutil.MakeRun("run", "ns").Sweep(values...).Repetitions(repetitions).With(func(r *v1alpha1.BenchmarkRun) {
		r.Spec.Trials.Order, r.Spec.Trials.PrimeSeconds = v1alpha1.OrderSequential, ptr.To[int32](0)
	}).Obj()
}

func planOf(t *testing.T, run *v1alpha1.BenchmarkRun) *plan.Plan {
	t.Helper()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	return p
}

// records are accepted first attempts of trials, all with the same value.
func records(trials ...int) []*result.Record {
	var list []*result.Record
	for _, n := range trials {
		list = append(list, testutil.Record(n, 1, nil, 1000))
	}
	return list
}

// disturbed is the record of an attempt that does not count.
func disturbed(number, attempt int, outcome result.Outcome, cause result.Cause) *result.Record {
	r := testutil.Record(number, attempt, map[string]string{"rowsPerCommit": "1"}, 0)
	r.Outcome, r.Cause, r.Message, r.Summary = outcome, cause, "what happened", nil
	return r
}

// instanceOf makes a database instance that is up since a minute, whose Pod has that UID.
func instanceOf(number int, podUID types.UID, changes ...func(*Instance)) Instance {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "db", UID: podUID}, Spec: corev1.PodSpec{NodeName: "worker"}}
	testutil.ReadyDatabasePod(pod)
	i := Instance{
		Number: number, Pod: pod, Claims: []*corev1.PersistentVolumeClaim{{}}, Others: true,
		Set: &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: ago(time.Minute)}},
	}
	for _, change := range changes {
		change(&i)
	}
	return i
}

func restarted(i *Instance)  { i.Pod.Status.ContainerStatuses[0].RestartCount = 1 }
func withoutPod(i *Instance) { i.Pod = nil }
func removed(i *Instance)    { i.Set.DeletionTimestamp = ptr.To(ago(time.Second)) }
func setGone(i *Instance)    { i.Set = nil }
func onlyPod(i *Instance)    { i.Others = false }
func starting(i *Instance) {
	server := &i.Pod.Status.ContainerStatuses[0]
	server.Ready, server.Started = false, ptr.To(false)
}

// attemptOf makes an attempt whose Job was made ten seconds ago and has no Pod.
func attemptOf(number, attempt int, changes ...func(*Attempt)) Attempt {
	a := Attempt{Trial: number, Number: attempt, Instance: 1, Instances: []int{1}, Job: &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("run-t%d-a%d", number, attempt), CreationTimestamp: ago(10 * time.Second)},
		Spec:       batchv1.JobSpec{ActiveDeadlineSeconds: ptr.To[int64](3600)},
	}}
	for _, change := range changes {
		change(&a)
	}
	return a
}

func loading(a *Attempt) {
	a.Pods = []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "pod"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}}
}

func vanished(a *Attempt) {
	testutil.JobCondition(a.Job, batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded)
}

func jobGoing(a *Attempt) { a.Job.DeletionTimestamp = ptr.To(ago(time.Second)) }

func createdAgo(d time.Duration) func(*Attempt) {
	return func(a *Attempt) { a.Job.CreationTimestamp = ago(d) }
}

// judged is an attempt with that verdict.
func judged(a Attempt, v trial.Verdict) Attempt {
	a.Verdict = v
	return a
}

// held is the lane of a run that holds it.
func held(run *v1alpha1.BenchmarkRun) Lane { return Lane{Holder: ptr.To(HolderOf(run))} }

// heldByOther is the lane of a run that waits for another.
var heldByOther = Lane{
	Lease: "benchrun-system/default.lane.benchrun.dev", Holder: &Holder{Kind: RunKind, Namespace: "ns", Name: "other", UID: "other-uid"},
	Next: Holder{Kind: RunKind, Namespace: "a", Name: "earlier"},
}

// next decides what a run does in a situation. It holds its lane, unless the situation says something else about that, or it has
// finished.
func next(t *testing.T, run *v1alpha1.BenchmarkRun, seen *Observed, at time.Time) Decision {
	t.Helper()
	if seen.Lane.Lease == "" && !apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		seen.Lane = held(run)
	}
	seen.Judge(run)
	return Next(run, planOf(t, run), seen, at)
}

// endedRun puts a run at its end, an hour ago.
func endedRun(run *v1alpha1.BenchmarkRun, how string) {
	for _, t := range []string{v1alpha1.ConditionFinished, how} {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{
			Type: t, Status: metav1.ConditionTrue, Reason: how, LastTransitionTime: ago(time.Hour),
		})
	}
	run.Status.CompletionTime = ptr.To(ago(time.Hour))
}

// maxStatusBytes leaves half of what etcd takes to the specification.
const maxStatusBytes = 768 << 10

// FuzzStatus: whatever was recorded and observed of whatever run the API server has accepted, it accepts the status too. A status
// that it refuses is never written again.
func FuzzStatus(f *testing.F) {
	schema := testutil.MakeRunSchema(f)
	for i, spec := range append(specs(f), wide(strings.Repeat("ö", 31))) {
		if !testing.Short() || i%4 == 0 {
			f.Add(spec, []byte{byte(i)})
		}
	}
	f.Fuzz(func(t *testing.T, spec string, facts []byte) {
		run, refused := schema.Stored(t, runOf(spec))
		if refused != nil {
			return
		}
		for n := range 2 { // the second status is made from the first one
			seen := anything(append(facts, byte(n)), run)
			p, err := validation.PlanRun(run)
			if err != nil {
				seen.Terminal = Invalid(err)
			}
			old := run.DeepCopy()
			at := now.Add(time.Duration(n) * time.Second)
			seen.Judge(run)
			run.Status = Status(run, p, seen, Next(run, p, seen, at), at)
			if errs := schema.StatusErrors(t, old, run); len(errs) > 0 {
				t.Fatalf("the API server refuses the status: %.2000s", errs.ToAggregate())
			}
			text := must.Get(json.Marshal(run.Status))(t)
			if len(text) > maxStatusBytes {
				t.Fatalf("the status has %d bytes", len(text))
			}
			run.Status = stored(t, run.Status)
		}
	})
}

func runOf(spec string) []byte {
	return fmt.Appendf(nil, `{"apiVersion": "benchrun.dev/v1alpha1", "kind": "BenchmarkRun", "metadata": {"name": "run",
		"namespace": "ns", "uid": "01234567-89ab-cdef-0123-456789abcdef", "generation": 1}, "spec": %s}`, spec)
}

// specs are those of the samples.
func specs(f *testing.F) []string {
	f.Helper()
	var list []string
	for _, pattern := range []string{"*.yaml", "publications/*.yaml"} {
		files, err := filepath.Glob(filepath.Join("../../config/samples", pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("%d files like %s, %v", len(files), pattern, err)
		}
		for _, file := range files {
			text := must.Get(os.ReadFile(file))(f)
			for document := range strings.SplitSeq(string(text), "\n---\n") {
				var run struct {
					Kind string         `json:"kind"`
					Spec map[string]any `json:"spec"`
				}
				if err := yaml.Unmarshal([]byte(document), &run); err != nil {
					f.Fatalf("%s: %v", file, err)
				}
				if run.Kind != "BenchmarkRun" {
					continue
				}
				spec := must.Get(json.Marshal(run.Spec))(f)
				list = append(list, string(spec))
			}
		}
	}
	return list
}

// wide is the specification of a run that varies as many parameters as a run can, 64 times. Their names are as long as they may
// be; their values begin with that text.
func wide(value string) string {
	parameters, points := map[string]string{}, make([]map[string]map[string]string, 64)
	for i := range points {
		points[i] = map[string]map[string]string{"parameters": {}}
	}
	for n := range plan.MaxSwept {
		name := fmt.Sprintf("p%062d", n)
		parameters[name] = value + "A"
		for i := range points {
			points[i]["parameters"][name] = value + string(rune('A'+i))
		}
	}
	text, err := json.Marshal(map[string]any{"database": map[string]any{}, "workload": map[string]any{
		"type": "Custom", "custom": map[string]any{
			"image": "program", "command": []string{"program"}, "parameters": parameters, "points": points,
		},
	}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// noSides: a summary of sides that have sides, without end, is none.
func noSides(sides *[]result.SideSummary, _ randfill.Continue) { *sides = nil }

// anything is what may be observed of a run, by the bytes of facts: texts of any length and content, and any number.
func anything(facts []byte, run *v1alpha1.BenchmarkRun) *Observed {
	most := 20
	if flag.Lookup("test.fuzz").Value.String() != "" {
		most = 6 // the engine gives a call ten seconds, which lists of lists of lists take on a busy machine
	}
	fill := randfill.NewFromGoFuzz(facts).NilChance(0.2).NumElements(0, most).Funcs(anyText, anyNumber, anyInteger, noSides)
	trials := 0
	if p, err := plan.ForRun(&run.Spec); err == nil {
		trials = min(len(p.Trials), 100)
	}
	seen := new(Observed)
	var chance uint8
	for i := range trials {
		r := new(result.Record)
		fill.Fill(r)
		fill.Fill(&chance)
		r.Trial, r.Attempt = i+1, 1
		if chance%8 > 0 {
			r.Outcome = result.OutcomeAccepted
			if r.Summary == nil {
				r.Summary = new(result.Summary)
				fill.Fill(r.Summary)
			}
		} else if chance > 200 {
			r.Outcome = result.OutcomeFailed
		}
		seen.Records = append(seen.Records, r)
	}
	fill.Fill(&chance)
	if chance%2 == 0 {
		instance := instanceOf(1, "u")
		anyPod(fill, instance.Pod)
		seen.Instances = append(seen.Instances, instance)
	}
	if chance%4 < 3 {
		seen.Results = new(v1alpha1.ResultsReference)
		fill.Fill(seen.Results)
	}
	if chance%16 == 1 {
		seen.Terminal = &Failure{Reason: v1alpha1.ReasonRejected}
		fill.Fill(&seen.Terminal.Message)
	}
	if chance%16 == 2 {
		attempt := attemptOf(trials+1, 1)
		fill.Fill(&attempt.Warning)
		seen.Attempts = append(seen.Attempts, attempt)
	}
	return seen
}

// anyPod gives a database's Pod another node, another image, and another answer of its probe.
func anyPod(fill *randfill.Filler, pod *corev1.Pod) {
	var f result.Fingerprint
	fill.Fill(&f)
	f.Version = result.FingerprintVersion
	message, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	pod.Status.InitContainerStatuses[0].State.Terminated.Message = string(message)
	fill.Fill(&pod.Spec.NodeName)
	fill.Fill(&pod.Status.ContainerStatuses[0].ImageID)
}

// anyText is empty, blank, not valid UTF-8, or of a length beside one that the status has room for.
func anyText(s *string, c randfill.Continue) {
	alphabet := []string{"a", "ö", "\xff", "\x00", "<", "\n", " ", "\U0001f4a9"}
	lengths := []int{0, 1, 31, 32, 33, 64, 65, 128, 129, 253, 256, 257, 512, 513, 1025, 4097}
	*s = strings.Repeat(alphabet[c.Intn(len(alphabet))], lengths[c.Intn(len(lengths))])
}

// anyNumber is one that JSON can hold.
func anyNumber(v *float64, c randfill.Continue) {
	list := []float64{
		0, math.Copysign(0, -1), 1, -1, 1e40, -1e40, 1e-40, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
		c.Float64(), 1e6 * c.NormFloat64(),
	}
	*v = list[c.Intn(len(list))]
}

func anyInteger(v *int, c randfill.Continue) {
	list := []int{0, 1, -1, math.MaxInt32, math.MaxInt32 + 1, 1 << 32, math.MaxInt, math.MinInt, c.Int()}
	*v = list[c.Intn(len(list))]
}
