// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package frozen_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
	"github.com/benchrun-dev/benchrun/internal/trial"
	"github.com/benchrun-dev/benchrun/internal/validation"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
	"github.com/benchrun-dev/benchrun/internal/workload/tproch"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// TestFrozenRows: the checksums of generated rows, and what one client sends of each point of a sample whose rows are ours.
func TestFrozenRows(t *testing.T) {
	var b bytes.Buffer
	for _, seed := range []int64{-1, 0, 1, 42, 1 << 62} {
		fmt.Fprintln(&b, "rows of seed", seed, generate.NewRows(seed).Checksum(10_000))
	}
	for _, scale := range []string{"0.01", "0.02"} {
		parsed, err := tproch.ParseScale(scale)
		if err != nil {
			t.Fatal(err)
		}
		data := tproch.New(seed, parsed)
		for _, table := range tproch.Tables() {
			fmt.Fprintln(&b, "TPROCH, scale", scale, table, data.Checksum(table))
		}
	}
	for _, s := range samples(t) {
		run := s.runs()[0]
		p, err := validation.PlanRun(run)
		if err != nil {
			t.Fatal(err)
		}
		for i, point := range p.Points {
			cfg, err := trial.Config(run, trial.Attempt{Trial: p.Trials[0], Point: point, Number: 1, Instance: 1})
			if err != nil {
				t.Fatal(err)
			}
			if text, ours := sent(t, cfg); ours {
				fmt.Fprintln(&b, "statements of", s.name, "point", i+1, text)
			}
		}
	}
	frozen.Check(t, "rows.txt", b.Bytes())
}

// sent is what the first client of an INSERT load of at most 20,000 rows sends.
func sent(t *testing.T, cfg *result.Config) (text string, ours bool) {
	t.Helper()
	switch cfg.Workload.Type {
	case "BulkInsert", "CommitSize", "IIBench":
	default:
		return "", false
	}
	var parameters map[string]any
	if err := json.Unmarshal(cfg.Workload.Parameters, &parameters); err != nil {
		t.Fatal(err)
	}
	if cfg.Workload.Data != nil || parameters["protocol"] == "LocalInfile" {
		return "", false
	}
	if err := workload.SetRows(cfg, 20_000); err != nil {
		t.Fatal(err)
	}
	w, err := registry.New(cfg)
	if err != nil {
		return err.Error(), true // a statement of more rows than these
	}
	script := &workloadtest.Script{}
	if planned, ok := w.(workload.Planned); ok {
		if ready := planned.Plan().Ready; ready != nil {
			if err := ready(0, script); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err = w.Measure(t.Context(), workloadtest.Client(0, script))
	return fmt.Sprintf("%d of %d rows, %x, %v", len(script.Statements), script.Rows,
		sha256.Sum256([]byte(strings.Join(script.Statements, "\n"))), err), true
}
