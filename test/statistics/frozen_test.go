// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil/frozen"
)

// TestFrozenVerdicts: what the present rules say of each recorded comparison, to the last digit.
func TestFrozenVerdicts(t *testing.T) {
	list, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"started", "second", "rules", "verdict", "decided", "rounds", "ratio", "low", "high", "cells"})
	digits := func(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }
	for _, m := range list {
		c := m.Replay()
		_ = w.Write([]string{
			m.Started, m.Second, strconv.Itoa(stats.Rules), string(c.Verdict), strconv.FormatBool(c.Decided), strconv.Itoa(c.Rounds),
			digits(c.Ratio), digits(c.Low), digits(c.High), strconv.Itoa(m.Cells()),
		})
	}
	w.Flush()
	frozen.Check(t, "verdicts.csv", b.Bytes())
}
