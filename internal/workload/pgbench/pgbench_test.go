// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package pgbench

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

const password = `se'c"ret`

func newTest(t *testing.T, change func(*result.Config, *Parameters)) *tool {
	t.Helper()
	cfg := &result.Config{Seed: 42, LimitSeconds: 10, Server: result.Server{Engine: "PostgreSQL", Host: "db", Port: 5432, Schema: "bench"}}
	p := &Parameters{Script: "TPCBLike", Scale: 5, Clients: 1, Protocol: "Prepared"}
	if change != nil {
		change(cfg, p)
	}
	cfg.Workload = workloadtest.Load(Definition, p)
	cfg.Workload.FilesPath = "/files"
	in := workload.ToolInput{
		Config: cfg, Dir: "/tool", User: "u", Password: password, Database: "app", Environ: []string{"PATH=/pg", "HOME=/x"}, Sides: 2,
	}
	made := must.Get(NewTool(in))(t).(*tool)
	made.logs = filepath.Join(t.TempDir(), "log")
	return made
}

func TestCommands(t *testing.T) {
	made := newTest(t, func(_ *result.Config, p *Parameters) { p.RatePerSecond, p.WarmupSeconds = 100, 3 })
	made.logs = "/tmp/log"
	const where = "pgbench --host=db --port=5432 --username=u "
	for phase, want := range map[workload.ToolPhase]string{
		workload.PhasePrepare: where + "--initialize --quiet --scale=5 app",
		workload.PhaseWarmup: where + "--no-vacuum --client=1 --jobs=1 --time=3 --protocol=prepared --max-tries=20 --failures-detailed " +
			"--random-seed=18446744073709551573 --rate=100 --builtin=tpcb-like app",
		workload.PhaseMeasure: where + "--no-vacuum --client=1 --jobs=1 --time=20 --protocol=prepared --max-tries=20 --failures-detailed " +
			"--random-seed=42 --rate=100 --builtin=tpcb-like --progress=1 --log --log-prefix=/tmp/log app",
		workload.PhaseCleanup: where + "--initialize --init-steps=d app",
	} {
		commands := made.Commands(phase)
		must.Same(t, string(phase), want, strings.Join(commands[0].Args, " "))
		env := commands[0].Env
		for _, variable := range []string{"PATH=/pg", "PGPASSWORD=" + password, "PGOPTIONS=-c search_path=bench", "PGSSLMODE=disable"} {
			if !slices.Contains(env, variable) || slices.Contains(env, "HOME=/x") {
				t.Errorf("%s: the environment is %q", phase, env)
			}
		}
	}
	own := newTest(t, func(cfg *result.Config, p *Parameters) {
		p.Script, p.ScriptFrom, cfg.Server.Socket = "", &ScriptFrom{"shop", "pay.sql"}, "/run/socket/.s.PGSQL.5432"
	})
	must.Has(t, strings.Join(own.Commands(workload.PhaseMeasure)[0].Args, " "), "--scale=5 --file=/files/pay.sql", "--host=/run/socket ")
}

func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*result.Config, *Parameters){
		"one of script and scriptFrom must be set": func(_ *result.Config, p *Parameters) { p.Script = "" },
		`script is "tpcb" but must be`:             func(_ *result.Config, p *Parameters) { p.Script = "tpcb" },
		`protocol is "" but must be`:               func(_ *result.Config, p *Parameters) { p.Protocol = "" },
		"clients is 0 but must be at least 1":      func(_ *result.Config, p *Parameters) { p.Clients = 0 },
		"are for the program's own scripts": func(cfg *result.Config, p *Parameters) {
			p.Script, p.ScriptFrom, cfg.KeepData = "", &ScriptFrom{"a", "b"}, true
		},
	} {
		cfg, p := &result.Config{}, &Parameters{Script: "SelectOnly", Scale: 1, Clients: 1, Protocol: "Simple"}
		change(cfg, p)
		cfg.Workload = workloadtest.Load(Definition, p)
		must.Refused(parameters(cfg))(t, want)
	}
}

// output is what version 17 prints.
const output = `pgbench (17.12 (Debian 17.12-0+deb13u1))
pgbench: setting random seed to 42
progress: 1.0 s, 2.0 tps, lat 3.190 ms stddev 3.901, 0 failed, 0 retried, 0 retries
progress: 2.0 s, 1.0 tps, lat 3.267 ms stddev 5.753, 1 failed, 1 retried, 1 retries
transaction type: <builtin: TPC-B (sort of)>
number of transactions actually processed: 3
number of failed transactions: 1 (25.000%)
number of transactions retried: 1 (25.000%)
total number of retries: 2
latency average = 3.204 ms
tps = 1.500000 (without initial connection time)
`

func TestRead(t *testing.T) {
	made := newTest(t, nil)
	must.Write(t, made.logs+".10", "0 1 1000 0 1796122130 171207\n0 2 3000 0 1796122130 171207\n0 3 serialization 0 1796122130 1\n")
	must.Write(t, made.logs+".10.1", "1 1 9000 0 1796122130 171207 15\n")
	r := must.Get(made.Read([]*workload.Execution{{Output: output}}))(t)
	must.Same(t, "totals", result.Totals{
		Transactions: 3, Statements: 21, Errors: 3, Micros: 2_000_000, StoppedBy: result.StoppedBySeconds,
	}, r.Totals)
	l := r.Latencies[0]
	if l.Count != 3 || l.MinMicros != 1000 || l.P50Micros/10 != 300 || l.MaxMicros/10 != 900 || r.Metrics[0].Value != 1.5 || r.Version != "17.12" {
		t.Errorf("%+v, %+v, %s", l, r.Metrics, r.Version)
	}
	must.Same(t, "series", []result.Interval{{EndMicros: 1e6, Transactions: 2}, {EndMicros: 2e6, Transactions: 1}}, r.Series)
	if !r.Checks[0].Passed {
		t.Error(r.Checks)
	}
	if left, _ := filepath.Glob(made.logs + "*"); left != nil {
		t.Errorf("%s are left", left)
	}
	// Without its lines, the program's numbers prove nothing.
	if again := must.Get(made.Read([]*workload.Execution{{Output: output}}))(t); again.Checks[0].Passed {
		t.Error("no line, and the check has passed")
	}
	must.Refused(made.Read([]*workload.Execution{{Output: "tps = 0.000000 (without initial connection time)\n"}}))(t, "no transaction")
}

// In slices, the server's counter says which part of what was done counts.
func TestReadInSlices(t *testing.T) {
	made := newTest(t, nil)
	r := must.Get(made.Read([]*workload.Execution{{Output: output, Slices: &workload.Slices{
		Statements: 15, Counted: 10, Active: 2 * time.Second, Windows: time.Second, LongestDrain: time.Millisecond,
	}}}))(t)
	if r.Totals.Transactions != 2 || r.Totals.Micros != 1e6 || r.Outside.Transactions != 1 || r.Metrics[0].Value != 2 || r.Latencies != nil {
		t.Errorf("%+v", r)
	}
	must.Same(t, "slices", "slices", r.Checks[1].Name)
}

func TestJudge(t *testing.T) {
	made := newTest(t, nil)
	for text, want := range map[string]error{
		"pgbench: error: client 1 script 0 aborted: server closed the connection unexpectedly": workload.ErrConnectionLost,
		"pgbench: error: FATAL:  sorry, too many clients already":                              workload.ErrTooManyConnections,
	} {
		_, err := made.Judge(workload.PhaseMeasure, &workload.Execution{ExitCode: 2, Output: text})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "pgbench ended with exit code 2: error: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
	// A client that was given up ends an old version with 0.
	must.Refused(made.Judge(workload.PhaseMeasure, &workload.Execution{Output: output + "pgbench: error: client 0 aborted\n"}))(t, "aborted")
	must.Get(made.Judge(workload.PhaseWarmup, &workload.Execution{Output: output}))(t)
	must.Same(t, "transactions of the warm-up", int64(3), made.warmed)
}
