// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestDeadTime(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	var attempts []*result.Record
	for i, pause := range []time.Duration{0, time.Second, 3 * time.Second, 2 * time.Second} {
		start = start.Add(pause)
		r := testutil.Record(i+1, 1, nil, 1)
		r.Summary.Identity.Started, r.Summary.Identity.Ended = start, start.Add(10*time.Second)
		start = r.Summary.Identity.Ended
		attempts = append(attempts, r)
	}
	data := must.Get(json.Marshal(map[string]any{"attempts": attempts}))(t)
	var out bytes.Buffer
	must.Do(t, run(bytes.NewReader(data), &out))
	const want = "dead time between 4 trials: median 2.00 s (1.00–3.00 s)\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}
	if err := run(strings.NewReader(`{"attempts":[]}`), &out); err == nil {
		t.Error("no trials are no error")
	}
}
