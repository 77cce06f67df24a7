// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/result"
)

func TestVolumeBenchmark(t *testing.T) {
	dir := t.TempDir()
	list := VolumeBenchmark(t.Context(), dir, 20*time.Millisecond)
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
		if p.PerSecond < 1 || p.BytesPerSecond < p.PerSecond*blockBytes/2 || p.Median < 0 || p.P95 < p.Median || p.P99 < p.P95 || p.Max < p.P99 {
			t.Errorf("%+v", p)
		}
	}
	want := []string{"sequentialWrite1MiB", "sequentialRead1MiB", "randomWrite16KiB", "randomRead16KiB", "write4KiBFdatasync"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("patterns (-want +got):\n%s", diff)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the data directory has %v, %v", entries, err)
	}
}

// What cannot be measured is left out, and the probe goes on.
func TestVolumeBenchmarkOfNothing(t *testing.T) {
	if list := VolumeBenchmark(t.Context(), filepath.Join(t.TempDir(), "missing"), time.Millisecond); list != nil {
		t.Errorf("%+v", list)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list := VolumeBenchmark(ctx, t.TempDir(), time.Millisecond); list != nil {
		t.Errorf("%+v", list)
	}
}

func TestPatternSummary(t *testing.T) {
	var took []time.Duration
	for i := range 200 {
		took = append(took, time.Duration(200-i)*10*time.Microsecond)
	}
	p := pattern{name: "p", bytes: 4096}
	got, err := p.summarize(took, 2*time.Second)
	want := result.IOPattern{Name: "p", PerSecond: 100, BytesPerSecond: 409600, Median: 1010, P95: 1910, P99: 1990, Max: 2000}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
