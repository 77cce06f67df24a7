// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/stats/presentation"
)

// RequestedPlots are the plots that the specification of the run asks for.
func (r *Report) RequestedPlots() ([]presentation.Curve, error) { return requestedPlots(r.Run.Spec) }

// RequestedPlots are the plots that the specification of the comparison asks for.
func (s *Comparison) RequestedPlots() ([]presentation.Curve, error) { return requestedPlots(s.Spec) }

func requestedPlots(spec json.RawMessage) ([]presentation.Curve, error) {
	wanted, err := readRequested(spec)
	return analysis.Curves(wanted.Plots), err
}

// requestedOf is what the specification of a run or of a comparison asks to be shown.
type requestedOf struct {
	Plots  v1alpha1.Plots  `json:"plots"`
	Tables v1alpha1.Tables `json:"tables"`
}

func readRequested(spec json.RawMessage) (of requestedOf, err error) {
	if len(spec) == 0 {
		return of, nil
	}
	if err := json.Unmarshal(spec, &of); err != nil {
		return requestedOf{}, fmt.Errorf("reading the plots and tables of the specification: %w", err)
	}
	return of, nil
}
