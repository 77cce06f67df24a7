// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/stats/asked"
)

// AskedPlots are the plots that the specification of the run asks for.
func (r *Report) AskedPlots() ([]asked.Curve, error) { return askedPlots(r.Run.Spec) }

// AskedPlots are the plots that the specification of the comparison asks for.
func (s *Comparison) AskedPlots() ([]asked.Curve, error) { return askedPlots(s.Spec) }

func askedPlots(spec json.RawMessage) ([]asked.Curve, error) {
	wanted, err := readAsked(spec)
	return analysis.Curves(wanted.Plots), err
}

// askedOf is what the specification of a run or of a comparison asks to be shown.
type askedOf struct {
	Plots  v1alpha1.Plots  `json:"plots"`
	Tables v1alpha1.Tables `json:"tables"`
}

func readAsked(spec json.RawMessage) (of askedOf, err error) {
	if len(spec) == 0 {
		return of, nil
	}
	if err := json.Unmarshal(spec, &of); err != nil {
		return askedOf{}, fmt.Errorf("reading the plots and tables of the specification: %w", err)
	}
	return of, nil
}
