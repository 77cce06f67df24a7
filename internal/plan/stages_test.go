// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// inStages is a workload with three stages that are measured, and one that is not.
const inStages = `{"type": "IIBench", "iiBench": {"stages": [
	{"name": "l.i0", "insert": {"rows": 10}}, {"name": "l.x", "createIndexes": 3}, {"name": "rest", "rest": {}},
	{"name": "q", "query": {"by": "PrimaryKey", "seconds": 1}}]}}`

// A trial measures a point for each of its stages. Its own parameters have none.
func TestStages(t *testing.T) {
	spec := specOf(t, inStages, "")
	spec.Trials.Repetitions = ptr.To[int32](2)
	p, err := plan.ForRun(spec)
	if err != nil {
		t.Fatal(err)
	}
	var points []parameters
	for _, point := range p.Points {
		points = append(points, point.Parameters)
		if point.Swept() != nil {
			t.Errorf("a trial at %v sets %v", point.Parameters, point.Swept())
		}
	}
	if diff := cmp.Diff([]parameters{{"stage": "l.i0"}, {"stage": "l.x"}, {"stage": "q"}}, points); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if want := []plan.Trial{{Number: 1, Round: 1}, {Number: 2, Round: 2}}; !cmp.Equal(want, p.Trials) {
		t.Errorf("trials %+v", p.Trials)
	}
	if from, to := p.Measured(&p.Trials[1]); from != 0 || to != 3 {
		t.Errorf("a trial measures points %d to %d", from, to)
	}
	whole, err := parametersAt(&spec.Workload, p.Points[2])
	if err != nil || strings.Contains(string(whole), `"stage"`) || !strings.Contains(string(whole), `"stages":[{"name":"l.i0"`) {
		t.Errorf("parameters %s, %v", whole, err)
	}
}

// Stages and a sweep multiply. Each trial has the points of one combination, which stand together.
func TestStagesOfASweep(t *testing.T) {
	swept := strings.Replace(inStages, `"stages"`, `"sweep": {"storageEngine": ["InnoDB", "Aria"]}, "stages"`, 1)
	p, err := plan.ForRun(specOf(t, swept, ""))
	if err != nil || len(p.Points) != 6 {
		t.Fatalf("%d points, %v", len(p.Points), err)
	}
	if got := p.Points[4]; !cmp.Equal(got.Parameters, parameters{"stage": "l.x", "storageEngine": "Aria"}) ||
		!cmp.Equal(got.Swept(), parameters{"storageEngine": "Aria"}) {
		t.Errorf("point 4 is %v, of which %v is swept", got.Parameters, got.Swept())
	}
	seen := map[int]int{}
	for i := range p.Trials {
		from, to := p.Measured(&p.Trials[i])
		seen[from]++
		if to-from != 3 {
			t.Errorf("a trial measures points %d to %d", from, to)
		}
	}
	if seen[0] == 0 || seen[3] != seen[0] || len(seen) != 2 {
		t.Errorf("trials begin at points %v", seen)
	}
}

func TestWithoutStages(t *testing.T) {
	p, err := plan.ForRun(commits(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Trials {
		if from, to := p.Measured(&p.Trials[i]); from != p.Trials[i].Point || to != from+1 {
			t.Errorf("a trial at point %d measures points %d to %d", p.Trials[i].Point, from, to)
		}
	}
	if got := p.Points[1]; !cmp.Equal(got.Swept(), got.Parameters) {
		t.Errorf("a trial at %v sets %v", got.Parameters, got.Swept())
	}
}

// A program of somebody's own may have a parameter that is called stage.
func TestAParameterCalledStage(t *testing.T) {
	p, err := plan.ForRun(specOf(t, `{"type": "Sysbench", "sysbench": {"options": {"stage": "a"}, "sweep": {"options": {"stage": ["a", "b"]}}}}`, ""))
	if err != nil || len(p.Points) != 2 || !cmp.Equal(p.Points[1].Swept(), parameters{"stage": "b"}) {
		t.Errorf("%+v, %v", p, err)
	}
}
