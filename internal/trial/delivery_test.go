// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// deliver a document.
func deliver(t *testing.T, doc *result.Document) *trial.Delivery {
	t.Helper()
	encoded := must.Get(result.EncodeDocument(doc))(t)
	d := must.Get(trial.Deliver(doc, encoded))(t)
	return d
}

// A loader that runs has ended as soon as its document is whole. Whatever the cluster says of its end comes first.
func TestJudgeDelivered(t *testing.T) {
	runs := loader(phase(corev1.PodRunning))
	cases := map[string]struct {
		job     *batchv1.Job
		pods    []corev1.Pod
		stage   trial.Stage
		outcome result.Outcome
		cause   result.Cause
	}{
		"it runs":          {jobWith(), []corev1.Pod{runs}, trial.StageEnded, result.OutcomeAccepted, ""},
		"it has ended":     {jobWith(), []corev1.Pod{loader(left(0, message("pod", "")))}, trial.StageEnded, result.OutcomeAccepted, ""},
		"it has failed":    {jobWith(), []corev1.Pod{loader(left(1, ""))}, trial.StageRunning, "", ""},
		"its Job, too":     {failedJob, []corev1.Pod{loader(left(1, ""))}, trial.StageEnded, result.OutcomeInvalidated, result.CauseSilent},
		"it is deleted":    {jobWith(), []corev1.Pod{loader(phase(corev1.PodRunning), beingDeleted)}, trial.StageRunning, "", ""},
		"another runs":     {jobWith(), []corev1.Pod{runs, runs}, trial.StageRunning, "", ""},
		"of another Pod":   {jobWith(), []corev1.Pod{loader(phase(corev1.PodRunning), uid("other"))}, trial.StageEnded, result.OutcomeInvalidated, result.CauseForeignResult},
		"it does not run":  {jobWith(), []corev1.Pod{loader(phase(corev1.PodPending))}, trial.StagePending, "", ""},
		"no Pod":           {jobWith(), nil, trial.StagePending, "", ""},
		"others load, too": {jobOfThree(), []corev1.Pod{runs}, trial.StagePending, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := trial.Judge(tc.job, tc.pods, deliver(t, testutil.Document("pod", 1, 1, 1000)))
			if got.Stage != tc.stage || got.Outcome != tc.outcome || got.Cause != tc.cause {
				t.Errorf("verdict is %+v", got)
			}
		})
	}
}

func uid(uid types.UID) podChange { return func(p *corev1.Pod) { p.UID = uid } }

// What is read from the log is what the termination message says, word for word: a record does not tell which came first.
func TestDeliveryIsTheTerminationMessage(t *testing.T) {
	doc := testutil.Document("pod", 1, 1, 1000)
	for i := range doc.Latencies {
		doc.Latencies[i].Histogram = "left out of messages"
	}
	doc.Inputs = []result.Input{{Name: "all.csv", SHA256: "feed"}}
	d := deliver(t, doc)
	left := must.Get(result.EncodeSummary(doc.Summarize(d.Document)))(t)
	said := must.Get(result.DecodeSummary(string(left)))(t)
	must.Same(t, "summary", said, d.Summary)
}

// Only a loader that starts no other program ends an attempt by its log: one that does may not be the only one that has written it.
func TestLoadersThatStartPrograms(t *testing.T) {
	want := map[string]bool{
		"BulkInsert": false, "CommitSize": false, "IIBench": false, "TPROCHLoad": false, "Custom": true, "Sysbench": true,
	}
	got := map[string]bool{}
	for kind := range maps.Keys(want) {
		run := testutil.MakeRun("run", "ns").Obj()
		run.Spec.Workload.Type = v1alpha1.WorkloadType(kind)
		got[kind] = trial.StartsPrograms(run)
	}
	must.Same(t, "", want, got)
}

// Whatever of a document is another attempt's, it is none of this one.
func TestDocumentsOfOtherAttemptsDiffer(t *testing.T) {
	g := goldenJobs()["external"]
	attempt := job(t, g)
	config := must.Get(trial.Config(g.run, g.attempt))(t)
	written := func() *result.Document {
		doc := testutil.Document("pod", config.Trial, config.Attempt, 1000)
		doc.Identity.RunUID, doc.Config = string(g.run.UID), *config
		encoded := must.Get(result.EncodeDocument(doc))(t)
		read := must.Get(result.DecodeDocument(encoded.Gzip))(t)
		return read
	}
	if d := trial.Differs(written(), attempt); d != "" {
		t.Fatal(d)
	}
	for name, change := range map[string]func(*result.Document){
		"run":     func(d *result.Document) { d.Identity.RunUID = "x" },
		"trial":   func(d *result.Document) { d.Identity.Trial++ },
		"attempt": func(d *result.Document) { d.Identity.Attempt++ },
		"sides":   func(d *result.Document) { d.Sides = []result.SideDocument{{Variant: "lazy"}} },
	} {
		doc := written()
		if change(doc); trial.Differs(doc, attempt) == "" {
			t.Errorf("%s: it does not differ", name)
		}
	}
	fields := reflect.TypeFor[result.Config]()
	for i := range fields.NumField() {
		if fields.Field(i).Tag.Get("json") == "-" {
			continue
		}
		doc := written()
		alter(reflect.ValueOf(&doc.Config).Elem().Field(i))
		if d := trial.Differs(doc, attempt); !strings.Contains(d, "digest") {
			t.Errorf("%s: %q", fields.Field(i).Name, d)
		}
	}
}

// alter gives a field another value.
func alter(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		alter(v.Elem())
	case reflect.Struct:
		alter(v.Field(0))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"x": "y"}))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1))
	default:
		panic(v.Kind())
	}
}

var ended = time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC)

// message is the termination message of a loader in the Pod with that UID: of a failure, if there is a reason.
func message(podUID types.UID, reason result.Cause) string {
	summary := testutil.Document(podUID, 1, 1, 1000).Summarize(result.EncodedDocument{SHA256: "feed", Gzip: []byte("gzip")})
	if reason != "" {
		summary = result.Summary{
			Version: result.DocumentVersion, Identity: summary.Identity,
			Failure: &result.Failure{Reason: reason, Message: "the loader says so"},
		}
	}
	data, err := result.EncodeSummary(summary)
	if err != nil {
		panic(err)
	}
	return string(data)
}

type podChange func(*corev1.Pod)

func loader(changes ...podChange) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "run-t1-a1-0-x", UID: "pod"}}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func left(exitCode int32, message string) podChange {
	return func(p *corev1.Pod) { testutil.EndedLoaderPod(p, exitCode, message, ended) }
}

func leftFailure(reason result.Cause) podChange { return left(1, message("pod", reason)) }

func phase(phase corev1.PodPhase) podChange { return func(p *corev1.Pod) { p.Status.Phase = phase } }

func beingDeleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: ended} }

func outOfMemory(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled" }

func disrupted(status corev1.ConditionStatus) podChange {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: status, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		})
	}
}

func jobWith(conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{
		Spec: batchv1.JobSpec{ActiveDeadlineSeconds: ptr.To[int64](600)}, Status: batchv1.JobStatus{Conditions: conditions},
	}
}

func condition(t batchv1.JobConditionType, reason string) batchv1.JobCondition {
	return batchv1.JobCondition{Type: t, Status: corev1.ConditionTrue, Reason: reason}
}

var (
	failedJob  = jobWith(condition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded))
	evictedJob = jobWith(batchv1.JobCondition{
		Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: batchv1.JobReasonPodFailurePolicy,
		Message: "Pod ns/x has condition DisruptionTarget matching FailJob rule at index 0",
	})
	succeededJob = jobWith(condition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached))
)

func TestJudgeBeforeTheEnd(t *testing.T) {
	waiting := func(reason, message string) podChange {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: trial.Container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			}}
		}
	}
	unschedulable := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes"}}
	}
	notYet := jobWith(batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionFalse})
	cases := map[string]struct {
		job     *batchv1.Job
		pods    []corev1.Pod
		stage   trial.Stage
		waiting string
	}{
		"no Pod":         {jobWith(), nil, trial.StagePending, "the loader's Pod is being created"},
		"unschedulable":  {jobWith(), []corev1.Pod{loader(phase(corev1.PodPending), unschedulable)}, trial.StagePending, "the loader's Pod cannot be scheduled: 0/3 nodes"},
		"no image":       {jobWith(), []corev1.Pod{loader(phase(corev1.PodPending), waiting("ErrImagePull", "not found"))}, trial.StagePending, "container loader is waiting: ErrImagePull: not found"},
		"no message":     {jobWith(), []corev1.Pod{loader(phase(corev1.PodPending), waiting("ErrImagePull", ""))}, trial.StagePending, "container loader is waiting: ErrImagePull"},
		"being created":  {jobWith(), []corev1.Pod{loader(phase(corev1.PodPending), waiting("ContainerCreating", ""))}, trial.StagePending, "the loader's Pod is starting"},
		"running":        {jobWith(), []corev1.Pod{loader(phase(corev1.PodRunning))}, trial.StageRunning, ""},
		"node is lost":   {jobWith(), []corev1.Pod{loader(phase(corev1.PodUnknown))}, trial.StageRunning, ""},
		"Pod has failed": {jobWith(), []corev1.Pod{loader(left(1, message("pod", "")))}, trial.StageRunning, ""},
		"two have ended": {jobWith(), []corev1.Pod{loader(left(0, message("pod", ""))), loader(left(0, message("pod", "")))}, trial.StageRunning, ""},
		"being told to stop, for the deadline": {
			jobWith(condition(batchv1.JobFailureTarget, batchv1.JobReasonDeadlineExceeded)),
			[]corev1.Pod{loader(phase(corev1.PodRunning), beingDeleted)},
			trial.StageRunning, "",
		},
		"a false end":     {notYet, []corev1.Pod{loader(phase(corev1.PodRunning))}, trial.StageRunning, ""},
		"being suspended": {jobWith(condition(batchv1.JobSuspended, "")), nil, trial.StagePending, "the loader's Pod is being created"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := trial.Judge(tc.job, tc.pods, nil)
			if got.Stage != tc.stage || got.Waiting != tc.waiting || got.Outcome != "" || got.Cause != "" {
				t.Errorf("verdict is %+v", got)
			}
			must.Same(t, fmt.Sprintf("Pod is %v", got.Pod), len(tc.pods) > 0, got.Pod != nil)
		})
	}
}

// verdict is what is compared of a Verdict of an ended attempt.
type verdict struct {
	Outcome    result.Outcome
	Cause      result.Cause
	Message    string
	HasSummary bool
}

func judged(v trial.Verdict) verdict {
	return verdict{v.Outcome, v.Cause, v.Message, v.Summary != nil}
}

func invalid(cause result.Cause, message string) verdict {
	return verdict{Outcome: result.OutcomeInvalidated, Cause: cause, Message: message}
}

type judgement struct {
	job  *batchv1.Job
	pods []corev1.Pod
	want verdict
}

func checkJudgements(t *testing.T, cases map[string]judgement) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Helper()
			got := trial.Judge(tc.job, tc.pods, nil)
			must.Same(t, "stage", trial.StageEnded, got.Stage)
			must.Same(t, "verdict", tc.want, judged(got))
		})
	}
}

func TestJudgeSuccess(t *testing.T) {
	good := loader(left(0, message("pod", "")))
	accepted := verdict{Outcome: result.OutcomeAccepted, HasSummary: true}
	foreign := invalid(result.CauseForeignResult, "the result belongs to another Pod")
	foreign.HasSummary = true
	contradiction := invalid(result.CauseSilent, "the loader exited with code 0 but reports a failure: the loader says so")
	contradiction.HasSummary = true
	checkJudgements(t, map[string]judgement{
		"accepted":           {succeededJob, []corev1.Pod{good}, accepted},
		"accepted, complete": {jobWith(condition(batchv1.JobComplete, "")), []corev1.Pod{good}, accepted},
		"no Pod":             {succeededJob, nil, invalid(result.CausePodDeleted, "the loader's Pod is gone, and so is its result")},
		"two Pods":           {succeededJob, []corev1.Pod{good, loader()}, invalid(result.CauseStartedTwice, "2 Pods ran for one attempt")},
		"being deleted": {
			succeededJob,
			[]corev1.Pod{loader(left(0, message("pod", "")), beingDeleted)},
			invalid(result.CausePodDeleted, "the loader's Pod was being deleted"),
		},
		"no message": {
			succeededJob,
			[]corev1.Pod{loader(left(0, ""))},
			invalid(result.CauseSilent, "the loader exited with code 0 but left no result: the termination message holds no summary"),
		},
		"no container status": {
			succeededJob,
			[]corev1.Pod{loader(phase(corev1.PodSucceeded))},
			invalid(result.CauseSilent, "the loader exited with code 0 but left no result: the termination message holds no summary"),
		},
		"garbage": {
			succeededJob,
			[]corev1.Pod{loader(left(0, `{"rowsPerSecond": 1e9}`))},
			invalid(result.CauseSilent, "the loader exited with code 0 but left no result: the termination message holds no summary"),
		},
		"exit code 0 with a failure": {succeededJob, []corev1.Pod{loader(left(0, message("pod", result.CauseSQL)))}, contradiction},
		"another Pod's result":       {succeededJob, []corev1.Pod{loader(left(0, message("stranger", "")))}, foreign},
	})
}

// A loader that did not end by itself has not written its termination message last: a program may have.
func TestMessagesOfKilledLoadersDoNotCount(t *testing.T) {
	for code, counts := range map[int32]bool{1: true, 2: false, 3: false, 134: false, 137: false, 143: false, 255: false} {
		for reason, outcome := range map[result.Cause]result.Outcome{
			result.CauseInterrupted: result.CauseInterrupted.Outcome(), result.CauseConnectionLost: result.CauseConnectionLost.Outcome(),
			result.CauseToolFailed: result.CauseToolFailed.Outcome(), "": "",
		} {
			v := trial.Judge(failedJob, []corev1.Pod{loader(left(code, message("pod", reason)))}, nil)
			if took := v.Summary != nil; took != (counts && reason != "") || took && v.Outcome != outcome {
				t.Errorf("exit code %d, %q: %+v", code, reason, v)
			}
		}
	}
}

// The end of a single Pod's loader decides, without waiting for the kubelet and the Job's controller.
func TestJudgeSingleSucceededPod(t *testing.T) {
	v := trial.Judge(jobWith(), []corev1.Pod{loader(left(0, message("pod", "")))}, nil)
	if v.Stage != trial.StageEnded || v.Outcome != result.OutcomeAccepted || v.Summary == nil {
		t.Errorf("verdict is %s, %s: %s", v.Stage, v.Outcome, v.Message)
	}
	several := jobWith()
	several.Spec.Completions = ptr.To[int32](2)
	if v := trial.Judge(several, []corev1.Pod{loader(left(0, message("pod", "")))}, nil); v.Stage == trial.StageEnded {
		t.Errorf("the first of two Pods decides: %s", v.Stage)
	}
}

// of makes a Pod one of several.
func of(index int) podChange {
	return func(p *corev1.Pod) {
		p.UID = types.UID(fmt.Sprintf("pod-%d", index))
		p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)}
	}
}

// reporting is a Pod whose loader ended with a summary of its own.
func reporting(index int, change func(*result.Summary)) corev1.Pod {
	uid := types.UID(fmt.Sprintf("pod-%d", index))
	summary := result.Summary{Version: result.DocumentVersion, Identity: result.Identity{PodUID: string(uid), Pod: index}}
	if index == 0 {
		summary.DocumentSHA256 = "feed"
	} else {
		summary.Delivered = true
	}
	change(&summary)
	exitCode := int32(0)
	if summary.Failure != nil {
		exitCode = 1
	}
	data, err := result.EncodeSummary(summary)
	if err != nil {
		panic(err)
	}
	return loader(of(index), func(p *corev1.Pod) { testutil.EndedLoaderPod(p, exitCode, string(data), ended) })
}

func well(index int) corev1.Pod { return reporting(index, func(*result.Summary) {}) }

func failing(index int, reason result.Cause, later time.Duration) corev1.Pod {
	p := reporting(index, func(s *result.Summary) {
		s.DocumentSHA256, s.Delivered = "", false
		s.Failure = &result.Failure{Reason: reason, Message: "it says so"}
	})
	p.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time = ended.Add(later)
	return p
}

func jobOfThree(conditions ...batchv1.JobCondition) *batchv1.Job {
	job := jobWith(conditions...)
	job.Spec.Completions = ptr.To[int32](3)
	return job
}

func TestJudgeSeveralLoaders(t *testing.T) {
	three := []corev1.Pod{well(2), well(0), well(1)}
	accepted := verdict{Outcome: result.OutcomeAccepted, HasSummary: true}
	withSummary := func(v verdict) verdict {
		v.HasSummary = true
		return v
	}
	succeeded := jobOfThree(condition(batchv1.JobSuccessCriteriaMet, ""))
	failedJobOfThree := jobOfThree(condition(batchv1.JobFailureTarget, batchv1.JobReasonBackoffLimitExceeded))
	checkJudgements(t, map[string]judgement{
		"all ended well":       {jobOfThree(), three, accepted},
		"and the Job says so":  {succeeded, three, accepted},
		"one is gone":          {succeeded, three[:2], invalid(result.CausePodDeleted, "the loaders' Pod 1 is gone, and so is its result")},
		"who leads is gone":    {succeeded, []corev1.Pod{well(1), well(2)}, invalid(result.CausePodDeleted, "the loaders' Pod 0 is gone, and so is its result")},
		"an index twice":       {succeeded, append([]corev1.Pod{well(1)}, three...), invalid(result.CauseStartedTwice, "4 Pods ran for one attempt")},
		"one did not deliver":  {succeeded, []corev1.Pod{well(0), well(1), reporting(2, func(s *result.Summary) { s.Delivered, s.DocumentSHA256 = false, "beef" })}, withSummary(invalid(result.CauseSilent, "the loader of Pod 2 exited with code 0 but left no result"))},
		"one said nothing":     {succeeded, []corev1.Pod{well(0), loader(of(1), left(0, "")), well(2)}, withSummary(invalid(result.CauseSilent, "the loader of Pod 1 exited with code 0 but left no result: the termination message holds no summary"))},
		"in another's name":    {succeeded, []corev1.Pod{well(0), well(1), reporting(2, func(s *result.Summary) { s.Identity.Pod = 1 })}, withSummary(invalid(result.CauseForeignResult, "the result belongs to another Pod"))},
		"told to stop is none": {failedJobOfThree, []corev1.Pod{failing(0, result.CauseInterrupted, -time.Second), failing(1, result.CauseConnectionLost, time.Second), well(2)}, withSummary(invalid(result.CauseConnectionLost, "Pod 1: it says so"))},
		"the first that failed": {
			failedJobOfThree,
			[]corev1.Pod{failing(0, result.CauseConnectionLost, time.Second), failing(1, result.CauseServerRestarted, 0), well(2)},
			withSummary(invalid(result.CauseServerRestarted, "Pod 1: it says so")),
		},
		"one was deleted": {
			failedJobOfThree,
			[]corev1.Pod{failing(0, result.CauseInterrupted, 0), failing(2, result.CauseInterrupted, 0)},
			invalid(result.CausePodDeleted, "the loaders' Pod 1 was deleted"),
		},
		"one did not come": {
			failedJobOfThree,
			[]corev1.Pod{failing(0, result.CauseBarrierTimeout, 0), failing(1, result.CauseInterrupted, 0)},
			withSummary(verdict{Outcome: result.OutcomeFailed, Cause: result.CauseBarrierTimeout, Message: "Pod 0: it says so"}),
		},
	})
}

func TestJudgeSeveralLoadersBeforeTheEnd(t *testing.T) {
	running := func(index int) corev1.Pod { return loader(of(index), phase(corev1.PodRunning)) }
	unschedulable := loader(of(1), phase(corev1.PodPending), func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes"}}
	})
	for name, tc := range map[string]struct {
		pods    []corev1.Pod
		stage   trial.Stage
		running int
		waiting string
	}{
		"one is not made":   {[]corev1.Pod{running(0), running(2)}, trial.StagePending, 2, "2 of 3 loaders are running; Pod 1 is being created"},
		"all run":           {[]corev1.Pod{running(0), running(1), running(2)}, trial.StageRunning, 0, ""},
		"one has delivered": {[]corev1.Pod{running(0), well(1), running(2)}, trial.StageRunning, 0, ""},
		"one waits": {
			[]corev1.Pod{running(0), unschedulable, running(2)},
			trial.StagePending, 2,
			"2 of 3 loaders are running; Pod 1 is not: the loader's Pod cannot be scheduled: 0/3 nodes",
		},
		"none runs": {
			[]corev1.Pod{unschedulable},
			trial.StagePending, 0,
			"0 of 3 loaders are running; Pod 1 is not: the loader's Pod cannot be scheduled: 0/3 nodes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := trial.Judge(jobOfThree(), tc.pods, nil)
			if v.Stage != tc.stage || v.Running != tc.running || v.Waiting != tc.waiting {
				t.Errorf("verdict %+v", v)
			}
		})
	}
	// A Pod that is gone was made: its Job knows of three, or of an end.
	for _, status := range []batchv1.JobStatus{{Active: 3}, {Active: 2, Failed: 1}} {
		job := jobOfThree()
		job.Status.Active, job.Status.Failed = status.Active, status.Failed
		v := trial.Judge(job, []corev1.Pod{running(0), running(2)}, nil)
		must.Same(t, fmt.Sprintf("%+v: stage", status), trial.StageRunning, v.Stage)
	}
}
