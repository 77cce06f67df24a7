// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// stagesField is the member's list of stages, each with a name. One that only rests is not measured.
const stagesField = "stages"

// stages of a workload are the names of the stages that it measures; nil if it measures as a whole.
func (m *member) stages() ([]string, error) {
	listed, found := m.parameters.get(stagesField)
	if !found {
		return nil, nil
	}
	var stages []struct {
		Name string          `json:"name"`
		Rest json.RawMessage `json:"rest"`
	}
	if err := json.Unmarshal(listed, &stages); err != nil {
		return nil, fmt.Errorf("reading workload.%s.%s: %w", m.name, stagesField, err)
	}
	names := []string{}
	for _, s := range stages {
		if s.Rest == nil {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// inStages makes of each point one for each of the stages in which it is measured; nil leaves it as it is. It is the one place
// that knows how many points a trial has: whoever has a trial gets them from Measured.
func (p *Plan) inStages(names []string) error {
	if names == nil {
		return nil
	}
	if len(p.Points)*len(names) > MaxPoints {
		return fmt.Errorf("a run has at most %d points, but %d stages at %d points of a sweep are %d",
			MaxPoints, len(names), len(p.Points), len(p.Points)*len(names))
	}
	var all []Point
	for _, point := range p.Points {
		for _, name := range names {
			stage := Point{Parameters: map[string]string{result.StageParameter: name}, values: point.values, staged: true}
			maps.Copy(stage.Parameters, point.Parameters)
			all = append(all, stage)
		}
	}
	p.Points, p.Stages = all, len(names)
	for i := range p.Trials {
		p.Trials[i].Point *= p.Stages
	}
	return nil
}

// Measured are the indexes of the points that a trial measures, from the first one to before the last.
func (p *Plan) Measured(t *Trial) (from, to int) { return t.Point, t.Point + max(1, p.Stages) }

// Swept are the parameters that a trial sets: those of a point but for the stage, which is a part of the trial.
func (p Point) Swept() map[string]string {
	switch {
	case !p.staged:
		return p.Parameters
	case len(p.Parameters) == 1:
		return nil
	}
	swept := maps.Clone(p.Parameters)
	delete(swept, result.StageParameter)
	return swept
}
