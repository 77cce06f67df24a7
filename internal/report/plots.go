// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/stats/asked"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// AskedPlots are the plots that the specification of the run asks for.
func (r *Report) AskedPlots() ([]asked.Curve, error) { return askedPlots(r.Run.Spec) }

// AskedPlots are the plots that the specification of the suite asks for.
func (s *Suite) AskedPlots() ([]asked.Curve, error) { return askedPlots(s.Spec) }

func askedPlots(spec json.RawMessage) ([]asked.Curve, error) {
	wanted, err := readAsked(spec)
	if err != nil {
		return nil, err
	}
	var list []asked.Curve
	for _, p := range wanted.Plots {
		list = append(list, asked.Curve{
			Name: p.Name, Title: p.Title, Against: p.Against, Lines: p.Lines, Metric: p.Metric, Among: claims.Selector(p.Among),
		})
	}
	return list, nil
}

// askedOf is what a specification asks to be shown, in the layout of the API.
type askedOf struct {
	Plots []struct {
		Name    string   `json:"name"`
		Title   string   `json:"title"`
		Against string   `json:"against"`
		Lines   string   `json:"lines"`
		Metric  string   `json:"metric"`
		Among   selector `json:"among"`
	} `json:"plots"`
	Tables []struct {
		Name      string   `json:"name"`
		Title     string   `json:"title"`
		Metrics   []string `json:"metrics"`
		Among     selector `json:"among"`
		Published []struct {
			Of     selector `json:"of"`
			Metric string   `json:"metric"`
			Value  string   `json:"value"`
		} `json:"published"`
	} `json:"tables"`
}

type selector struct {
	Variant    string            `json:"variant"`
	Parameters map[string]string `json:"parameters"`
}

func readAsked(spec json.RawMessage) (of askedOf, err error) {
	if len(spec) == 0 {
		return of, nil
	}
	if err := json.Unmarshal(spec, &of); err != nil {
		return of, fmt.Errorf("reading the plots and tables of the specification: %w", err)
	}
	return of, nil
}
