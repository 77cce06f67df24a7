// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

func newTestCustom(t *testing.T, p result.Custom) (*customTool, error) {
	t.Helper()
	tool, err := NewCustom(workload.ToolInput{
		Config: &result.Config{
			Seed: 7, Server: result.Server{Engine: "MariaDB", Host: "db", Port: 3306, Schema: "bench", PasswordFile: "/creds/password"},
			Workload: result.Workload{Type: "Custom", Custom: &p},
		},
		Dir: t.TempDir(), Password: "secret", Environ: []string{"PATH=/bin", "BENCHRUN_CONFIG={}", "BENCHRUN_POD_UID=x"},
	})
	if err != nil {
		return nil, err
	}
	return tool.(*customTool), nil
}

func TestCustomEnvironment(t *testing.T) {
	tool, err := newTestCustom(t, result.Custom{
		Command: []string{"tool"}, Env: map[string]string{"MODE": "fast"}, Parameters: map[string]string{"vu": "8"},
	})
	if err != nil {
		t.Fatal(err)
	}
	env := tool.Commands(workload.PhaseMeasure)[0].Env
	for _, want := range []string{
		"PATH=/bin", "BENCHRUN_DB_HOST=db", "BENCHRUN_DB_PORT=3306", "BENCHRUN_DB_TLS=Disabled", "BENCHRUN_DB_PASSWORD_FILE=/creds/password",
		"BENCHRUN_SEED=7", "BENCHRUN_PARAM_vu=8", "MODE=fast", "BENCHRUN_RESULT_FILE=" + filepath.Join(tool.dir, "result.json"),
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	if text := strings.Join(env, " "); strings.Contains(text, "secret") || strings.Contains(text, "BENCHRUN_CONFIG") || strings.Contains(text, "POD_UID") {
		t.Errorf("environment %s", text)
	}
	if len(tool.Commands(workload.PhasePrepare))+len(tool.Commands(workload.PhaseCleanup))+len(tool.Commands(workload.PhaseWarmup)) != 0 {
		t.Error("it executes what nobody asked for")
	}
}

func TestCustomRefusals(t *testing.T) {
	for says, p := range map[string]result.Custom{
		"command is empty": {}, "result.pattern: error parsing": {Command: []string{"x"}, Pattern: "("},
		"no group named y": {Command: []string{"x"}, Pattern: "(?P<x>.)", Metrics: []result.CustomMetric{{Name: "y"}}},
	} {
		if _, err := newTestCustom(t, p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestCustomResultFile(t *testing.T) {
	const metric = `{"name": "x", "value": 1, "unit": "s", "better": "lower"}`
	for text, says := range map[string]string{
		`{"metrics": [` + metric + `]}`:                "",
		`{"metrics": []}`:                              "0 metrics",
		`{"metrics": [` + metric + `,` + metric + `]}`: "metric x is there twice",
		`{"metrics": [{"name": "X", "value": 1, "unit": "s", "better": "lower"}]}`:          `name is "X"`,
		`{"metrics": [{"name": "x", "value": 1, "unit": "a b", "better": "lower"}]}`:        "without spaces",
		`{"metrics": [{"name": "x", "value": 1, "unit": "s", "better": "smaller"}]}`:        "higher or lower",
		`{"metrics": [` + metric + `], "seconds": -1}`:                                      "must not be negative",
		`{"metrics": [` + metric + `], "transaction": 1}`:                                   "unknown field",
		`{"metrics": [` + strings.Repeat(metric+",", maxMetrics) + metric + `]}`:            "17 metrics",
		`{"metrics": [{"name": "x", "value": 1e400, "unit": "s", "better": "lower"}]}`:      "cannot unmarshal",
		`{"metrics": [` + metric + `], "warnings": [` + strings.Repeat(`"",`, 100) + `""]}`: "too long",
		strings.Repeat(" ", maxResultFile+1):                                                "at most",
	} {
		tool, err := newTestCustom(t, result.Custom{Command: []string{"tool"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tool.dir, "result.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := tool.Read([]*workload.Execution{{Command: workload.Command{Args: []string{"tool"}}, Took: time.Second}})
		switch {
		case says == "" && (err != nil || r.Metrics[0].Value != 1 || r.Totals.Micros != 1_000_000):
			t.Errorf("%s gives %+v, %v", text, r, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%.100s: %v, want %s", text, err, says)
		}
	}
}

// Of long last lines, those are said that come last.
func TestCustomLastLines(t *testing.T) {
	e := &workload.Execution{Tail: slices.Repeat([]string{strings.Repeat("x", 5000)}, 19)}
	e.Tail = append(e.Tail, "the end")
	if got := lastLines(e); len(got) > 900 || !strings.HasSuffix(got, "| the end") || !strings.HasPrefix(got, "its last 4 lines: xxx") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
