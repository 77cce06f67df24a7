// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	attempts "github.com/benchrun-dev/benchrun/internal/trial" // trial is the harness of the integration tests
)

// What the API server admits, the loader must not refuse: not even what no test has the time to measure.
func TestSamplesAreWhatTheLoaderTakes(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/publications/*.yaml")
	if err != nil || len(files) != 10 {
		t.Fatalf("%d publications, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text := must.Get(os.ReadFile(file))(t)
			for document := range strings.SplitSeq(string(text), "\n---\n") {
				for _, run := range runsIn(t, document) {
					taken(t, run)
				}
			}
		})
	}
}

// The longest time that the API server admits is one for the loader.
func TestLongestLimit(t *testing.T) {
	run := testutil.MakeRun("r", "ns").Obj()
	const longest, longer = 15552000, 15552001
	for seconds, admitted := range map[int32]bool{longest: true, longer: false} {
		run.Spec.Workload.Limits.Seconds = &seconds
		text := must.Get(json.Marshal(run))(t)
		of, errs := testutil.MakeRunSchema(t).Stored(t, text)
		if (len(errs) == 0) != admitted {
			t.Fatalf("%d seconds: %v", seconds, errs)
		}
		if admitted {
			taken(t, of)
		}
	}
}

// taken demands that the loader takes the configuration of each point of a run.
func taken(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	p := must.Get(plan.ForRun(&run.Spec))(t)
	for _, of := range p.Trials {
		config := must.Get(attempts.Config(run, attempts.Attempt{Trial: of, Point: p.Points[of.Point], Number: 1, Instance: 1}))(t)
		text := must.Get(json.Marshal(config))(t)
		if _, _, err := prepareConfig(string(text), ""); err != nil {
			t.Errorf("%s: %v", run.Name, err)
		}
	}
}

// runsIn a document: a run, or what each of its variants asks for in the first round.
func runsIn(t *testing.T, document string) []*v1alpha1.BenchmarkRun {
	t.Helper()
	var run v1alpha1.BenchmarkRun
	must.Do(t, yaml.UnmarshalStrict([]byte(document), &run))
	var runs []*v1alpha1.BenchmarkRun
	for i := range plan.Sides(&run) {
		runs = append(runs, stored(t, plan.Side(&run, i, 1)))
	}
	return runs
}

// stored is a run as it comes back from the API server.
func stored(t *testing.T, run *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	t.Helper()
	run.Namespace = "ns"
	text := must.Get(json.Marshal(run))(t)
	run, errs := testutil.MakeRunSchema(t).Stored(t, text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return run
}
