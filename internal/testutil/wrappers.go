// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testutil makes objects for tests: runs as the API server stores them, and Jobs and Pods as the cluster leaves
// them.
package testutil

import (
	"math"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// SelectedText is a value of a parameter in a claim.
func SelectedText(value string) v1alpha1.SelectedValue {
	return v1alpha1.SelectedValue(intstr.FromString(value))
}

// AtRows selects the points with so many rows per commit.
func AtRows(value string) v1alpha1.PointSelector {
	return v1alpha1.PointSelector{Parameters: map[string]v1alpha1.SelectedValue{"rowsPerCommit": SelectedText(value)}}
}

// RunWrapper builds a BenchmarkRun.
type RunWrapper struct{ run v1alpha1.BenchmarkRun }

// What MakeRun asks for.
const (
	minimalSpec = `{
  database: {
    image: "mariadb:11.8", storage: {},
    settings: {bufferPoolSize: 128Mi, redoLogSize: 96Mi, flushLogAtTrxCommit: 1, binaryLog: false}
  },
  workload: {type: CommitSize, commitSize: {rows: 100}}
}`
	minimalRun = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {uid: 01234567-89ab-cdef-0123-456789abcdef, generation: 1}
spec: ` + minimalSpec
)

var storedRun = sync.OnceValue(func() *v1alpha1.BenchmarkRun { return stored(minimalRun) })

// MakeRun is a CommitSize run of 100 rows at one point, with the API server's defaults.
func MakeRun(name, namespace string) *RunWrapper {
	run := storedRun().DeepCopy()
	run.Name, run.Namespace = name, namespace
	return &RunWrapper{*run}
}

// MakeVariants is the run of MakeRun, one server at a time, with variants of these names that change nothing.
func MakeVariants(name, namespace string, variants ...string) *RunWrapper {
	w := MakeRun(name, namespace)
	w.run.Spec.Alternation, w.run.Spec.Rounds = v1alpha1.AlternateRuns, ptr.To(plan.Rounds(&w.run.Spec))
	for _, v := range variants {
		w.run.Spec.Variants = append(w.run.Spec.Variants, v1alpha1.Variant{Name: v})
	}
	return w
}

// Rounds sets the most rounds, and measures all of them.
func (w *RunWrapper) Rounds(n int32) *RunWrapper { return w.With(FixedRounds(n)) }

// Sweep sets the values of rowsPerCommit.
func (w *RunWrapper) Sweep(values ...v1alpha1.CommitSizeRowsPerCommit) *RunWrapper {
	w.run.Spec.Workload.CommitSize.Sweep = &v1alpha1.CommitSizeSweep{RowsPerCommit: values}
	return w
}

// Repetitions of each point.
func (w *RunWrapper) Repetitions(n int32) *RunWrapper {
	w.run.Spec.Trials.Repetitions = ptr.To(n)
	return w
}

// With changes anything else.
func (w *RunWrapper) With(change func(*v1alpha1.BenchmarkRun)) *RunWrapper {
	change(&w.run)
	return w
}

// Everything says something else than the default wherever the objects of a run depend on it.
func (w *RunWrapper) Everything() *RunWrapper {
	limits := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi"),
	}
	toleration := corev1.Toleration{
		Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "bench", Effect: corev1.TaintEffectNoSchedule,
	}
	db := &w.run.Spec.Database
	db.Image = "mariadb:11.4@sha256:0123"
	db.Settings.BinaryLog = ptr.To(true)
	db.Settings.FlushLogAtTrxCommit = ptr.To[int32](2)
	db.Variables = map[string]v1alpha1.VariableValue{
		"loose_innodb_future": "1", "init_connect": `SET @a = "#1; it's"`, "sql_mode": "", "sync_binlog": "0",
	}
	db.Storage.StorageClassName = "fast-ssd"
	db.Resources = corev1.ResourceRequirements{
		Limits: limits.DeepCopy(), Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
	}
	db.NodeSelector = map[string]string{"disk": "ssd"}
	db.Tolerations = []corev1.Toleration{toleration}
	db.NodeAffinity = &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "gpu", Operator: corev1.NodeSelectorOpDoesNotExist}},
		}}},
	}
	db.PriorityClassName = "benchmarks"
	w.run.Spec.PodMetadata = v1alpha1.PodMetadata{
		Labels: map[string]string{"team": "storage"}, Annotations: map[string]string{"sidecar.istio.io/inject": "false"},
	}
	w.run.Spec.Workload.CommitSize.AsPublished = v1alpha1.AsPublishedIsotopp
	w.run.Spec.Workload.Limits = v1alpha1.WorkloadLimits{Seconds: ptr.To[int32](60), ErrorPercent: ptr.To[int32](5)}
	w.run.Spec.Trials.StartDeadlineSeconds, w.run.Spec.Trials.DeadlineSeconds = 120, 600
	w.run.Spec.Seed = ptr.To[int64](42)
	w.run.Spec.ImagePullSecrets = []v1alpha1.ImagePullSecret{{Name: "registry"}}
	w.run.Spec.Loader = v1alpha1.LoaderSpec{
		Pods: 1, Resources: corev1.ResourceRequirements{Limits: limits.DeepCopy()},
		NodeSelector: map[string]string{"role": "client"}, Tolerations: []corev1.Toleration{toleration},
		SeparateFromDatabase: v1alpha1.SeparationRequired, Scratch: &v1alpha1.ScratchSpec{Size: resource.MustParse("10Gi")},
	}
	return w
}

// Obj is the run.
func (w *RunWrapper) Obj() *v1alpha1.BenchmarkRun { return w.run.DeepCopy() }

// Chain is the records of the first n trials of a run, all accepted at the first attempt, as the operator writes them; and the
// reference to the newest for the run's status.
func Chain(run *v1alpha1.BenchmarkRun, p *plan.Plan, n int) ([]*corev1.ConfigMap, v1alpha1.RecordReference) {
	var (
		list   []*corev1.ConfigMap
		newest v1alpha1.RecordReference
	)
	for i, t := range p.Trials[:n] {
		record := Record(t.Number, 1, p.Points[t.Point].Parameters, 1000+float64(i%7))
		if newest.ConfigMap != "" {
			record.Previous = ptr.To(result.Reference(newest))
		}
		text, err := record.Encode()
		if err != nil {
			panic(err)
		}
		labels := plan.Labels(run, v1alpha1.ComponentAttempt)
		labels[v1alpha1.LabelTrial], labels[v1alpha1.LabelAttempt] = strconv.Itoa(t.Number), "1"
		labels[v1alpha1.LabelOutcome] = string(result.OutcomeAccepted)
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: run.Namespace, Name: plan.AttemptName(run, t.Number, 1), Labels: labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
			},
			Immutable: ptr.To(true), Data: map[string]string{result.RecordKey: text},
		}
		list = append(list, cm)
		newest = v1alpha1.RecordReference{ConfigMap: cm.Name, Digest: result.NamedDigest([]byte(text))}
	}
	return list, newest
}

// Pair is a run of two variants at one point, durable and lazy.
func Pair(changes ...func(*v1alpha1.BenchmarkRun)) *v1alpha1.BenchmarkRun {
	w := MakeVariants("s", "ns", "durable", "lazy")
	for _, change := range changes {
		w.With(change)
	}
	return w.Obj()
}

// PairValue is what the run at an index of the plan of a Pair has measured: lazy is three times as fast. The noise is small, and
// the same whatever the number of runs.
func PairValue(run, variant int) float64 {
	return 1000 * math.Pow(3, float64(variant)) * (1 + 0.002*float64(run%3))
}

// FixedRounds sets the most rounds, and measures all of them.
func FixedRounds(n int32) func(*v1alpha1.BenchmarkRun) {
	return func(s *v1alpha1.BenchmarkRun) {
		s.Spec.Rounds.AtMost, s.Spec.Rounds.Until = n, v1alpha1.RoundsAll
	}
}
