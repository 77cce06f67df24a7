// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// recorded is the ConfigMap of an attempt, with what a program has printed.
func recorded(t *testing.T, trial, attempt int, outcome result.Outcome, cause result.Cause) *corev1.ConfigMap {
	t.Helper()
	document, err := result.EncodeDocument(&result.Document{
		Version: result.DocumentVersion, ToolOutput: map[string]string{"measure": "queries: 7\n", "cleanup": "gone"},
		Tool: &result.ToolFacts{Name: "sysbench", Commands: []result.ToolCommand{{Phase: "measure"}, {Phase: "cleanup"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	record := &result.Record{
		Version: result.RecordVersion, Trial: trial, Attempt: attempt, Outcome: outcome, Cause: cause, Recorded: began,
		Parameters: map[string]string{"rowsPerCommit": "16"},
	}
	if cause != "" {
		record.Message = "evicted because of memory"
	} else {
		record.Summary = &result.Summary{
			Version: result.DocumentVersion, Metrics: []result.Metric{{Name: "rowsPerSecond", Value: 11840, Unit: "rows/s"}}, Findings: []finding.Finding{finding.OfProgram("short")},
		}
	}
	text, err := record.Encode()
	if err != nil {
		t.Fatal(err)
	}
	run := testutil.MakeRun("sizes", "ns").Obj()
	labels := plan.Labels(run, v1alpha1.ComponentAttempt)
	labels[v1alpha1.LabelOutcome] = string(outcome)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: plan.AttemptName(run, trial, attempt), Namespace: "ns", Labels: labels},
		Data:       map[string]string{result.RecordKey: text}, BinaryData: map[string][]byte{result.DocumentKey: document.Gzip},
	}
}

func TestLogs(t *testing.T) {
	run := measuring()
	first, second := loaderPod("sizes-t8-a1-0-x"), loaderPod("sizes-t8-a2-0-x")
	second.Labels[v1alpha1.LabelAttempt] = "2"
	server := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "sizes-db1-0", Namespace: "ns", Labels: plan.DatabaseLabels(run)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "observer"}, {Name: "server"}}},
	}
	var document bytes.Buffer
	if err := result.WriteDocument(&document, result.EncodedDocument{Gzip: []byte("x"), SHA256: "00"}); err != nil {
		t.Fatal(err)
	}
	const progressed = `{"kind":"benchrun-progress","seconds":1,"phase":"measure","rows":1000}` + "\n"
	from := fakeLogs{texts: map[string]string{
		first.Name: progressed + "first\n" + document.String() + "the end", second.Name: "second\n", server.Name: "ready for connections\n",
	}}
	objects := []client.Object{
		run, first, second, server, recorded(t, 3, 1, result.OutcomeInvalidated, result.CauseEvicted), recorded(t, 3, 2, result.OutcomeAccepted, ""),
	}
	for name, tc := range map[string]struct {
		of         logRequest
		want, says string
	}{
		"the newest attempt": {logRequest{trial: 8}, "second\n", ""},
		"an earlier one":     {logRequest{trial: 8, attempt: 1}, "   1 s: measure, 1000 rows\nfirst\nthe end", ""},
		"the database":       {logRequest{database: true}, "ready for connections\n", ""},
		"not begun":          {logRequest{trial: 9}, "", "trial 9 of sizes has no Pod and no record: it has not started or does not exist (7/33 trials so far)"},
		"no such attempt":    {logRequest{trial: 3, attempt: 3}, "", "trial 3, attempt 3, of sizes has no Pod"},
		"the record":         {logRequest{trial: 3}, recordOfSecond, ""},
		"an invalidated one": {logRequest{trial: 3, attempt: 1}, recordOfFirst, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := tc.of.print(t.Context(), fakeCluster(objects...), from, runSubject{run}, &out)
			if out.String() != tc.want {
				t.Errorf("%q\nwant\n%q", out.String(), tc.want)
			}
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v does not say %q", err, tc.says)
			}
		})
	}
}

const recordOfSecond = "The Pod is gone. Trial 3, attempt 2 (rowsPerCommit=16): Accepted, recorded 2026-01-02 03:04:05 UTC.\n" +
	"rowsPerSecond: 11840 rows/s\nwarning: short\n\n--- what the program printed, measure ---\nqueries: 7\n\n--- what the program printed, cleanup ---\ngone\n"

const recordOfFirst = "The Pod is gone. Trial 3, attempt 1 (rowsPerCommit=16): Invalidated, recorded 2026-01-02 03:04:05 UTC.\n" +
	"Evicted: evicted because of memory\nThe loader's Pod was evicted or preempted, or its node was drained. " +
	"What to do: use nodes that are not drained while they measure.\n\n--- what the program printed, measure ---\nqueries: 7\n\n--- what the program printed, cleanup ---\ngone\n"

// TestLogsForbidden: without permission the error says so, whatever the record has.
func TestLogsForbidden(t *testing.T) {
	run := measuring()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods/log"}, "x", errors.New("no"))
	cl := fakeCluster(run, loaderPod("sizes-t8-a1-0-x"), recorded(t, 8, 1, result.OutcomeAccepted, ""))
	if err := (logRequest{trial: 8}).print(t.Context(), cl, fakeLogs{err: forbidden}, runSubject{run}, new(bytes.Buffer)); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
	// The Pod vanishes between two answers of the API server.
	var out bytes.Buffer
	if err := (logRequest{trial: 8}).print(t.Context(), cl, fakeLogs{}, runSubject{run}, &out); err != nil || !strings.HasPrefix(out.String(), "The Pod is gone.") {
		t.Error(err, out.String())
	}
	comparison := testutil.MakeComparison("pair", "ns", "a", "b").Obj()
	if err := (logRequest{trial: 8}).print(t.Context(), cl, fakeLogs{}, comparisonSubject{comparison}, &out); err == nil ||
		!strings.Contains(err.Error(), "kubectl get brun -l benchrun.dev/comparison=pair") {
		t.Error(err)
	}
	if err := (logRequest{database: true}).print(t.Context(), cl, fakeLogs{}, runSubject{run}, &out); err == nil ||
		!strings.Contains(err.Error(), "sizes has no database now") {
		t.Error(err)
	}
}
