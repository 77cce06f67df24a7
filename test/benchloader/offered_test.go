// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
)

// A rate is held if it is met within half a percent: neither less nor more.
func TestHeld(t *testing.T) {
	for rows, want := range map[int64]string{
		20_000: "", 19_901: "", 20_099: "", 19_899: "995.0 achieved, which is -0.505%", 20_101: "1005.0 achieved, which is +0.505%",
	} {
		doc := &result.Document{
			Totals:    result.Totals{Rows: rows, Micros: 20_000_000},
			Client:    result.ClientFacts{UserMicros: rows, SystemMicros: rows},
			Latencies: []result.Latency{{Operation: "transaction", P50Micros: 200, P99Micros: 900}, {Operation: "commit", P99Micros: 5}},
		}
		h := heldOf(doc, 1000)
		err := h.missed("x")
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d rows in 20 s: error %v, want %q", rows, err, want)
		}
		if rows == 20_000 && h.row("x", 80) != "| x | 80% | 1000 | 1000.0 | +0.000% | ± 0.5% | 200 | 900 | 2 |" {
			t.Errorf("row %s", h.row("x", 80))
		}
	}
}

// The loads that are offered are loads, with a rate and without one.
func TestOfferedLoads(t *testing.T) {
	for _, r := range offeredLoads() {
		for _, rate := range []workload.Rate{0, 1000} {
			if _, err := registry.New(&result.Config{Workload: r.load(1000, rate)}); err != nil {
				t.Errorf("%s at %d rows/s: %v", r.name, rate, err)
			}
		}
	}
}
