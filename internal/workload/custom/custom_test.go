// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package custom

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

func newTestCustom(t *testing.T, p Parameters) (*customTool, error) {
	t.Helper()
	tool, err := NewTool(workload.ToolInput{
		Config: &result.Config{
			Seed: 7, Server: result.Server{Engine: "MariaDB", Host: "db", Port: 3306, Schema: "bench", PasswordFile: "/creds/password"},
			Workload: workloadtest.Load(Definition, p),
		},
		Dir: t.TempDir(), Password: "secret", Environ: []string{"PATH=/bin", "BENCHRUN_CONFIG={}", "BENCHRUN_POD_UID=x"},
	})
	if err != nil {
		return nil, err
	}
	return tool.(*customTool), nil
}

func TestCustomEnvironment(t *testing.T) {
	tool, err := newTestCustom(t, Parameters{
		Command: []string{"tool"}, Env: map[string]string{"MODE": "fast"}, Parameters: map[string]string{"vu": "8"},
	})
	must.Do(t, err)
	env := tool.Commands(workload.PhaseMeasure)[0].Env
	for _, want := range []string{
		"PATH=/bin", "BENCHRUN_DB_HOST=db", "BENCHRUN_DB_PORT=3306", "BENCHRUN_DB_SOCKET=", "BENCHRUN_DB_TLS=Disabled", "BENCHRUN_DB_PASSWORD_FILE=/creds/password",
		"BENCHRUN_SEED=7", "BENCHRUN_PARAM_vu=8", "MODE=fast", "BENCHRUN_RESULT_FILE=" + filepath.Join(tool.dir, "result.json"),
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	must.Lack(t, strings.Join(env, " "), "secret", "BENCHRUN_CONFIG", "POD_UID")
	if len(tool.Commands(workload.PhasePrepare))+len(tool.Commands(workload.PhaseCleanup))+len(tool.Commands(workload.PhaseWarmup)) != 0 {
		t.Error("it executes what nobody asked for")
	}
}

func TestCustomRefusals(t *testing.T) {
	for says, p := range map[string]Parameters{
		"command is empty": {}, "result.pattern: error parsing": {Command: []string{"x"}, Result: &Result{Pattern: "("}},
		"no group named y": {Command: []string{"x"}, Result: &Result{Pattern: "(?P<x>.)", Metrics: []Metric{{Name: "y"}}}},
	} {
		must.Refused(newTestCustom(t, p))(t, says)
	}
}

// No shell looks at a program's arguments, and a value that was put into its place is not looked at again.
func TestCustomSubstitutes(t *testing.T) {
	p := Parameters{
		Command: []string{"tool", "--vu=${vu}", "${vu}-$(HOME)-$$", "${text}", "${vu}${vu}$}{"},
		Prepare: []string{"${vu}"}, Cleanup: []string{"drop", "${text}"}, Env: map[string]string{"VU": "<${vu}>", "TEXT": "${text}"},
		Parameters: map[string]string{"vu": "16", "text": "${vu} ${nobody}", "empty": ""},
	}
	tool := must.Get(newTestCustom(t, p))(t)
	for phase, want := range map[workload.ToolPhase][]string{
		workload.PhaseMeasure: {"tool", "--vu=16", "16-$(HOME)-$$", "${vu} ${nobody}", "1616$}{"},
		workload.PhasePrepare: {"16"},
		workload.PhaseCleanup: {"drop", "${vu} ${nobody}"},
	} {
		must.Same(t, string(phase), want, tool.Commands(phase)[0].Args)
	}
	env := tool.Commands(workload.PhaseMeasure)[0].Env
	for _, want := range []string{"VU=<16>", "TEXT=${vu} ${nobody}", "BENCHRUN_PARAM_vu=16", "BENCHRUN_PARAM_text=${vu} ${nobody}"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
}

func TestCustomRefusesUnknownNames(t *testing.T) {
	for want, change := range map[string]func(*Parameters){
		`command[1]: "a ${nobody} b" has a ${…} that parameters does not name`: func(p *Parameters) {
			p.Command = append(p.Command, "a ${nobody} b")
		},
		`prepare[0]: "${nobody}" has`: func(p *Parameters) { p.Prepare = []string{"${nobody}"} },
		`cleanup[0]: "${VU}" has`:     func(p *Parameters) { p.Cleanup = []string{"${VU}"} },
		`env.A: "${}" has`:            func(p *Parameters) { p.Env = map[string]string{"A": "${}", "B": "${nobody}", "C": "${vu}"} },
		`command[1]: "${vu" has`:      func(p *Parameters) { p.Command = append(p.Command, "${vu") },
	} {
		p := Parameters{Command: []string{"tool"}, Parameters: map[string]string{"vu": "16"}}
		change(&p)
		cfg := &result.Config{Workload: workloadtest.Load(Definition, p)}
		if err := Definition.Validate(cfg); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestCustomPattern(t *testing.T) {
	tool, err := newTestCustom(t, Parameters{Command: []string{"tool"}, Result: &Result{
		Pattern: `(?P<tps>\S+) TPS, (?P<latency>\S+) ms`,
		Metrics: []Metric{{Name: "latency", Unit: "ms", Better: "Lower"}, {Name: "tps", Unit: "transactions/s", Better: "Higher"}},
	}})
	must.Do(t, err)
	read := func(output string) (*workload.Reading, error) {
		return tool.Read([]*workload.Execution{{Command: workload.Command{Args: []string{"tool"}}, Output: output}})
	}
	r := must.Get(read("1 TPS, 2 ms\n812.5 TPS, 1.25e1 ms\r\nbye\n"))(t)
	want := []result.Metric{
		{Name: "latency", Value: 12.5, Unit: "ms", Better: "lower"}, {Name: "tps", Value: 812.5, Unit: "transactions/s", Better: "higher"},
	}
	must.Same(t, "metrics", want, r.Metrics)
	for output, want := range map[string]string{
		"many TPS, 2 ms\n": `the group tps of result.pattern matches "many", which is not a number`,
		"nothing\n":        "printed no line that matches result.pattern",
	} {
		must.Refused(read(output))(t, want)
	}
}

// A number counts only as a whole: a group that matches a part of one is refused, unless the pattern names what is beside it.
func TestCustomPatternTakesWholeNumbers(t *testing.T) {
	for _, tc := range []struct {
		pattern, output string
		// want is the number, or the whole number of which the group is a part.
		want any
	}{
		{`rate: (?P<x>[0-9.]+)`, "rate: 12,345.67 rows/s\n", "12,345.67"},
		{`rate: (?P<x>[0-9.]+)`, "rate: 1.2e+04\n", "1.2e+04"},
		{`rate: (?P<x>[0-9.]+)`, "rate: 1.2E4 rows/s", "1.2E4"},
		{`rate: (?P<x>[0-9.]+)`, "rate: 1.0\rrate: 2.0\rrate: 3.0", 3.0},
		{`rate: (?P<x>[0-9.]+)`, "rate: 1\r\nrate: 2\r\n", 2.0},
		{`rate: (?P<x>[0-9.]+)`, "rate: 1,5 rows/s", "1,5"},
		{`rate: (?P<x>[0-9.]+)`, "rate: 1.234,56", "1.234,56"},
		{`rate: (?P<x>[0-9]+)`, "rate: 1.234.567,8", "1.234.567,8"},
		{`rate: 0?\.(?P<x>[0-9]+)`, "rate: 0.5e-3", "5e-3"},
		{`rate: (?P<x>[0-9]+)`, "rate: 12.5", "12.5"},
		{`rate: (?P<x>[0-9]+)`, "rate: 1'234", "1'234"},
		{`rate: (?P<x>[0-9]+)`, "rate: 1_234", "1_234"},
		{`rate: (?P<x>[0-9]+)`, "rate: 1\u202f234", "1\u202f234"},
		{`rate: (?P<x>[0-9]+)`, "rate: 0x1F", "0x1F"},
		{`rate: (?P<x>[0-9.]+)`, "rate: 1.5k rows/s", "1.5k"},
		{`rate: (?P<x>[0-9.]+)`, "rate: 12M", "12M"},
		{`rate: (?P<x>[0-9.]+)`, "rate: 3Gi", "3Gi"},
		{`rate:.*?(?P<x>[0-9.]+)`, "rate: -5", "-5"},
		{`(?P<x>[0-9.]+) rows`, "12,345.67 rows", "12,345.67"},
		{`(?P<x>[0-9]{2})`, "1234", "1234"},
		{`(?P<x>[0-9.]+).*rows`, "12,345.67 rows", "12,345.67"},

		{`rate: (?P<x>[0-9.]+)`, "rate: 12345.67 rows/s", 12345.67},
		{`rate: (?P<x>[0-9.]+)`, "rate: 12, errors: 3", 12.0},
		{`rate: (?P<x>[0-9.]+)`, "rate: 12. Done", 12.0},
		{`rate: (?P<x>[0-9.]+)`, "rate: 12ms", 12.0},
		{`rate: (?P<x>[0-9.]+)`, "rate: 12MB/s", 12.0},
		{`rate: (?P<x>[0-9.]+)`, "rate: 12 345", 12.0},
		{`rate: (?P<x>[0-9.]+)`, "rate: 12%", 12.0},
		{`rate=(?P<x>[0-9.]+)`, "p99-rate=12/s", 12.0},
		{`rate.(?P<x>[0-9.]+)`, "rate-12", 12.0},
		{`(?P<x>[0-9]+)$`, "2026-11-28", 28.0},
		{`rate: (?P<x>\S+)`, "rate: -1.2e+04", -12000.0},
		{`rate: (?P<x>-?[0-9.e+]+)`, "rate: 1.2e+04", 12000.0},
		{`^(?P<x>[0-9.]+),[0-9]`, "12,345", 12.0},
		{`^[0-9]+,(?P<x>[0-9.]+)`, "12,345", 345.0},
		{`^(?P<x>[0-9.]+)`, "812.5,17,3.5", 812.5},
		{`^(?:(?P<x>[0-9.]+)),`, "12,345", 12.0},
		{`size: (?P<x>[0-9.]+)M`, "size: 12M", 12.0},
	} {
		tool, err := newTestCustom(t, Parameters{Command: []string{"tool"}, Result: &Result{
			Pattern: tc.pattern, Metrics: []Metric{{Name: "x", Unit: "rows/s", Better: "Higher"}},
		}})
		must.Do(t, err)
		r, err := tool.Read([]*workload.Execution{{Command: workload.Command{Args: []string{"tool"}}, Output: tc.output}})
		switch want := tc.want.(type) {
		case string:
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("which is a part of %q", want)) {
				t.Errorf("%s on %q: %v, %+v", tc.pattern, tc.output, err, r)
			}
		case float64:
			if err != nil || r.Metrics[0].Value != want {
				t.Errorf("%s on %q: %v, %+v", tc.pattern, tc.output, err, r)
			}
		}
	}
}

// A group that took no part in the match is no number, and none before it counts.
func TestCustomPatternNeedsEachGroup(t *testing.T) {
	tool, err := newTestCustom(t, Parameters{Command: []string{"tool"}, Result: &Result{
		Pattern: `a=(?P<a>\d+)(?: b=(?P<b>\d+))?`, Metrics: []Metric{{Name: "a", Unit: "x", Better: "Higher"}, {Name: "b", Unit: "x", Better: "Higher"}},
	}})
	must.Do(t, err)
	_, err = tool.Read([]*workload.Execution{{Command: workload.Command{Args: []string{"tool"}}, Output: "a=1 b=2\na=3\n"}})
	must.Fail(t, err, "the group b of result.pattern matches nothing")
}

func TestCustomPod(t *testing.T) {
	for _, tc := range []struct {
		p    Parameters
		want workload.Pod
	}{
		{Parameters{Image: "tool:1", User: 1000}, workload.Pod{Image: "tool:1", User: 1000, Work: true}},
		{
			Parameters{Image: "tool:1", FilesFrom: "files"},
			workload.Pod{Image: "tool:1", Work: true, Files: "files"},
		},
	} {
		got, err := Definition.Pod(&result.Config{Workload: workloadtest.Load(Definition, tc.p)})
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

func TestCustomResultFile(t *testing.T) {
	const metric = `{"name": "x", "value": 1, "unit": "s", "better": "lower"}`
	for text, says := range map[string]string{
		`{"metrics": [` + metric + `]}`:                "",
		`{"metrics": []}`:                              "0 metrics",
		`{"metrics": [` + metric + `,` + metric + `]}`: "metric x is listed twice",
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
		tool := must.Get(newTestCustom(t, Parameters{Command: []string{"tool"}}))(t)
		must.Write(t, filepath.Join(tool.dir, "result.json"), text)
		r, err := tool.Read([]*workload.Execution{{Command: workload.Command{Args: []string{"tool"}}, Took: time.Second}})
		switch {
		case says == "" && (err != nil || r.Metrics[0].Value != 1 || r.Totals.Micros != 1_000_000):
			t.Errorf("%s gives %+v, %v", text, r, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%.100s: %v, want %s", text, err, says)
		}
	}
}

// Warnings are the program's own words; one that says nothing is none.
func TestReportedWarnings(t *testing.T) {
	want := []finding.Finding{finding.OfProgram("it was cold"), finding.OfProgram("cold")}
	must.Same(t, "", want, reported([]string{"it was cold", "", " \n", "cold"}))
}

// Of long last lines, those are said that come last.
func TestCustomLastLines(t *testing.T) {
	e := &workload.Execution{Tail: slices.Repeat([]string{strings.Repeat("x", 5000)}, 19)}
	e.Tail = append(e.Tail, "the end")
	if got := lastLines(e); len(got) > 900 || !strings.HasSuffix(got, "| the end") || !strings.HasPrefix(got, "its last 4 lines: xxx") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
