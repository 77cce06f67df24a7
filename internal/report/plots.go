// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/stats/claims"
	"github.com/benchrun-dev/benchrun/internal/stats/curves"
)

// AskedPlots are the plots that the specification of the run asks for.
func (r *Report) AskedPlots() ([]curves.Curve, error) { return askedPlots(r.Run.Spec) }

// AskedPlots are the plots that the specification of the suite asks for.
func (s *Suite) AskedPlots() ([]curves.Curve, error) { return askedPlots(s.Spec) }

func askedPlots(spec json.RawMessage) ([]curves.Curve, error) {
	if len(spec) == 0 {
		return nil, nil
	}
	var asked struct {
		Plots []struct {
			Name    string `json:"name"`
			Title   string `json:"title"`
			Against string `json:"against"`
			Lines   string `json:"lines"`
			Metric  string `json:"metric"`
			Among   struct {
				Variant    string            `json:"variant"`
				Parameters map[string]string `json:"parameters"`
			} `json:"among"`
		} `json:"plots"`
	}
	if err := json.Unmarshal(spec, &asked); err != nil {
		return nil, fmt.Errorf("reading the plots of the specification: %w", err)
	}
	var list []curves.Curve
	for _, p := range asked.Plots {
		list = append(list, curves.Curve{
			Name: p.Name, Title: p.Title, Against: p.Against, Lines: p.Lines, Metric: p.Metric, Among: claims.Selector(p.Among),
		})
	}
	return list, nil
}
