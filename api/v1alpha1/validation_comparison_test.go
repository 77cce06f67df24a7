//go:build envtest

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// minimalComparison is the shortest one that compares something.
const minimalComparison = `
apiVersion: benchrun.dev/v1alpha1
kind: BenchmarkComparison
metadata: {name: valid, namespace: default}
spec:
  template:
    spec:
      database: {settings: {flushLogAtTrxCommit: 1}}
      workload: {type: CommitSize, commitSize: {rows: 100}}
  variants:
  - {name: durable}
  - {name: lazy, database: {settings: {flushLogAtTrxCommit: 0}}}
`

// lazy is an overlay with a second variant that says this.
func lazy(s string) string { return "spec: {variants: [{name: durable}, {name: lazy, " + s + "}]}" }

// template is an overlay of the template's specification.
func template(s string) string { return spec("template: {spec: {" + s + "}}") }

func TestEnvtestComparisonRules(t *testing.T) {
	named := func(comparison, variant int) string {
		return fmt.Sprintf("{metadata: {name: %s}, spec: {variants: [{name: durable}, {name: %s}]}}", strings.Repeat("s", comparison),
			strings.Repeat("v", variant))
	}
	list := func(n int, more ...string) string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("{name: v%d}", i))
		}
		return spec(strings.Join(append(more, "variants: ["+strings.Join(names, ", ")+"]"), ", "))
	}
	checkRules(t, minimalComparison, map[string]rule{
		"names together": {
			allowed: []string{named(15, 20), named(28, 4)}, refused: []string{named(16, 20), named(29, 4)},
			says: "have at most 35 characters together",
		},
		"names together, of many rounds": {
			allowed: []string{"{metadata: {name: " + strings.Repeat("s", 28) + "}, spec: {maxRounds: 99}}"},
			refused: []string{"{metadata: {name: " + strings.Repeat("s", 28) + "}, spec: {maxRounds: 100}}"},
			says:    "(34 with more than 99 rounds)",
		},
		"runs": {
			allowed: []string{list(16, "maxRounds: 25"), list(2, "maxRounds: 200")},
			refused: []string{list(16, "maxRounds: 26"), list(3, "maxRounds: 134")},
			says:    "maxRounds times the number of variants must not be above 400",
		},
		"name": {
			refused: []string{"metadata: {name: 1a}", "metadata: {name: a.b}"}, says: "a comparison's name is lower case letters",
		},
		"name of a variant": {
			allowed: []string{spec("variants: [{name: durable}, {name: 2-x}]")},
			refused: []string{spec("variants: [{name: durable}, {name: Lazy}]"), spec("variants: [{name: durable}, {name: a-}]")},
			says:    "should match",
		},
		"long name of a variant": {refused: []string{named(1, 21)}, says: "may not be more than 20"},
		"number of variants":     {allowed: []string{list(2), list(16)}, refused: []string{list(1), list(17)}, says: "spec.variants"},
		"variants named alike":   {refused: []string{spec("variants: [{name: a}, {name: a}]")}, says: "Duplicate value"},
		"title": {
			allowed: []string{lazy("title: flushed once a second")}, refused: []string{lazy("title: " + strings.Repeat("t", 129))},
			says: "title",
		},
		"baseline": {
			allowed: []string{spec("baseline: lazy")}, refused: []string{spec("baseline: other")},
			says: "baseline must be the name of one of the variants",
		},
		"maxRounds": {
			allowed: []string{spec("maxRounds: 200"), spec("maxRounds: 6"), spec("maxRounds: 2, earlyStop: {policy: Disabled}")},
			refused: []string{spec("maxRounds: 1, earlyStop: {policy: Disabled}"), spec("maxRounds: 201")}, says: "spec.maxRounds",
		},
		"rounds before the stop": {
			allowed: []string{spec("maxRounds: 6, earlyStop: {minRounds: 6}")},
			refused: []string{spec("maxRounds: 6, earlyStop: {minRounds: 7}"), spec("maxRounds: 5")},
			says:    "earlyStop.minRounds (6 by default) must not be above maxRounds",
		},
		"fewest rounds": {refused: []string{spec("earlyStop: {minRounds: 5}")}, says: "greater than or equal to 6"},
		"alternation": {
			allowed: []string{spec("alternation: Trials"), spec("alternation: Trials, trialsPerRound: 50"), spec("trialsPerRound: 1")},
			refused: []string{spec("alternation: Points")}, says: `supported values: "Automatic", "Runs", "Trials", "Slices"`,
		},
		"slices": {
			allowed: []string{
				spec("alternation: Slices"), spec("alternation: Slices, sliceMilliseconds: 500, trialsPerRound: 2"),
				spec("alternation: Slices, sliceMilliseconds: 60000"),
			},
			refused: []string{spec("alternation: Slices, sliceMilliseconds: 499"), spec("alternation: Slices, sliceMilliseconds: 60001")},
			says:    "spec.sliceMilliseconds",
		},
		"slices of trials": {
			refused: []string{spec("sliceMilliseconds: 500"), spec("alternation: Trials, sliceMilliseconds: 500")},
			says:    "sliceMilliseconds needs alternation: Slices",
		},
		"trials per round": {
			refused: []string{spec("alternation: Trials, trialsPerRound: 51"), spec("alternation: Trials, trialsPerRound: 0")},
			says:    "spec.trialsPerRound",
		},
		"trials per round of runs": {refused: []string{spec("trialsPerRound: 2")}, says: "trialsPerRound needs alternation: Trials or Slices"},
		"alternation of new servers": {
			refused: []string{
				`{spec: {alternation: Trials, template: {spec: {trials: {server: Fresh}}}}}`,
				`{spec: {alternation: Slices, template: {spec: {trials: {server: Fresh}}}}}`,
			},
			says: "template.spec.trials.server must be Reused",
		},
		"policy":              {refused: []string{spec("earlyStop: {policy: Never}")}, says: `supported values: "WhenDecided", "WhenOverallDecided", "Disabled"`},
		"difference":          {allowed: []string{spec("equivalencePercent: 50")}, refused: []string{spec("equivalencePercent: 51")}, says: "equivalencePercent"},
		"repetitions":         {refused: []string{template("trials: {repetitions: 3}"), template("trials: {precision: {targetRelativeCIPercent: 2}}")}, says: "leave out repetitions and precision of template.spec.trials"},
		"comparison's to set": {refused: []string{template("seed: 2"), template("suspend: true"), template("ttlSecondsAfterFinished: 1")}, says: "leave out seed, suspend and ttlSecondsAfterFinished of template.spec"},
		"cleanup":             {allowed: []string{template("cleanup: OnSuccess")}, refused: []string{template("cleanup: Never")}, says: "template.spec.cleanup must not be Never"},
		"template":            {refused: []string{template("workload: null"), template("workload: {commitSize: null}")}, says: "spec.template.spec"},
		"another type":        {refused: []string{lazy("workload: {type: BulkInsert, bulkInsert: {}}")}, says: "all variants have the template's workload.type"},
		"overlays": {
			allowed: []string{
				lazy("database: {image: mariadb:10.11, storage: {storageClassName: fast}, resources: {limits: {cpu: 2}}}"),
				lazy("database: {variables: {sync_binlog: '1'}}"), lazy("workload: {commitSize: {rowsPerCommit: 16}}"),
				spec("template: {spec: {workload: {commitSize: {sweep: {rowsPerCommit: [1, 4]}}}}}, " +
					"variants: [{name: durable}, {name: lazy, workload: {commitSize: {sweep: {rowsPerCommit: [1, 2]}}, limits: {seconds: 1}}}]"),
			},
			later: []string{lazy("workload: {commitSize: {sweep: {rowsPerCommit: [2, 3]}}}")},
			says:  "variant lazy has no point in common with the baseline durable",
		},
		"bounds of an overlay": {
			refused: []string{lazy("database: {settings: {flushLogAtTrxCommit: 4}}")}, says: "less than or equal to 3",
		},
		"unknown field of an overlay": {
			refused: []string{lazy("database: {setings: {}}"), lazy("trials: {order: Sequential}"), lazy("loader: {pods: 2}")},
			says:    "unknown field",
		},
		"rules of what is replaced as a whole": {
			refused: []string{lazy("database: {variables: {log_bin: 'OFF'}}")}, says: "log_bin=OFF would switch it on",
		},
	})
}

// The API server fills no default into an overlay: it would be laid over the template.
func TestEnvtestComparisonOverlaysHaveNoDefaults(t *testing.T) {
	object := parsed(t, minimalComparison, lazy("database: {storage: {}, tls: {}}, workload: {commitSize: {}, limits: {}}"))
	if err := dryRun(t, object); err != nil {
		t.Fatal(err)
	}
	var comparison v1alpha1.BenchmarkComparison
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &comparison); err != nil {
		t.Fatal(err)
	}
	v := comparison.Spec.Variants[1]
	if v.Database.Engine != "" || v.Database.Provisioner != "" || v.Database.Storage.Medium != "" || v.Database.TLS.Mode != "" ||
		v.Workload.CommitSize.Rows != nil || v.Workload.CommitSize.Compat != "" {
		t.Errorf("the overlay has defaults: %+v, %+v", v.Database, v.Workload.CommitSize)
	}
	if comparison.Spec.Template.Spec.Database.Engine == "" || comparison.Spec.MaxRounds != 20 || ptr.Deref(comparison.Spec.Seed, 0) != v1alpha1.DefaultSeed ||
		comparison.Spec.EarlyStop.MinRounds != 6 || comparison.Spec.EquivalencePercent != 5 {
		t.Errorf("the comparison lacks defaults: %+v", comparison.Spec)
	}
}

// Only suspend and the deadlines of a comparison can be changed.
func TestEnvtestComparisonIsImmutable(t *testing.T) {
	object := parsed(t, minimalComparison, "metadata: {name: immutable}", spec("baseline: durable"))
	if err := api.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Delete(t.Context(), object) })
	for patch, says := range map[string]string{
		`{"suspend":true}`: "", `{"deadlineSeconds":60}`: "", `{"ttlSecondsAfterFinished":60}`: "",
		`{"maxRounds":10}`: "spec.maxRounds: Invalid value: 10: maxRounds cannot be changed", `{"equivalencePercent":6}`: "equivalencePercent cannot be changed", `{"seed":2}`: "seed cannot be changed",
		`{"alternation":"Trials"}`: "alternation cannot be changed", `{"trialsPerRound":1}`: "trialsPerRound cannot be changed",
		`{"sliceMilliseconds":500}`:           "sliceMilliseconds cannot be changed",
		`{"earlyStop":{"policy":"Disabled"}}`: "earlyStop cannot be changed", `{"results":{"retention":"Retain"}}`: "results cannot be changed",
		`{"baseline":"lazy"}`: "baseline and claims cannot be changed", `{"baseline":null}`: "baseline and claims cannot be changed",
		`{"claims":[{"name":"c","noDifference":{"of":{},"to":{}}}]}`:  "baseline and claims cannot be changed",
		`{"variants":[{"name":"durable"},{"name":"lazy"}]}`:           "variants cannot be changed",
		`{"template":{"spec":{"database":{"image":"mariadb:10.6"}}}}`: "template cannot be changed: delete the comparison",
		`{"template":{"spec":{"deadlineSeconds":60}}}`:                "template cannot be changed",
	} {
		err := api.Patch(t.Context(), object.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":`+patch+`}`)),
			client.DryRunAll)
		switch {
		case says == "" && err != nil:
			t.Errorf("%s is refused: %v", patch, err)
		case says != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "delete the run")):
			t.Errorf("%s: %v, want %q", patch, err, says)
		}
	}
}
