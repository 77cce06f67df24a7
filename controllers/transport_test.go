//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"bytes"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A result that does not leave its Pod whole is no result, whatever of it arrives.
func TestEnvtestResultsThatDoNotArriveWhole(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		log     func([]byte) []byte
		message func(string) string
		says    string
	}{
		"a line of the log is lost": {
			log: func(b []byte) []byte {
				lines := bytes.SplitAfter(b, []byte("\n"))
				return bytes.Join(append(lines[:1:1], lines[2:]...), nil)
			},
			says: "DocumentLost",
		},
		"the log is cut":   {log: func(b []byte) []byte { return b[:len(b)/2] }, says: "DocumentLost"},
		"the log is empty": {log: func([]byte) []byte { return nil }, says: "DocumentLost"},
		"a byte is another": {
			log: func(b []byte) []byte {
				changed := bytes.Clone(b)
				at := len(changed) / 2
				changed[at] = 'A' + (changed[at]-'A'+1)%26
				return changed
			},
			says: "DocumentLost",
		},
		"the checksum is another": {
			message: func(m string) string {
				before, after, _ := strings.Cut(m, `"documentSHA256":"`)
				return before + `"documentSHA256":"` + strings.Repeat("0", 64) + after[64:]
			},
			says: "DocumentLost",
		},
		"the termination message is garbage":   {message: func(string) string { return "\x00\xff Killed" }, says: "Silent: the loader exited with code 0 but left no result"},
		"the termination message is cut":       {message: func(m string) string { return m[:len(m)/2] }, says: "Silent"},
		"the termination message is not there": {message: func(string) string { return "" }, says: "Silent"},
		"the result is another Pod's": {
			message: func(m string) string {
				at := strings.Index(m, `"podUID":"`) + len(`"podUID":"`)
				return m[:at] + "another-" + m[at+8:]
			},
			says: "ForeignResult",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				c.succeed(job, pod)
				end := pod.Status.ContainerStatuses[0].State.Terminated
				end.FinishedAt = metav1.NewTime(c.clock.Now().Add(-time.Minute))
				if test.log != nil {
					c.logs[pod.Name] = test.log(c.logs[pod.Name])
				}
				if test.message != nil {
					end.Message = test.message(end.Message)
				}
			}
			c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Trials.MaxInvalid = ptr.To[int32](0)
			}).Obj())
			failed := c.patiently("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if condition.Reason != v1alpha1.ReasonTooManyInvalid || !strings.Contains(condition.Message, test.says) {
				t.Errorf("failed with %s: %s; want %s", condition.Reason, condition.Message, test.says)
			}
			if failed.Status.Headline != "" || len(failed.Status.Points) != 0 || *failed.Status.Trials.Measured != 0 {
				t.Errorf("there is a number: %+v", failed.Status)
			}
		})
	}
}

// A whole document that is not what this attempt was asked for is no result, although its Pod has left it.
func TestEnvtestDocumentsOfOtherAttempts(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*result.Document){
		"is of the run": func(d *result.Document) { d.Identity.RunUID = "another" },
		"is of trial 2": func(d *result.Document) { d.Identity.Trial = 2 },
		"attempt 7":     func(d *result.Document) { d.Identity.Attempt = 7 },
		"digest":        func(d *result.Document) { d.Config.Settings = nil },
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
				document := testutil.Document(pod.UID, 1, 1, 1000)
				document.Config, document.Identity.RunUID = *c.configOf(job), job.Labels[v1alpha1.LabelRunUID]
				change(document)
				c.write(job, pod, document)
			}
			c.apply(testutil.MakeRun("run", "").Repetitions(1).With(func(r *v1alpha1.BenchmarkRun) {
				r.Spec.Trials.MaxInvalid = ptr.To[int32](0)
			}).Obj())
			failed := c.patiently("run", v1alpha1.ConditionFailed)
			condition := apimeta.FindStatusCondition(failed.Status.Conditions, v1alpha1.ConditionFailed)
			if !strings.Contains(condition.Message, "ForeignResult") || !strings.Contains(condition.Message, says) {
				t.Errorf("failed with %s: %s", condition.Reason, condition.Message)
			}
		})
	}
}
