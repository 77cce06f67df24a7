// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil"
)

// finishedRun is a run of two points that is Complete, and the ConfigMaps that the operator has written for it. Its values are
// those of every such run, multiplied; change is what its documents have besides.
func finishedRun(t *testing.T, name string, factor float64, change ...func(*result.Document)) []client.Object {
	t.Helper()
	run := testutil.MakeRun(name, "bench").Repetitions(6).Obj()
	run.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: []v1alpha1.CommitSizeRowsPerCommit{1, 16}}
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var (
		objects []client.Object
		records []*result.Record
		newest  v1alpha1.RecordReference
	)
	for i, trial := range p.Trials {
		point := p.Points[trial.Point].Parameters
		value := factor * (1000 + 5*float64(i%5)) * map[string]float64{"1": 1, "16": 4}[point["rowsPerCommit"]]
		document := testutil.Document("pod", trial.Number, 1, value)
		document.Server.Variables = map[string]string{"port": "3306", "init_connect": "SET a\nSET b"}
		for _, f := range change {
			f(document)
		}
		encoded, err := result.EncodeDocument(document)
		if err != nil {
			t.Fatal(err)
		}
		record := testutil.Record(trial.Number, 1, point, value)
		record.Summary.DocumentSHA256 = encoded.SHA256
		if newest.ConfigMap != "" {
			record.Previous = ptr.To(result.Reference(newest))
		}
		text, err := record.Encode()
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
		cm := configMap(plan.AttemptName(run, trial.Number, 1), result.File{Name: result.RecordKey, Data: []byte(text)},
			result.File{Name: result.DocumentKey, Data: encoded.Gzip, Binary: true})
		objects = append(objects, cm)
		newest = v1alpha1.RecordReference{ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(text))}
	}
	run.Status.Records = newest
	run.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	run.Status.CompletionTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 9, 0, 0, time.UTC)}
	run.Status.Headline = "4040 rows/s at rowsPerCommit=16"
	run.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonComplete},
		{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonComplete},
	}
	rep, err := report.OfRun(run, p, records, v1alpha1.ConditionComplete)
	if err != nil {
		t.Fatal(err)
	}
	files, err := report.Files(rep)
	if err != nil {
		t.Fatal(err)
	}
	results := configMap(plan.ResultsName(run), files...)
	run.Status.Results = v1alpha1.ResultsReference{
		ConfigMap: results.Name, Digest: result.NamedDigest([]byte(results.Data[report.JSONFile])),
	}
	return append(objects, results, run)
}

// finishedComparison is a comparison of two variants and two rounds, with its runs.
func finishedComparison(t *testing.T, change ...func(*result.Document)) []client.Object {
	t.Helper()
	comparison := &v1alpha1.BenchmarkComparison{ObjectMeta: metav1.ObjectMeta{Name: "twice", Namespace: "bench", UID: "comparison"}}
	rep := &report.Comparison{
		Name: "twice", Namespace: "bench", UID: "comparison", Spec: json.RawMessage(`{}`),
		Variants: []report.ComparisonVariant{{Name: "one", Baseline: true}, {Name: "other"}},
		Pairs:    []stats.Paired{{Variant: "other", Baseline: "one", Parameters: map[string]string{"rowsPerCommit": "1"}}},
	}
	var objects []client.Object
	for round := 1; round <= 2; round++ {
		for _, variant := range []string{"one", "other"} {
			members := finishedRun(t, fmt.Sprintf("twice-r%d-%s", round, variant), 1, change...)
			objects = append(objects, members...)
			run, _ := members[len(members)-1].(*v1alpha1.BenchmarkRun)
			rep.Runs = append(rep.Runs, report.ComparisonRun{
				Name: run.Name, Round: round, Variant: variant, Outcome: v1alpha1.ConditionComplete, Results: run.Status.Results.Digest,
			})
		}
	}
	files, err := report.ComparisonFiles(rep)
	if err != nil {
		t.Fatal(err)
	}
	results := configMap(plan.ComparisonResultsName(comparison), files...)
	comparison.Status.Results = v1alpha1.ResultsReference{
		ConfigMap: results.Name, Digest: result.NamedDigest([]byte(results.Data[report.JSONFile])),
	}
	comparison.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	comparison.Status.CompletionTime = &metav1.Time{Time: time.Date(2026, 1, 2, 3, 9, 0, 0, time.UTC)}
	comparison.Status.Answer = "one and other are equal within 5%"
	return append(objects, results, comparison)
}

func configMap(name string, files ...result.File) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "bench"}, Data: map[string]string{}, BinaryData: map[string][]byte{},
	}
	for _, f := range files {
		if f.Binary {
			cm.BinaryData[f.Name] = f.Data
		} else {
			cm.Data[f.Name] = string(f.Data)
		}
	}
	return cm
}

// clusterWith is a cluster that has these objects.
func clusterWith(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(scheme()).WithObjects(objects...).Build()
}
