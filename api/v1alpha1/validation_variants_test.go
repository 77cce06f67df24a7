//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// minimalVariants is the shortest run that compares something.
const minimalVariants = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: valid, namespace: default}
spec:
  database: {settings: {flushLogAtTrxCommit: 1}}
  workload: {type: CommitSize, commitSize: {rows: 100}}
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
`

// lazy is an overlay with a second variant that says this.
func lazy(s string) string { return "spec: {variants: [{name: durable}, {name: lazy, " + s + "}]}" }

func TestEnvtestVariantRules(t *testing.T) {
	named := func(length int) string {
		return spec("variants: [{name: durable}, {name: " + strings.Repeat("v", length) + "}]")
	}
	list := func(n int) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("{name: v%d}", i))
		}
		return spec("variants: [" + strings.Join(names, ", ") + "]")
	}
	checkRules(t, minimalVariants, map[string]rule{
		"name of a variant": {
			allowed: []string{spec("variants: [{name: durable}, {name: 2-x}]")},
			refused: []string{spec("variants: [{name: durable}, {name: Lazy}]"), spec("variants: [{name: durable}, {name: a-}]")},
			says:    "should match",
		},
		"long name of a variant": {allowed: []string{named(20)}, refused: []string{named(21)}, says: "may not be more than 20"},
		"number of variants":     {allowed: []string{list(2), list(16)}, refused: []string{list(17)}, says: "spec.variants"},
		"variants named alike":   {refused: []string{spec("variants: [{name: a}, {name: a}]")}, says: "Duplicate value"},
		"title": {
			allowed: []string{lazy("title: flushed once a second")}, refused: []string{lazy("title: " + strings.Repeat("t", 129))},
			says: "title",
		},
		"rounds": {
			allowed: []string{spec("rounds: {atMost: 200}"), spec("rounds: {atMost: 6}"), spec("rounds: {atMost: 2, until: All}")},
			refused: []string{spec("rounds: {atMost: 1, until: All}"), spec("rounds: {atMost: 201}")}, says: "spec.rounds.atMost",
		},
		"fewest rounds": {refused: []string{spec("rounds: {atLeast: 5}")}, says: "greater than or equal to 6"},
		"alternation": {
			allowed: []string{spec("alternation: Trials"), spec("alternation: Slices"), spec("alternation: Runs, trials: {repetitions: 50}")},
			refused: []string{spec("alternation: Points")}, says: `supported values: "Automatic", "Runs", "Trials", "Slices"`,
		},
		"alternation of new servers": {
			later: []string{spec("alternation: Trials, trials: {server: PerTrial}"), spec("alternation: Slices, trials: {server: PerTrial}")},
			says:  "use alternation: Runs",
		},
		"servers": {
			allowed: []string{spec("trials: {server: PerRound}"), spec("trials: {server: PerTrial}")},
			refused: []string{spec("trials: {server: Reused}")}, says: "trials.server is PerRound or PerTrial with variants",
		},
		"until":      {refused: []string{spec("rounds: {until: Never}")}, says: `supported values: "Decided", "OverallDecided", "All"`},
		"difference": {allowed: []string{spec("equivalentWithinPercent: 50")}, refused: []string{spec("equivalentWithinPercent: 51")}, says: "equivalentWithinPercent"},
		"overlays": {
			allowed: []string{
				lazy("database: {image: mariadb:10.11, storage: {storageClassName: fast}, resources: {limits: {cpu: 2}}}"),
				lazy("database: {variables: {sync_binlog: '1'}}"), lazy("workload: {commitSize: {rowsPerCommit: 16}}"),
				spec("workload: {commitSize: {sweep: {rowsPerCommit: [1, 4]}}}, " +
					"variants: [{name: durable}, {name: lazy, workload: {commitSize: {sweep: {rowsPerCommit: [1, 2]}}, limits: {seconds: 1}}}]"),
			},
			later: []string{lazy("workload: {commitSize: {sweep: {rowsPerCommit: [2, 3]}}}")},
			says:  "variant lazy has no point in common with the baseline durable",
		},
		"bounds of an overlay": {
			refused: []string{lazy("database: {settings: {flushLogAtTrxCommit: 4}}")}, says: "less than or equal to 3",
		},
		"unknown field of an overlay": {
			refused: []string{lazy("database: {setings: {}}"), lazy("trials: {order: Sequential}"), lazy("loader: {pod: 2}")},
			says:    "unknown field",
		},
		"rules of what is replaced as a whole": {
			refused: []string{lazy("database: {variables: {log_bin: 'OFF'}}")}, says: "log_bin=OFF would switch it on",
		},
	})
}

// The API server fills no default into an overlay: it would be laid over the run.
func TestEnvtestOverlaysHaveNoDefaults(t *testing.T) {
	object := parsed(t, minimalVariants, lazy("database: {storage: {}, tls: {}}, workload: {commitSize: {}, limits: {}}"))
	must.Do(t, dryRun(t, object))
	var run v1alpha1.BenchmarkRun
	must.Do(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &run))
	v := run.Spec.Variants[1]
	if v.Database.Engine != "" || v.Database.Provisioner != "" || v.Database.Storage.Medium != "" || v.Database.TLS.Mode != "" ||
		v.Workload.CommitSize.Rows != nil || v.Workload.CommitSize.AsPublished != "" {
		t.Errorf("the overlay has defaults: %+v, %+v", v.Database, v.Workload.CommitSize)
	}
}
