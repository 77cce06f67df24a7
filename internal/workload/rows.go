// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/result"
)

// MaxRows is the largest number of rows that a load can be asked to insert.
const MaxRows = 1_000_000_000

// rowsParameter is its name among the parameters of the workloads that have one.
const rowsParameter = "rows"

// Rows that a load was asked to insert; 0 if it has no such number.
func Rows(w *result.Workload) int64 {
	var p struct {
		Rows int64 `json:"rows"`
	}
	if json.Unmarshal(w.Parameters, &p) != nil {
		return 0 // Custom's, which are the user's own
	}
	return p.Rows
}

// SetRows makes a load insert so many rows instead of those that were asked for. It is an error if its rows are
// the user's.
func SetRows(cfg *result.Config, rows int64) error {
	parameters := map[string]json.RawMessage{}
	if err := json.Unmarshal(cfg.Workload.Parameters, &parameters); err != nil {
		return fmt.Errorf("reading the parameters: %w", err)
	}
	if cfg.Workload.Data != nil {
		return errors.New("trials.minSeconds cannot be combined with dataFrom: the files decide which rows there are")
	}
	var err error
	if parameters[rowsParameter], err = json.Marshal(rows); err != nil {
		return fmt.Errorf("encoding rows: %w", err)
	}
	if cfg.Workload.Parameters, err = json.Marshal(parameters); err != nil {
		return fmt.Errorf("encoding the parameters: %w", err)
	}
	return nil
}
