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
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
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
		text, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
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
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range p.Trials {
		config, err := attempts.Config(run, attempts.Attempt{Trial: of, Point: p.Points[of.Point], Number: 1, Instance: 1})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := prepareConfig(string(text), ""); err != nil {
			t.Errorf("%s: %v", run.Name, err)
		}
	}
}

// runsIn a document: a run, or what each of its variants asks for in the first round.
func runsIn(t *testing.T, document string) []*v1alpha1.BenchmarkRun {
	t.Helper()
	var run v1alpha1.BenchmarkRun
	if err := yaml.UnmarshalStrict([]byte(document), &run); err != nil {
		t.Fatal(err)
	}
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
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	run, errs := testutil.MakeRunSchema(t).Stored(t, text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return run
}
