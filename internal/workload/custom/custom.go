// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package custom is the workload Custom: a program of the user's makes the load.
package custom

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

const (
	// customResultFile is a file in the tool's folder that the program writes.
	customResultFile = "result.json"
	maxResultFile    = 1 << 20
	maxMetrics       = 16
	maxSeries        = 3600
)

var (
	metricName = regexp.MustCompile(`^[a-z][a-zA-Z0-9]{0,39}$`)
	metricUnit = regexp.MustCompile(`^\S{1,32}$`)
)

type customTool struct {
	cfg     *result.Config
	params  *Parameters
	dir     string
	environ []string
	pattern *regexp.Regexp
}

// NewTool makes the load.
func NewTool(in workload.ToolInput) (workload.Tool, error) {
	p, err := parameters(in.Config)
	if err != nil {
		return nil, err
	}
	t := &customTool{cfg: in.Config, params: p, dir: in.Dir, environ: in.Environ}
	if p.Result != nil {
		t.pattern, err = regexp.Compile(p.Result.Pattern)
	}
	return t, err
}

func (t *customTool) Name() string { return filepath.Base(t.params.Command[0]) }

func (t *customTool) Files() map[string]string { return nil }

func (t *customTool) Dataset() workload.Dataset { return workload.Dataset{} }

func (t *customTool) Progress(line string) string { return result.Truncate(line, 200) }

func (t *customTool) Commands(phase workload.ToolPhase) []workload.Command {
	args := map[workload.ToolPhase][]string{
		workload.PhasePrepare: t.params.Prepare, workload.PhaseMeasure: t.params.Command, workload.PhaseCleanup: t.params.Cleanup,
	}[phase]
	if len(args) == 0 {
		return nil
	}
	return []workload.Command{{Args: args, Env: t.env()}}
}

// env is the image's environment, where the database is, and what the run adds.
func (t *customTool) env() []string {
	env := slices.DeleteFunc(slices.Clone(t.environ), func(variable string) bool { return strings.HasPrefix(variable, "BENCHRUN_") })
	s := t.cfg.Server
	env = append(env,
		"BENCHRUN_DB_ENGINE="+s.Engine, "BENCHRUN_DB_HOST="+s.Host, "BENCHRUN_DB_PORT="+strconv.Itoa(s.Port),
		"BENCHRUN_DB_SOCKET="+s.Socket, "BENCHRUN_DB_SCHEMA="+s.Schema,
		"BENCHRUN_DB_USER_FILE="+s.UserFile, "BENCHRUN_DB_PASSWORD_FILE="+s.PasswordFile,
		"BENCHRUN_DB_TLS="+cmp.Or(s.TLS, "Disabled"), "BENCHRUN_DB_CA_FILE="+s.CAFile,
		"BENCHRUN_SEED="+strconv.FormatInt(t.cfg.Seed, 10), "BENCHRUN_RESULT_FILE="+filepath.Join(t.dir, customResultFile))
	for _, name := range slices.Sorted(maps.Keys(t.params.Parameters)) {
		env = append(env, "BENCHRUN_PARAM_"+name+"="+t.params.Parameters[name])
	}
	for _, name := range slices.Sorted(maps.Keys(t.params.Env)) {
		env = append(env, name+"="+t.params.Env[name])
	}
	return env
}

func (t *customTool) Judge(_ workload.ToolPhase, e *workload.Execution) ([]result.Check, error) {
	if e.ExitCode == 0 && e.Signal == "" {
		return nil, nil
	}
	return nil, fmt.Errorf("%s ended with %s; %s", e.Args[0], e.End(), lastLines(e))
}

// What goes into a failure's message, which has room for 1 KiB; the Pod's log has all 20 lines.
const (
	maxTailLine = 200
	maxTail     = 700
)

// lastLines are what a person looks for first: of the last lines, the last ones that there is room for.
func lastLines(e *workload.Execution) string {
	if len(e.Tail) == 0 {
		return "it printed nothing"
	}
	var lines []string
	room := maxTail
	for _, line := range slices.Backward(e.Tail) {
		line = result.Truncate(strings.TrimSpace(line), maxTailLine)
		if room -= len(line); room < 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return fmt.Sprintf("its last %d lines: %s", len(lines), strings.Join(lines, " | "))
}

// customReport is the result file: see docs/reference/workloads/custom.md.
type customReport struct {
	// Metrics are the numbers to compare, the headline first; at least one.
	Metrics []result.Metric `json:"metrics"`
	// Rows, Transactions and Statements are what was done, as far as the program knows.
	Rows         int64 `json:"rows"`
	Transactions int64 `json:"transactions"`
	Statements   int64 `json:"statements"`
	// Seconds that were measured; 0: as long as the program ran.
	Seconds   float64           `json:"seconds"`
	Latencies []result.Latency  `json:"latencies"`
	Series    []result.Interval `json:"series"`
	Checks    []result.Check    `json:"checks"`
	Warnings  []string          `json:"warnings"`
	// Version of the program.
	Version string `json:"version"`
}

// Read implements Tool. There is one Pod.
func (t *customTool) Read(executions []*workload.Execution) (*workload.Reading, error) {
	e := executions[0]
	report, err := t.report(e)
	if err != nil {
		return nil, err
	}
	if err := report.validate(); err != nil {
		return nil, fmt.Errorf("reading the program's result: %w", err)
	}
	r := &workload.Reading{
		Totals: result.Totals{
			Rows: report.Rows, Transactions: report.Transactions, Statements: report.Statements,
			Micros: e.Took.Microseconds(), StoppedBy: result.StoppedByRows,
		},
		Metrics: report.Metrics, Latencies: report.Latencies, Series: report.Series, Checks: report.Checks,
		Findings: reported(report.Warnings), Version: report.Version,
	}
	if report.Seconds > 0 {
		r.Totals.Micros = int64(math.Round(report.Seconds * 1e6))
	}
	r.Totals.Micros = max(r.Totals.Micros, 1)
	return r, nil
}

// report is what the program left: in its output, if there is a pattern, and else in its file.
func (t *customTool) report(e *workload.Execution) (*customReport, error) {
	if t.pattern != nil {
		return t.matched(e)
	}
	path := filepath.Join(t.dir, customResultFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s ended with exit code 0 but wrote no result to the file that "+
			"BENCHRUN_RESULT_FILE names; %s", e.Args[0], lastLines(e))
	case err != nil:
		return nil, fmt.Errorf("reading the program's result: %w", err)
	case info.Size() > maxResultFile:
		return nil, fmt.Errorf("the program's result file has %d bytes; at most %d are allowed", info.Size(), maxResultFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the program's result: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var report customReport
	if err := decoder.Decode(&report); err != nil {
		return nil, fmt.Errorf("reading the program's result file: %w", err)
	}
	return &report, nil
}

func (r *customReport) validate() error {
	switch {
	case len(r.Metrics) == 0 || len(r.Metrics) > maxMetrics:
		return fmt.Errorf("it has %d metrics but must have 1 to %d", len(r.Metrics), maxMetrics)
	case min(r.Rows, r.Transactions, r.Statements) < 0 || r.Seconds < 0:
		return errors.New("rows, transactions, statements and seconds must not be negative")
	case len(r.Series) > maxSeries || len(r.Latencies) > maxMetrics || len(r.Checks) > 1000 || len(r.Warnings) > 100:
		return fmt.Errorf("it is too long: at most %d intervals, %d latencies, 1000 checks and 100 warnings", maxSeries, maxMetrics)
	}
	seen := map[string]bool{}
	for _, m := range r.Metrics {
		if seen[m.Name] {
			return fmt.Errorf("metric %s is listed twice", m.Name)
		}
		if err := validateMetric(m); err != nil {
			return err
		}
		seen[m.Name] = true
	}
	return nil
}

func validateMetric(m result.Metric) error {
	switch {
	case !metricName.MatchString(m.Name):
		return fmt.Errorf("a metric's name is %q but must be at most 40 letters and digits, beginning in lower case", m.Name)
	case math.IsNaN(m.Value) || math.IsInf(m.Value, 0):
		return fmt.Errorf("metric %s is %v but must be a number", m.Name, m.Value)
	case !metricUnit.MatchString(m.Unit):
		return fmt.Errorf("metric %s has the unit %q, which must be 1 to 32 characters without spaces", m.Name, m.Unit)
	case m.Better != "higher" && m.Better != "lower":
		return fmt.Errorf("metric %s has better: %q, which must be higher or lower", m.Name, m.Better)
	}
	return nil
}

func (t *customTool) Verify(_ context.Context, in workload.VerifyInput) ([]result.Check, error) {
	return []result.Check{workload.ServerCounted(in)}, nil
}

func reported(warnings []string) []finding.Finding {
	var all []finding.Finding
	for _, text := range warnings {
		if strings.TrimSpace(text) != "" {
			all = append(all, finding.OfProgram(text))
		}
	}
	return all
}
