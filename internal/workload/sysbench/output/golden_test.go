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

// TestGolden keeps everything that is read from each kind of output. The other tests say which of it is right and why.
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
