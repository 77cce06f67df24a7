//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
)

// chance makes specifications by chance: every field is sometimes there, mostly with a value that is allowed.
type chance struct{ *rand.Rand }

func (c chance) pick(values ...any) any { return values[c.IntN(len(values))] }

// sometimes sets a field in one of n cases.
func (c chance) sometimes(n int, into map[string]any, key string, value func() any) {
	if c.IntN(n) == 0 {
		into[key] = value()
	}
}

func (c chance) spec() map[string]any {
	s := map[string]any{"database": c.database(), "workload": c.workload()}
	c.sometimes(5, s, "sweep", func() any { return map[string]any{"mode": c.pick("Grid", "OneFactor", "List")} })
	c.sometimes(2, s, "trials", c.trials)
	c.sometimes(3, s, "loader", c.loader)
	c.sometimes(4, s, "placement", func() any { return c.pick("SameNode", "Any", "Nowhere") })
	c.sometimes(3, s, "seed", func() any { return c.pick(int64(0), int64(42), int64(9007199254740991), int64(-1)) })
	c.sometimes(4, s, "suspend", func() any { return c.pick(true, false) })
	c.sometimes(4, s, "cleanup", func() any { return c.pick("Always", "OnSuccess", "Never") })
	c.sometimes(4, s, "ttlSecondsAfterFinished", func() any { return c.pick(int64(0), int64(60)) })
	c.sometimes(4, s, "results", func() any { return map[string]any{"retention": c.pick("WithRun", "Retain")} })
	c.sometimes(40, s, "repetitions", func() any { return int64(3) })
	return s
}

func (c chance) database() map[string]any {
	d := map[string]any{}
	c.sometimes(2, d, "image", func() any { return c.pick("mariadb:11.8", "registry.example/mariadb@sha256:"+fmt.Sprintf("%064d", 1)) })
	c.sometimes(2, d, "settings", func() any {
		s := map[string]any{}
		c.sometimes(2, s, "bufferPoolSize", func() any { return c.pick("128Mi", "1Gi", "1e9", "100Gi", "1Mi", "big") })
		c.sometimes(2, s, "redoLogSize", func() any { return c.pick("96Mi", "4194304", "1Ki") })
		c.sometimes(2, s, "flushLogAtTrxCommit", func() any { return c.pick(int64(0), int64(1), int64(3), int64(4)) })
		c.sometimes(2, s, "binaryLog", func() any { return c.pick(true, false) })
		return s
	})
	c.sometimes(3, d, "variables", func() any {
		return c.pick(
			map[string]any{"sync_binlog": "1", "sql_mode": "A,B"}, map[string]any{"init_connect": `SET @x = "#';\"`},
			map[string]any{"log_bin": "OFF"}, map[string]any{"a": "b\nc"}, map[string]any{"loose_x": ""}, map[string]any{"Upper": "1"})
	})
	c.sometimes(3, d, "storage", func() any {
		return c.pick(
			map[string]any{"size": "1Gi"}, map[string]any{"medium": "Memory", "size": "512Mi"},
			map[string]any{"medium": "NodeDisk", "size": "2Gi"}, map[string]any{"medium": "Memory", "storageClassName": "x"},
			map[string]any{"storageClassName": "fast"})
	})
	c.sometimes(3, d, "resources", func() any {
		return c.pick(
			map[string]any{"limits": map[string]any{"cpu": "2", "memory": "4Gi"}},
			map[string]any{"limits": map[string]any{"memory": "1Gi"}, "requests": map[string]any{"memory": "2Gi"}},
			map[string]any{"requests": map[string]any{"cpu": "500m"}})
	})
	c.sometimes(4, d, "nodeSelector", func() any {
		return c.pick(map[string]any{"disk": "nvme"}, map[string]any{"not a label!": "x"})
	})
	c.sometimes(4, d, "tolerations", func() any {
		return []any{map[string]any{"key": "bench", "operator": c.pick("Exists", "Equal"), "effect": "NoSchedule"}}
	})
	return d
}

func (c chance) workload() map[string]any {
	w := map[string]any{"type": c.pick("CommitSize", "CommitSize", "CommitSize", "CommitSize", "Nothing")}
	member := map[string]any{}
	c.sometimes(2, member, "rows", func() any { return c.pick(int64(1), int64(1000), int64(1000000000), int64(0)) })
	c.sometimes(3, member, "rowsPerCommit", func() any { return c.pick(int64(1), int64(100), int64(5000)) })
	c.sometimes(3, member, "asPublished", func() any { return c.pick("None", "Isotopp") })
	c.sometimes(2, member, "sweep", c.sweep)
	c.sometimes(6, member, "points", func() any { return []any{map[string]any{"rowsPerCommit": int64(1)}} })
	if c.IntN(10) > 0 {
		w["commitSize"] = member
	}
	c.sometimes(3, w, "limits", func() any { return map[string]any{"seconds": c.pick(int64(1), int64(15552000), int64(0))} })
	return w
}

func (c chance) sweep() any {
	values := []any{}
	for i := range c.IntN(40) + 1 {
		values = append(values, int64(i+1))
	}
	values = c.pick(values, values, values, []any{int64(1), int64(1)}, []any{"x"}, []any{}).([]any)
	return map[string]any{c.pick("rowsPerCommit", "rowsPerCommit", "rowsPerCommit", "rows").(string): values}
}

func (c chance) trials() any {
	t := map[string]any{}
	c.sometimes(2, t, "repetitions", func() any { return c.pick(int64(1), int64(100), int64(101)) })
	c.sometimes(4, t, "precision", func() any { return map[string]any{"targetRelativeCIPercent": c.pick(int64(2), int64(0))} })
	c.sometimes(2, t, "order", func() any { return c.pick("Interleaved", "Shuffled", "Sequential") })
	c.sometimes(2, t, "server", func() any { return c.pick("Reused", "PerTrial") })
	c.sometimes(5, t, "data", func() any { return c.pick("Recreate", "Keep") })
	c.sometimes(3, t, "maxInvalid", func() any { return c.pick(int64(0), int64(1000), int64(-1)) })
	c.sometimes(3, t, "deadlineSeconds", func() any { return c.pick(int64(10), int64(15552000), int64(1)) })
	return t
}

func (c chance) loader() any {
	l := map[string]any{}
	c.sometimes(4, l, "pods", func() any { return c.pick(int64(1), int64(2)) })
	c.sometimes(2, l, "separateFromDatabase", func() any { return c.pick("Preferred", "Required", "None") })
	c.sometimes(2, l, "scratch", func() any { return c.pick(map[string]any{}, map[string]any{"size": "1Gi"}) })
	c.sometimes(3, l, "resources", func() any { return map[string]any{"limits": map[string]any{"cpu": "100m", "memory": "64Mi"}} })
	return l
}

// TestEnvtestRandomSpecifications puts specifications that were made by chance before a real API server. What it refuses it
// refuses with a sentence; of what it allows nothing is lost, and the operator makes a plan and objects of it, which the
// API server then allows too, or refuses with a sentence that ends the run.
func TestEnvtestRandomSpecifications(t *testing.T) {
	const specifications = 1500
	c := newCluster(t)
	var allowed, refused int
	for seed := range uint64(specifications) {
		spec := chance{rand.New(rand.NewPCG(seed, 1))}.spec()
		object := &unstructured.Unstructured{Object: map[string]any{"spec": runtime.DeepCopyJSON(spec)}}
		object.SetAPIVersion(v1alpha1.GroupVersion.String())
		object.SetKind("BenchmarkRun")
		object.SetName("random")
		object.SetNamespace(c.namespace)
		err := api.Create(t.Context(), object, client.DryRunAll, client.FieldValidation("Strict"))
		switch {
		case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
			refused++
			continue
		case err != nil:
			t.Fatalf("seed %d: %v", seed, err)
		}
		allowed++
		if lost := missing(spec, object.Object["spec"], "spec"); lost != "" {
			t.Errorf("seed %d: %s was lost", seed, lost)
		}
		c.carriesOut(seed, object)
	}
	if allowed < specifications/20 || refused < specifications/20 {
		t.Errorf("%d allowed and %d refused: the test says little", allowed, refused)
	}
	t.Logf("%d specifications allowed, %d refused", allowed, refused)
}

// carriesOut checks that a specification which was allowed leads to objects.
func (c *cluster) carriesOut(seed uint64, object *unstructured.Unstructured) {
	c.t.Helper()
	var run v1alpha1.BenchmarkRun
	c.must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &run))
	run.UID = "01234567-89ab-cdef-0123-456789abcdef"
	p, err := validation.PlanRun(&run)
	if err != nil {
		return // the run ends with this sentence, before anything is created
	}
	if len(p.Trials) == 0 || len(p.Trials) > plan.MaxTrials {
		c.t.Errorf("seed %d: the plan has %d trials", seed, len(p.Trials))
		return
	}
	objects, err := database.Objects(&run, 1, "node", c.reconciler.Images)
	if err != nil {
		c.t.Errorf("seed %d: %v", seed, err)
		return
	}
	made := []client.Object{}
	for _, o := range objects {
		made = append(made, o)
	}
	last := p.Trials[len(p.Trials)-1]
	job, err := trial.Job(&run, trial.Attempt{Trial: last, Point: p.Points[last.Point], Number: 1, Instance: 1}, c.reconciler.Images)
	if err != nil {
		c.t.Errorf("seed %d: %v", seed, err)
		return
	}
	for _, o := range append(made, job) {
		if err := api.Create(c.t.Context(), o, client.DryRunAll); err != nil && !apierrors.IsInvalid(err) {
			c.t.Errorf("seed %d: %T: %v", seed, o, err)
		}
	}
}

// missing finds the first value that was asked for and is not there.
func missing(requested, have any, path string) string {
	switch requested := requested.(type) {
	case map[string]any:
		got, ok := have.(map[string]any)
		if !ok {
			return path
		}
		for key, value := range requested {
			if lost := missing(value, got[key], path+"."+key); lost != "" {
				return lost
			}
		}
	case []any:
		got, ok := have.([]any)
		if !ok || len(got) != len(requested) {
			return path
		}
		for i := range requested {
			if lost := missing(requested[i], got[i], fmt.Sprintf("%s[%d]", path, i)); lost != "" {
				return lost
			}
		}
	default:
		if !reflect.DeepEqual(requested, have) {
			return path
		}
	}
	return ""
}
