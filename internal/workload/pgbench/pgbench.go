// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package pgbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// maxTries is how often a transaction is tried that others disturb.
const maxTries = "20"

// tool runs pgbench. It writes a line for each transaction, from which the latencies are read, to files that are removed.
type tool struct {
	cfg      *result.Config
	params   *Parameters
	user, db string
	env      []string
	// logs is where the program writes its lines, as the beginning of their files' names.
	logs  string
	sides int
	// warmed is how many transactions the warm-up had.
	warmed int64
}

// NewTool makes the load.
func NewTool(in workload.ToolInput) (workload.Tool, error) {
	p, err := parameters(in.Config)
	if err != nil {
		return nil, err
	}
	env := slices.DeleteFunc(slices.Clone(in.Environ), func(variable string) bool {
		return !strings.HasPrefix(variable, "PATH=")
	})
	env = append(env, "LC_ALL=C")
	return &tool{
		cfg: in.Config, params: p, user: in.User, db: in.Database, sides: max(in.Sides, 1),
		env: append(env, workload.LibpqEnv(&in.Config.Server, in.Password)...),
		// Not in the tool's folder, which is small and in memory. Another side of the same process has another folder.
		logs: filepath.Join(os.TempDir(), filepath.Base(in.Dir)+"-log"),
	}, nil
}

func (t *tool) Name() string { return "pgbench" }

func (t *tool) Files() map[string]string { return nil }

func (t *tool) Commands(phase workload.ToolPhase) []workload.Command {
	switch {
	case phase == workload.PhasePrepare:
		return t.command("--initialize", "--quiet", fmt.Sprintf("--scale=%d", t.params.Scale))
	case phase == workload.PhaseWarmup && t.params.WarmupSeconds > 0:
		// Another seed: the warm-up must not do the very transactions that are measured.
		return t.run(^t.cfg.Seed, int(t.params.WarmupSeconds))
	case phase == workload.PhaseMeasure:
		return t.run(t.cfg.Seed, t.sides*t.seconds(), "--progress=1", "--log", "--log-prefix="+t.logs)
	case phase == workload.PhaseCleanup && !t.cfg.KeepData:
		return t.command("--initialize", "--init-steps=d")
	}
	return nil
}

func (t *tool) seconds() int { return cmp.Or(t.cfg.LimitSeconds, defaultSeconds) }

// run is the load for so many seconds.
func (t *tool) run(seed int64, seconds int, options ...string) []workload.Command {
	p := t.params
	args := []string{
		"--no-vacuum", fmt.Sprintf("--client=%d", p.Clients), fmt.Sprintf("--jobs=%d", min(int(p.Clients), runtime.NumCPU())),
		fmt.Sprintf("--time=%d", seconds), "--protocol=" + protocols[p.Protocol], "--max-tries=" + maxTries, "--failures-detailed",
		fmt.Sprintf("--random-seed=%d", uint64(seed)), //nolint:gosec // a seed may wrap
	}
	if p.RatePerSecond > 0 {
		args = append(args, fmt.Sprintf("--rate=%d", p.RatePerSecond))
	}
	if p.ScriptFrom == nil {
		args = append(args, "--builtin="+scripts[p.Script].builtin)
	} else {
		args = append(args, fmt.Sprintf("--scale=%d", p.Scale), "--file="+filepath.Join(t.cfg.Workload.FilesPath, p.ScriptFrom.Key))
	}
	return t.command(append(args, options...)...)
}

func (t *tool) command(args ...string) []workload.Command {
	s := &t.cfg.Server
	where := []string{"pgbench", "--host=" + workload.LibpqHost(s), fmt.Sprintf("--port=%d", s.Port), "--username=" + t.user}
	return []workload.Command{{Args: append(append(where, args...), t.db), Env: t.env}}
}

// Dataset implements Tool: scripts of the program have the same tables.
func (t *tool) Dataset() workload.Dataset {
	if !t.cfg.KeepData {
		return workload.Dataset{}
	}
	key, err := json.Marshal(map[string]any{"Pgbench": t.params.Scale})
	if err != nil {
		return workload.Dataset{}
	}
	return workload.Dataset{Name: string(key), Spent: t.params.writes()}
}

var progressLine = regexp.MustCompile(`^progress: ([\d.]+) s, ([\d.]+) tps, lat ([\d.]+) ms`)

func (t *tool) Progress(line string) string {
	m := progressLine.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("%s s: %s transactions/s", strings.TrimSuffix(m[1], ".0"), m[2])
}

// Judge implements Tool. A client that was given up does not end the program with an error before version 17.
func (t *tool) Judge(phase workload.ToolPhase, e *workload.Execution) ([]result.Check, error) {
	var errs []string
	for line := range workload.Lines(e.Output) {
		if strings.HasPrefix(line, "pgbench: error: ") && len(errs) < 4 {
			errs = append(errs, result.Truncate(strings.TrimPrefix(line, "pgbench: "), 300))
		}
	}
	if e.ExitCode == 0 && e.Signal == "" && len(errs) == 0 {
		if phase == workload.PhaseWarmup {
			r, err := parse(e.Output)
			if err != nil {
				return nil, err
			}
			t.warmed += r.transactions
		}
		return nil, nil
	}
	if len(errs) == 0 {
		errs = e.Tail[max(0, len(e.Tail)-4):]
	}
	return nil, workload.Connecting(fmt.Errorf("pgbench ended with %s: %s", e.End(), strings.Join(errs, "; ")))
}

// report is what the program prints at its end.
type report struct {
	version                       string
	transactions, failed, retries int64
	// seconds that were measured, without those of connecting.
	seconds float64
	series  []result.Interval
}

var numbers = regexp.MustCompile(`^(pgbench \((\S+)|number of transactions actually processed: (\d+)|` +
	`number of failed transactions: (\d+)|total number of retries: (\d+)|tps = ([\d.]+) \(without)`)

func parse(text string) (*report, error) {
	r, tps := &report{}, 0.0
	for line := range workload.Lines(text) {
		if m := progressLine.FindStringSubmatch(line); m != nil {
			r.interval(m)
		}
		m := numbers.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for i, into := range []*int64{3: &r.transactions, 4: &r.failed, 5: &r.retries} {
			if into != nil && m[i] != "" {
				*into, _ = strconv.ParseInt(m[i], 10, 64) // it is a number that there was time for
			}
		}
		r.version = cmp.Or(r.version, m[2])
		if m[6] != "" {
			tps, _ = strconv.ParseFloat(m[6], 64) // the expression has a number
		}
	}
	if tps <= 0 || r.transactions == 0 {
		return nil, errors.New("pgbench reports no transaction: set more seconds, or fewer clients")
	}
	r.seconds = float64(r.transactions) / tps
	return r, nil
}

// interval adds what was done since the last one.
func (r *report) interval(m []string) {
	at, _ := strconv.ParseFloat(m[1], 64) // the expression has numbers
	rate, _ := strconv.ParseFloat(m[2], 64)
	before := 0.0
	if n := len(r.series); n > 0 {
		before = float64(r.series[n-1].EndMicros) / 1e6
	}
	if at <= before {
		return
	}
	r.series = append(r.series, result.Interval{
		EndMicros: int64(math.Round(at * 1e6)), Transactions: int64(math.Round(rate * (at - before))),
	})
}

// Verify implements Tool.
func (t *tool) Verify(ctx context.Context, in workload.VerifyInput) ([]result.Check, error) {
	checks := []result.Check{workload.ServerCounted(in)}
	s := scripts[t.params.Script]
	if !s.history || !checks[0].Passed {
		return checks, nil
	}
	want := in.Reading.Totals.Transactions + in.Reading.Outside.Transactions + t.warmed
	var got int64
	if err := in.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM pgbench_history").Scan(&got); err != nil {
		return nil, fmt.Errorf("counting the rows of the history: %w", err)
	}
	checks = append(checks, result.Check{
		Name: "history", Passed: got == want, Detail: fmt.Sprintf("%d transactions, %d rows in the history", want, got),
	})
	sums := []string{"SELECT SUM(delta) FROM pgbench_history", "SELECT SUM(abalance) FROM pgbench_accounts"}
	if s.totals {
		sums = append(sums, "SELECT SUM(tbalance) FROM pgbench_tellers", "SELECT SUM(bbalance) FROM pgbench_branches")
	}
	var found []int64
	for _, query := range sums {
		var sum int64
		if err := in.DB.QueryRowContext(ctx, "SELECT COALESCE(("+query+"), 0)::bigint").Scan(&sum); err != nil {
			return nil, fmt.Errorf("adding up balances: %w", err)
		}
		found = append(found, sum)
	}
	return append(checks, result.Check{
		Name: "balances", Passed: len(slices.Compact(slices.Clone(found))) == 1,
		Detail: fmt.Sprintf("the sums of what was added: %v", found),
	}), nil
}

// Sliced implements workload.Sliced.
func (t *tool) Sliced() (clients int, limit time.Duration, err error) {
	if t.params.RatePerSecond > 0 {
		err = errors.New("a rate cannot be kept in slices: pgbench's schedule goes on while it is halted")
	}
	return int(t.params.Clients), time.Duration(t.seconds()) * time.Second, err
}
