// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sysbench is the workload Sysbench: the program sysbench 1.0 makes the load.
package sysbench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench/output"
)

// sysbenchTool runs sysbench 1.0, as distributions ship it.
//
// What is measured is an execution of its own, and so is the warm-up, because 1.0 has no --warmup-time. The other way, a
// checkpoint in the report at the end of the warm-up, would leave the first part of the intervals, the server's counters
// and the client's CPU time in one piece with what is measured.
type sysbenchTool struct {
	cfg                *result.Config
	params             *Parameters
	script             script
	dir                string
	user, password, db string
	share              workload.Share
	sides              int
	warmupEvents       int64
}

// NewTool makes the load.
func NewTool(in workload.ToolInput) (workload.Tool, error) {
	p, err := parameters(in.Config)
	if err != nil {
		return nil, err
	}
	return &sysbenchTool{
		cfg: in.Config, params: p, script: p.script(), dir: in.Dir, user: in.User, password: in.Password, db: in.Database,
		share: workload.ShareOf(in.Config), sides: max(in.Sides, 1),
	}, nil
}

func (t *sysbenchTool) Name() string { return "sysbench" }

func (t *sysbenchTool) Files() map[string]string { return t.script.files() }

func (t *sysbenchTool) Commands(phase workload.ToolPhase) []workload.Command {
	switch {
	case phase == workload.PhasePrepare:
		return t.available("cleanup", "prepare", "check")
	case phase == workload.PhaseWarmup && t.params.WarmupSeconds > 0:
		// Another seed: the warm-up must not do the very transactions that are measured.
		return t.run("--rand-seed="+sysbenchSeed(^t.cfg.Seed+t.share.Pod), "--events=0",
			fmt.Sprintf("--time=%d", t.params.WarmupSeconds))
	case phase == workload.PhaseMeasure:
		return t.run("--rand-seed="+t.podSeed(), fmt.Sprintf("--events=%d", t.share.Of(t.params.Events)),
			fmt.Sprintf("--time=%d", t.sides*int(t.params.Seconds)), "--report-interval=1", "--histogram=on")
	case phase == workload.PhaseVerify:
		return t.available("check")
	case phase == workload.PhaseCleanup && !t.cfg.KeepData:
		return t.available("cleanup")
	}
	return nil
}

// available are those of the commands that the script has.
func (t *sysbenchTool) available(commands ...string) []workload.Command {
	var all []workload.Command
	for _, command := range commands {
		if slices.Contains(t.params.commands(), command) {
			all = append(all, t.command(command, "--rand-seed="+t.seed()))
		}
	}
	return all
}

// run is the command run. Its options are those of the script, this Pod's part of threads and rate if there are several Pods,
// and the given ones.
func (t *sysbenchTool) run(options ...string) []workload.Command {
	all := t.script.options()
	if t.share.Pods > 1 {
		all = append(all, fmt.Sprintf("--threads=%d", t.share.Of(int64(t.params.Clients))),
			fmt.Sprintf("--rate=%d", t.share.Of(int64(t.params.RatePerSecond))))
	}
	return []workload.Command{t.command("run", append(all, options...)...)}
}

// command is an execution of sysbench. Options that Benchrun owns come last: the last one counts.
func (t *sysbenchTool) command(command string, extra ...string) workload.Command {
	p := t.params
	args := []string{"sysbench", t.file()}
	for _, name := range slices.Sorted(maps.Keys(p.Options)) {
		args = append(args, "--"+name+"="+p.Options[name])
	}
	where, env := driverOf(t.cfg).server(t)
	args = append(args, where...)
	args = append(args,
		fmt.Sprintf("--threads=%d", p.Clients), fmt.Sprintf("--rate=%d", p.RatePerSecond),
		fmt.Sprintf("--percentile=%d", p.Percentile), "--rand-type="+p.RandType)
	if p.Tables != nil {
		args = append(args, fmt.Sprintf("--tables=%d", *p.Tables))
	}
	if p.TableSize != nil {
		args = append(args, fmt.Sprintf("--table-size=%d", *p.TableSize))
	}
	if p.Scale != nil || p.Script == scriptTPCC {
		args = append(args, fmt.Sprintf("--scale=%d", given(p.Scale, 1)))
	}
	if p.Script == scriptTPCC {
		args = append(args, "--constants_seed="+t.seed())
	}
	if p.AsPublished == asPublishedTPCC {
		args = append(args, "--compat=sysbench-tpcc")
	}
	args = append(args, extra...)
	c := workload.Command{
		Args: append(args, command),
		Env:  append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}, env...),
	}
	if t.params.ScriptFrom != nil {
		// What the script loads is looked for beside it first, also if sysbench has a file of that name.
		c.Dir = t.cfg.Workload.FilesPath
		c.Env = append(c.Env, "LUA_PATH="+filepath.Join(c.Dir, "?.lua")+";;")
	}
	return c
}

// driver is what depends on the SQL of the server.
type driver struct {
	// server are the options and variables that say where the database is. The password comes by the environment, as the client
	// library takes it if nothing else says one: whatever is in it, it needs no quoting, which sysbench's configuration file has no
	// way of for both kinds of quotes.
	server func(t *sysbenchTool) (options, env []string)
	// tpcc says that the server understands script tpcc, keepsFew that it keeps a bounded number of prepared statements, and
	// countsOthers that its count of statements has those that sysbench calls others, as COMMIT.
	tpcc, keepsFew, countsOthers bool
}

var drivers = map[base.SQL]driver{
	base.MySQL:      {server: (*sysbenchTool).mySQL, tpcc: true, keepsFew: true, countsOthers: true},
	base.PostgreSQL: {server: (*sysbenchTool).postgreSQL},
}

func driverOf(cfg *result.Config) driver { return drivers[engine.SQL(cfg.Server.Engine)] }

func (t *sysbenchTool) mySQL() (options, env []string) {
	s := t.cfg.Server
	where := []string{"--mysql-host=" + s.Host, fmt.Sprintf("--mysql-port=%d", s.Port)}
	if s.Socket != "" {
		where = []string{"--mysql-host=localhost", "--mysql-socket=" + s.Socket}
	}
	options = append(append([]string{"--db-driver=mysql"}, where...), "--mysql-user="+t.user, "--mysql-db="+s.Schema)
	return options, []string{"MYSQL_PWD=" + t.password}
}

func (t *sysbenchTool) postgreSQL() (options, env []string) {
	s := t.cfg.Server
	return []string{
		"--db-driver=pgsql", "--pgsql-host=" + workload.LibpqHost(&s), fmt.Sprintf("--pgsql-port=%d", s.Port),
		"--pgsql-user=" + t.user, "--pgsql-db=" + t.db,
	}, workload.LibpqEnv(&s, t.password)
}

// file is the script as sysbench is told it: a name of its own, or a path.
func (t *sysbenchTool) file() string {
	switch {
	case t.params.ScriptFrom != nil:
		return filepath.Join(t.cfg.Workload.FilesPath, t.params.ScriptFrom.Key)
	case t.script.files() != nil:
		return filepath.Join(t.dir, t.script.lua)
	}
	return t.script.lua
}

// given is an option, or what stands for it if it is not set.
func given[N any](option *N, otherwise N) N {
	if option == nil {
		return otherwise
	}
	return *option
}

// seed is that of the data, within what sysbench takes: 1 to 2^31-1. 0 would be the time.
func (t *sysbenchTool) seed() string { return sysbenchSeed(t.cfg.SeedOfData()) }

func (t *sysbenchTool) podSeed() string {
	if t.share.Pod == 0 {
		return sysbenchSeed(t.cfg.Seed)
	}
	return strconv.FormatInt(folded(t.cfg.Seed+t.share.Pod), 10)
}

func sysbenchSeed(seed int64) string {
	if seed < 1 || seed > math.MaxInt32 {
		seed = folded(seed)
	}
	return strconv.FormatInt(seed, 10)
}

func folded(seed int64) int64 {
	stream := generate.From(uint64(seed)) //nolint:gosec // a seed may wrap
	return int64(stream.Next()%math.MaxInt32) + 1
}

func (t *sysbenchTool) Progress(line string) string {
	var p output.Parser
	i := p.Line(line)
	if i == nil || i.Events == nil {
		return ""
	}
	return fmt.Sprintf("%d s: %.2f transactions/s", i.Second, *i.Events)
}

// Judge implements Tool. After an error sysbench may well end with exit code 0: prepare does.
func (t *sysbenchTool) Judge(phase workload.ToolPhase, e *workload.Execution) ([]result.Check, error) {
	report := output.Parse(e.Output)
	if e.ExitCode != 0 || len(report.Errors) > 0 {
		return nil, t.explained(sysbenchError(e, report.Errors))
	}
	if phase == workload.PhaseWarmup && report.Final != nil {
		t.warmupEvents += report.Final.Events
	}
	if e.Args[len(e.Args)-1] != "check" {
		return nil, nil
	}
	found := output.ParseChecks(e.Output)
	if len(found) == 0 {
		return nil, errors.New("the script's check command reports neither PASSED nor FAILED")
	}
	when := "after: "
	if phase == workload.PhasePrepare {
		when = "before: "
	}
	for i := range found {
		found[i].Name = when + found[i].Name
	}
	return found, nil
}

// explained adds to an error of sysbench's what it means for the run.
func (t *sysbenchTool) explained(err error) error {
	text := err.Error()
	from := t.params.ScriptFrom
	switch m := missingCommand.FindStringSubmatch(text); {
	case strings.Contains(text, "error: 1461") || strings.Contains(text, "error 1461"):
		return fmt.Errorf("%w; each thread prepares its statements for each table: set max_prepared_stmt_count in database.variables "+
			"to more, use fewer clients or tables, or set the option db_ps_mode: disable", err)
	case from == nil:
		return err
	case m != nil:
		return fmt.Errorf("script %s has no command %s: leave it out of scriptFrom.commands, which is prepare and cleanup if it is "+
			"not set: %w", from.Key, cmp.Or(m[1], m[2]), err)
	case strings.Contains(text, "Cannot find benchmark"):
		return fmt.Errorf("ConfigMap %s has no key %s: %w", from.Name, from.Key, err)
	}
	return err
}

// missingCommand is what sysbench says of a command that a script does not have.
var missingCommand = regexp.MustCompile(`test does not implement the '(\w+)' command|Unknown command: (\w+)`)

func sysbenchError(e *workload.Execution, lines []string) error {
	if len(lines) == 0 {
		lines = e.Tail
	}
	var words []string
	for _, line := range lines[:min(len(lines), 4)] {
		words = append(words, result.Truncate(line, 300)) // it may repeat a whole statement
	}
	text := strings.Join(words, "; ")
	return workload.Connecting(fmt.Errorf("sysbench %s ended with %s: %s", e.Args[len(e.Args)-1], e.End(), text))
}
