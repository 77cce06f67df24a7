// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package output_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
)

// TestGolden keeps everything that is read from each kind of output. Those of the publication have the figures that it prints. Of
// 1.0-full, the second interval is a stall, without a latency, and what its checkpoint reports is not in what comes after it. cpu and
// fileio have no SQL; Throughput, a heading of its own in the latter, is no report. 1.1-shutdown was ended by force, which it says
// twice, and numbers that are none are null. refused and suppressed have errors and no final report. How many events wait is what the
// last interval says.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d outputs, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			data := must.Get(os.ReadFile(file))(t)
			got := must.Get(json.MarshalIndent(output.Parse(string(data)), "", " "))(t)
			testutil.Golden(t, strings.TrimSuffix(name, ".txt")+".json", append(got, '\n'))
		})
	}
}
