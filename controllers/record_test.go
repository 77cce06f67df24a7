//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// A termination message has no room for all of these warnings, settings and latencies. The record has them from the document,
// the results have them from the record, and the status has as many as it may hold.
func TestEnvtestRecordIsCompletedFromTheDocument(t *testing.T) {
	const warnings = 40
	var want []string
	var findings []finding.Finding
	for i := range warnings {
		want = append(want, fmt.Sprintf("warning %02d: %s", i, strings.Repeat("x", 400)))
		findings = append(findings, finding.OfProgram(want[i]))
	}
	c := newCluster(t)
	c.loader = func(job *batchv1.Job, pod *corev1.Pod) {
		document := testutil.Document(pod.UID, 1, 1, 1000)
		document.Findings = findings
		document.Server.Settings = []result.AppliedSetting{{Name: strings.Repeat("s", 4000), Outcome: result.SettingAdjusted}}
		document.Inputs = []result.Input{{Name: strings.Repeat("i", 4000), SHA256: "feed"}}
		document.Latencies = append(document.Latencies, result.Latency{Operation: strings.Repeat("l", 4000), Count: 1})
		c.leave(job, pod, document)
		left, err := result.DecodeSummary(pod.Status.ContainerStatuses[0].State.Terminated.Message)
		c.must(err)
		if len(left.Findings)+len(left.Adjusted)+len(left.Inputs)+len(left.Latencies) != 0 {
			t.Errorf("the termination message has room for more than was thought: %+v", left)
		}
	}
	c.apply(testutil.MakeRun("run", "").Repetitions(1).Obj())
	run := c.until("run", v1alpha1.ConditionComplete)

	var attempt, results corev1.ConfigMap
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-t1-a1"}, &attempt))
	c.must(api.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "run-results"}, &results))
	record, err := result.DecodeRecord(attempt.Data[result.RecordKey])
	c.must(err)
	if diff := cmp.Diff(findings, record.Summary.Findings); diff != "" {
		t.Errorf("findings of the record (-want +got):\n%s", diff)
	}
	if s := record.Summary; len(s.Adjusted) != 1 || len(s.Inputs) != 1 || len(s.Latencies) != 2 {
		t.Errorf("the record has %d adjusted settings, %d inputs and %d latencies", len(s.Adjusted), len(s.Inputs), len(s.Latencies))
	}
	for _, w := range want {
		if !strings.Contains(results.Data["summary.md"], "- "+w+"\n") {
			t.Errorf("summary.md lacks %.10s", w)
		}
	}
	if diff := cmp.Diff(append(want[:15:15], "more warnings: 25, see the results"), run.Status.Points[0].Warnings); diff != "" {
		t.Errorf("warnings of the status (-want +got):\n%s", diff)
	}
}
