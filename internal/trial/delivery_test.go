// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package trial_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// deliver a document.
func deliver(t *testing.T, doc *result.Document) *trial.Delivery {
	t.Helper()
	encoded, err := result.EncodeDocument(doc)
	if err != nil {
		t.Fatal(err)
	}
	d, err := trial.Deliver(doc, encoded)
	if err != nil {
		t.Fatal(err)
	}
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
	left, err := result.EncodeSummary(doc.Summarize(d.Document))
	if err != nil {
		t.Fatal(err)
	}
	said, err := result.DecodeSummary(string(left))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(said, d.Summary); diff != "" {
		t.Error(diff)
	}
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever of a document is another attempt's, it is none of this one.
func TestDocumentsOfOtherAttemptsDiffer(t *testing.T) {
	g := goldenJobs()["external"]
	attempt := job(t, g)
	config, err := trial.Config(g.run, g.attempt)
	if err != nil {
		t.Fatal(err)
	}
	written := func() *result.Document {
		doc := testutil.Document("pod", config.Trial, config.Attempt, 1000)
		doc.Identity.RunUID, doc.Config = string(g.run.UID), *config
		encoded, err := result.EncodeDocument(doc)
		if err != nil {
			t.Fatal(err)
		}
		read, err := result.DecodeDocument(encoded.Gzip)
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	if d := trial.Differs(written(), attempt); d != "" {
		t.Fatal(d)
	}
	for name, change := range map[string]func(*result.Document){
		"run":     func(d *result.Document) { d.Identity.RunUID = "x" },
		"trial":   func(d *result.Document) { d.Identity.Trial++ },
		"attempt": func(d *result.Document) { d.Identity.Attempt++ },
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
