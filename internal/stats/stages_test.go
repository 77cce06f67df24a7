// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// None of the stages of trials is better than another: the first one leads, and nothing is ranked.
func TestStagesAreNotRanked(t *testing.T) {
	points := measured("higher", []float64{100, 101, 99}, []float64{2000, 2003, 1997}, []float64{5, 6, 4})
	for i, name := range []string{"l.i0", "l.x", "qr100"} {
		points[i].Parameters, points[i].Metric.Unit = map[string]string{result.StageParameter: name}, "operations/s"
		points[i].Records = []*result.Record{{Summary: &result.Summary{Stage: name}}}
	}
	if got := stats.Headline(points); got != "100 operations/s (99–101) at stage=l.i0; 2 other stages" {
		t.Errorf("headline %s", got)
	}
	if got := stats.Brief(points); got != "100 operations/s at stage=l.i0" {
		t.Errorf("brief %s", got)
	}
	points[0].Parameters[result.StageParameter] = "a-name-that-is-too-long-for-a-column"
	if got := stats.Brief(points); got != "100 operations/s, first of 3 stages" {
		t.Errorf("brief %s", got)
	}
	if s := stats.Stand(points); s.Best != 0 || s.Rivals != nil || stats.Ranked(points) {
		t.Errorf("%+v", s)
	}
	points[0].Summary = stats.Summary{}
	if got := stats.Best(points); got != 1 {
		t.Errorf("without the first stage, stage %d leads", got)
	}
}

// A parameter of somebody's own program may be called stage: its points are ranked.
func TestAParameterCalledStage(t *testing.T) {
	points := measured("higher", []float64{100, 101, 99}, []float64{2000, 2003, 1997})
	for i := range points {
		points[i].Parameters = map[string]string{result.StageParameter: string(rune('a' + i))}
		points[i].Records = []*result.Record{{Summary: &result.Summary{}}}
	}
	if got := stats.Best(points); got != 1 || !stats.Ranked(points) {
		t.Errorf("point %d is the best", got)
	}
}
