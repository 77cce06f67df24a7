// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/plan"
)

// presetOf is a workload with a preset, and what else is asked for.
func presetOf(also string) string {
	return `{"type": "IIBench", "iiBench": {"preset": "SmallDatum"` + also + `}}`
}

// chainOf are the parameters of the loader that a preset becomes.
func chainOf(t *testing.T, workload string) map[string]json.RawMessage {
	t.Helper()
	spec := specOf(t, workload, "")
	p, err := plan.ForRun(spec)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := parametersAt(&spec.Workload, p.Points[0])
	if err != nil {
		t.Fatal(err)
	}
	var parameters map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &parameters); err != nil {
		t.Fatal(err)
	}
	return parameters
}

// A preset is the same as its stages written out, scaled by one number.
func TestPresetIsItsStages(t *testing.T) {
	written := `{"type": "IIBench", "iiBench": {"clients": 2, "stages": [
	{"name": "l.i0", "insert": {"rows": 1200000, "rowsPerCommit": 100}},
	{"name": "l.x", "createIndexes": 3},
	{"name": "l.i1", "insert": {"rows": 1600000, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "l.i2", "insert": {"rows": 400000, "rowsPerCommit": 5, "deletePerInsert": true}},
	{"name": "rest", "rest": {"atLeastSeconds": 2}},
	{"name": "qr100", "query": {"by": "SecondaryRange", "seconds": 36, "ratePerSecond": 200, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qp100", "query": {"by": "PrimaryKey", "seconds": 36, "ratePerSecond": 200, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qr500", "query": {"by": "SecondaryRange", "seconds": 36, "ratePerSecond": 1000, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qp500", "query": {"by": "PrimaryKey", "seconds": 36, "ratePerSecond": 1000, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qr1000", "query": {"by": "SecondaryRange", "seconds": 36, "ratePerSecond": 2000, "rowsPerCommit": 50, "deletePerInsert": true}},
	{"name": "qp1000", "query": {"by": "PrimaryKey", "seconds": 36, "ratePerSecond": 2000, "rowsPerCommit": 50, "deletePerInsert": true}}]}}`
	want, got := chainOf(t, written), chainOf(t, presetOf(`, "clients": 2, "scale": "0.02"`))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parameters (-stages +preset):\n%s", diff)
	}
	p, err := plan.ForRun(specOf(t, presetOf(`, "scale": "0.02"`), ""))
	if err != nil || p.Stages != 10 || p.Points[1].Parameters["stage"] != "l.x" {
		t.Errorf("%d stages, points %v, %v", p.Stages, p.Points, err)
	}
}

// One table has rows of all clients, of which none is deleted; short queries take ten seconds.
func TestPresetBounds(t *testing.T) {
	stages := string(chainOf(t, presetOf(`, "tables": "Shared", "scale": "0.001"`))["stages"])
	if strings.Contains(stages, `"deletePerInsert":true`) || strings.Count(stages, `"seconds":10`) != 6 {
		t.Errorf("stages %s", stages)
	}
	stages = string(chainOf(t, presetOf(""))["stages"])
	if !strings.Contains(stages, `"rows":30000000`) || !strings.Contains(stages, `"atLeastSeconds":90`) ||
		strings.Count(stages, `"seconds":1800`) != 6 {
		t.Errorf("stages %s", stages)
	}
}

// What a preset would write beyond the bounds of its stages is refused with what to reduce.
func TestPresetTooLarge(t *testing.T) {
	_, err := plan.ForRun(specOf(t, presetOf(`, "clients": 64`), ""))
	if err == nil || !strings.Contains(err.Error(), "2560000000 rows in a stage for 64 clients") {
		t.Errorf("error %v", err)
	}
}
