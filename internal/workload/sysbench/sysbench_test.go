// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// testParameters are valid ones, changed.
func testParameters(change func(*Parameters)) *Parameters {
	p := &Parameters{
		Script: "oltp_read_write", Clients: 4, RatePerSecond: 50, Seconds: 60, WarmupSeconds: 5, Percentile: 99, RandType: "pareto",
		Options: map[string]string{"range_size": "10", "auto_inc": "off"},
	}
	if change != nil {
		change(p)
	}
	return p
}

func newTestSysbench(t *testing.T, seed int64, change func(*Parameters)) *sysbenchTool {
	t.Helper()
	return newTestTool(t, &result.Config{Seed: seed, Workload: workloadtest.Load(Definition, testParameters(change))})
}

func newTestTool(t *testing.T, cfg *result.Config) *sysbenchTool {
	t.Helper()
	cfg.Server = result.Server{Host: "db", Port: 3306, Schema: "bench"}
	tool := must.Get(NewTool(workload.ToolInput{Config: cfg, Dir: "/tool", User: "u", Password: `se'c"ret`}))(t)
	return tool.(*sysbenchTool)
}

// By a Unix socket, the client library knows no other host than its own.
func TestSysbenchBySocket(t *testing.T) {
	tool := newTestSysbench(t, 42, nil)
	tool.cfg.Server.Socket = "/run/benchrun-socket/mysqld.sock"
	for _, phase := range []workload.ToolPhase{workload.PhasePrepare, workload.PhaseMeasure, workload.PhaseCleanup} {
		args := tool.Commands(phase)[0].Args
		if !slices.Contains(args, "--mysql-socket=/run/benchrun-socket/mysqld.sock") || !slices.Contains(args, "--mysql-host=localhost") ||
			slices.Contains(args, "--mysql-host=db") {
			t.Errorf("%s: %q", phase, args)
		}
	}
}

func TestSysbenchCommands(t *testing.T) {
	tool := newTestSysbench(t, 42, nil)
	want := []string{
		"sysbench", "oltp_read_write", "--auto_inc=off", "--range_size=10", "--db-driver=mysql", "--mysql-host=db",
		"--mysql-port=3306", "--mysql-user=u", "--mysql-db=bench", "--threads=4", "--rate=50", "--percentile=99",
		"--rand-type=pareto", "--rand-seed=42", "--events=0", "--time=60", "--report-interval=1", "--histogram=on", "run",
	}
	measure := tool.Commands(workload.PhaseMeasure)
	if diff := cmp.Diff(want, measure[0].Args); diff != "" || len(measure) != 1 {
		t.Errorf("%d commands (-want +got):\n%s", len(measure), diff)
	}
	for _, phase := range []workload.ToolPhase{workload.PhasePrepare, workload.PhaseWarmup, workload.PhaseMeasure, workload.PhaseVerify, workload.PhaseCleanup} {
		for _, c := range tool.Commands(phase) {
			if text := strings.Join(c.Args, " "); strings.Contains(text, `c"ret`) || !slices.Contains(c.Env, `MYSQL_PWD=se'c"ret`) {
				t.Errorf("the password is in %s, or not in the environment", text)
			}
			if !slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--rand-seed=") && a != "--rand-seed=0" }) {
				t.Errorf("%s has no seed", c.Args)
			}
		}
	}
	warm := tool.Commands(workload.PhaseWarmup)[0].Args
	if slices.Contains(warm, "--rand-seed=42") || !slices.Contains(warm, "--time=5") {
		t.Errorf("warm-up %q", warm)
	}
	tpcc := newTestSysbench(t, 1, func(p *Parameters) { p.Script = scriptTPCC })
	if args := tpcc.Commands(workload.PhaseMeasure)[0].Args; args[1] != "/tool/tpcc.lua" || !slices.Contains(args, "--scale=1") ||
		!strings.Contains(tpcc.Files()["tpcc.lua"], "function event()") {
		t.Errorf("tpcc: %q", args)
	}
	compat := newTestSysbench(t, 1, func(p *Parameters) { p.Script, p.AsPublished = scriptTPCC, asPublishedTPCC })
	for _, phase := range []workload.ToolPhase{workload.PhaseWarmup, workload.PhaseMeasure} {
		if args := compat.Commands(phase)[0].Args; !slices.Contains(args, "--compat=sysbench-tpcc") {
			t.Errorf("%s: %q", phase, args)
		}
	}
	if args := tpcc.Commands(workload.PhaseMeasure)[0].Args; slices.Contains(args, "--compat=sysbench-tpcc") {
		t.Errorf("nobody asked for the published script: %q", args)
	}
}

func TestSysbenchSeeds(t *testing.T) {
	seen := map[string]int64{}
	for _, seed := range []int64{0, 1, 42, 1<<31 - 1, 1 << 31, 1<<53 - 1} {
		got := newTestSysbench(t, seed, nil).seed()
		if other, twice := seen[got]; twice || got == "0" || len(got) > 10 {
			t.Errorf("seed %d is %s, as that of %d", seed, got, other)
		}
		seen[got] = seed
	}
	must.Same(t, "42 is not 42", int64(42), seen["42"])
}

// Whatever is executed on the data of tpcc has the same hot rows, and random numbers of its own.
func TestSysbenchTPCCConstants(t *testing.T) {
	constants, seeds := map[string]bool{}, map[string]bool{}
	runs := 0
	for pod := range 3 {
		tool := newTestTool(t, &result.Config{
			Seed: 42, Pods: 3, Pod: pod, Workload: workloadtest.Load(Definition, testParameters(func(p *Parameters) { p.Script = scriptTPCC })),
		})
		for _, phase := range []workload.ToolPhase{workload.PhasePrepare, workload.PhaseWarmup, workload.PhaseMeasure} {
			for _, c := range tool.Commands(phase) {
				of := func(option string) string {
					i := slices.IndexFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, option) })
					if i < 0 {
						t.Fatalf("%s is missing in %q", option, c.Args)
					}
					return c.Args[i]
				}
				constants[of("--constants_seed=")] = true
				if c.Args[len(c.Args)-1] == "run" {
					runs++
					seeds[of("--rand-seed=")] = true
				}
			}
		}
	}
	if !constants["--constants_seed=42"] || len(constants) != 1 || len(seeds) != runs || runs != 6 {
		t.Errorf("constants of %v, random numbers of %v in %d runs", constants, seeds, runs)
	}
}

// verbs are the commands of a phase.
func verbs(tool *sysbenchTool, phase workload.ToolPhase) []string {
	var all []string
	for _, c := range tool.Commands(phase) {
		all = append(all, c.Args[len(c.Args)-1])
	}
	return all
}

// A script's commands are known if it is a built-in one, and else those that are said.
func TestSysbenchCommandsOfScripts(t *testing.T) {
	own := func(commands ...string) func(*Parameters) {
		return func(p *Parameters) {
			p.Script, p.ScriptFrom = "", &ScriptFrom{Name: "scripts", Key: "own.lua", Commands: commands}
		}
	}
	for name, tc := range map[string]struct {
		change                     func(*Parameters)
		script                     string
		prepare, verified, cleaned []string
	}{
		"built-in": {nil, "oltp_read_write", []string{"cleanup", "prepare"}, nil, []string{"cleanup"}},
		"tpcc": {
			func(p *Parameters) { p.Script = scriptTPCC }, "/tool/tpcc.lua",
			[]string{"cleanup", "prepare", "check"},
			[]string{"check"},
			[]string{"cleanup"},
		},
		"own":                 {own(), "/files/own.lua", nil, nil, nil},
		"own with a check":    {own("prepare", "check"), "/files/own.lua", []string{"prepare", "check"}, []string{"check"}, nil},
		"own with everything": {own("prepare", "cleanup"), "/files/own.lua", []string{"cleanup", "prepare"}, nil, []string{"cleanup"}},
	} {
		cfg := &result.Config{Seed: 1, Workload: workloadtest.Load(Definition, testParameters(tc.change))}
		cfg.Workload.FilesPath = "/files"
		tool := newTestTool(t, cfg)
		for _, of := range []struct {
			phase workload.ToolPhase
			want  []string
		}{
			{workload.PhasePrepare, tc.prepare},
			{workload.PhaseVerify, tc.verified},
			{workload.PhaseCleanup, tc.cleaned},
			{workload.PhaseWarmup, []string{"run"}},
			{workload.PhaseMeasure, []string{"run"}},
		} {
			must.Same(t, fmt.Sprintf("%s: %s", name, of.phase), of.want, verbs(tool, of.phase))
		}
		must.Same(t, name+": script", tc.script, tool.Commands(workload.PhaseMeasure)[0].Args[1])
	}
}

// A load without an end of its own is measured for 60 seconds; one with events ends with them.
func TestSysbenchEnds(t *testing.T) {
	for _, tc := range []struct {
		seconds int32
		events  int64
		want    int32
	}{{0, 0, 60}, {0, 100, 0}, {7, 0, 7}, {7, 100, 7}} {
		tool := newTestSysbench(t, 1, func(p *Parameters) { p.Seconds, p.Events = tc.seconds, tc.events })
		must.Same(t, fmt.Sprintf("%d seconds and %d events: measured for", tc.seconds, tc.events), tc.want, tool.params.Seconds)
	}
}

func TestSysbenchRefuses(t *testing.T) {
	for want, change := range map[string]func(*Parameters){
		"one of script and scriptFrom must be set":            func(p *Parameters) { p.Script = "" },
		"seconds is -1 and events is 0":                       func(p *Parameters) { p.Seconds = -1 },
		"clients is 0 but must be at least 1":                 func(p *Parameters) { p.Clients = 0 },
		"script bulk_insert takes no warmupSeconds: it ":      func(p *Parameters) { p.Script = scriptBulkInsert },
		"asPublished SysbenchTPCC is for script tpcc":         func(p *Parameters) { p.AsPublished = asPublishedTPCC },
		`asPublished is "TPCC" but must be None or SysbenchT`: func(p *Parameters) { p.Script, p.AsPublished = scriptTPCC, "TPCC" },
	} {
		refuses(t, want, &result.Config{Workload: workloadtest.Load(Definition, testParameters(change))})
	}
	both := func(p *Parameters) { p.ScriptFrom = &ScriptFrom{Name: "scripts", Key: "own.lua"} }
	refuses(t, "one of script and scriptFrom must be set", &result.Config{Workload: workloadtest.Load(Definition, testParameters(both))})
}

func refuses(t *testing.T, want string, cfg *result.Config) {
	t.Helper()
	if err := Definition.Validate(cfg); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := NewTool(workload.ToolInput{Config: cfg}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the tool is made, or not for the same reason: %v, want %s", err, want)
	}
}

// Each script takes its own sizes.
func TestSysbenchSizes(t *testing.T) {
	sizes := map[string]func(*Parameters){
		"tables":    func(p *Parameters) { p.Tables = ptr.To[int32](2) },
		"one table": func(p *Parameters) { p.Tables = ptr.To[int32](1) },
		"tableSize": func(p *Parameters) { p.TableSize = ptr.To[int64](7) },
		"scale":     func(p *Parameters) { p.Scale = ptr.To[int32](2) },
	}
	own := &ScriptFrom{Name: "scripts", Key: "own.lua"}
	for script, takes := range map[string][]string{
		"oltp_read_write":      {"tables", "one table", "tableSize"},
		"oltp_point_select":    {"tables", "one table", "tableSize"},
		"select_random_points": {"one table", "tableSize"},
		"select_random_ranges": {"one table", "tableSize"},
		scriptBulkInsert:       {},
		scriptTPCC:             {"tables", "one table", "scale"},
		"":                     {"tables", "one table", "tableSize", "scale"},
	} {
		for size, set := range sizes {
			cfg := &result.Config{Workload: workloadtest.Load(Definition, testParameters(func(p *Parameters) {
				if p.Script, p.WarmupSeconds = script, 0; script == "" {
					p.ScriptFrom = own
				}
				set(p)
			}))}
			if !slices.Contains(takes, size) {
				refuses(t, "script "+script+" has no such parameter: tpcc takes tables and scale", cfg)
			} else if err := Definition.Validate(cfg); err != nil {
				t.Errorf("%s with %s: %v", script, size, err)
			}
		}
	}
}

func TestSysbenchShares(t *testing.T) {
	for want, change := range map[string]func(*Parameters){
		"clients is 2 but must be at least loader.pods, 3":       func(p *Parameters) { p.Clients = 2 },
		"ratePerSecond is 2 but must be at least loader.pods, 3": func(p *Parameters) { p.RatePerSecond = 2 },
		"events is 2 but must be at least loader.pods, 3":        func(p *Parameters) { p.Events = 2 },
		"script bulk_insert loads from one Pod":                  func(p *Parameters) { p.Script, p.WarmupSeconds = scriptBulkInsert, 0 },
	} {
		refuses(t, want, &result.Config{Pods: 3, Workload: workloadtest.Load(Definition, testParameters(change))})
	}
	none := func(p *Parameters) { p.Clients, p.RatePerSecond, p.Events = 3, 0, 0 }
	must.Do(t, Definition.Validate(&result.Config{Pods: 3, Workload: workloadtest.Load(Definition, testParameters(none))}))
}

func TestSysbenchPod(t *testing.T) {
	for _, tc := range []struct {
		change func(*Parameters)
		want   workload.Pod
	}{
		{nil, workload.Pod{Bundle: workload.BundleSysbench, Work: true}},
		{
			func(p *Parameters) { p.Script, p.ScriptFrom = "", &ScriptFrom{Name: "scripts", Key: "own.lua"} },
			workload.Pod{Bundle: workload.BundleSysbench, Work: true, Files: "scripts"},
		},
	} {
		got, err := Definition.Pod(&result.Config{Workload: workloadtest.Load(Definition, testParameters(tc.change))})
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// What a script of the user's loads is looked for beside it first. Those that come with the loader know where their parts are.
func TestSysbenchOwnScriptFindsItsFiles(t *testing.T) {
	for own, change := range map[bool]func(*Parameters){
		false: nil,
		true: func(p *Parameters) {
			p.Script, p.ScriptFrom = "", &ScriptFrom{Name: "scripts", Key: "own.lua", Commands: []string{"prepare", "check", "cleanup"}}
		},
	} {
		tool := newTestTool(t, &result.Config{
			Seed: 42, Workload: result.Workload{
				Type: Definition.Type, Parameters: workloadtest.Load(Definition, testParameters(change)).Parameters, FilesPath: "/files",
			},
		})
		for _, phase := range []workload.ToolPhase{
			workload.PhasePrepare, workload.PhaseWarmup, workload.PhaseMeasure, workload.PhaseVerify, workload.PhaseCleanup,
		} {
			for _, c := range tool.Commands(phase) {
				if found := slices.Contains(c.Env, "LUA_PATH=/files/?.lua;;") && c.Dir == "/files"; found != own {
					t.Errorf("%s, own %t: %q in %q", phase, own, c.Env, c.Dir)
				}
			}
		}
	}
}

// What sysbench says of a script and a server, and what that means for the run.
func TestSysbenchErrorsAreExplained(t *testing.T) {
	own := func(p *Parameters) { p.Script, p.ScriptFrom = "", &ScriptFrom{Name: "scripts", Key: "own.lua"} }
	for _, tc := range []struct {
		change       func(*Parameters)
		output, says string
	}{
		{own, "'own.lua' test does not implement the 'cleanup' command.\n", "script own.lua has no command cleanup: leave it out of scriptFrom.commands"},
		{own, "Unknown command: check\n", "script own.lua has no command check: leave it out of scriptFrom.commands"},
		{
			own, "FATAL: Cannot find benchmark '/files/own.lua': no such built-in test, file or module\n",
			"ConfigMap scripts has no key own.lua",
		},
		{
			nil, "FATAL: mysql_stmt_prepare() failed\nFATAL: MySQL error: 1461 \"Can't create more than max_prepared_stmt_count statements\"\n",
			"set max_prepared_stmt_count in database.variables",
		},
		{own, "FATAL: mysql_drv_query() returned error 1461 (Can't create more) for query 'PREPARE x'\n", "set max_prepared_stmt_count"},
		{nil, "FATAL: something else\n", "something else"},
	} {
		tool := newTestSysbench(t, 42, tc.change)
		e := &workload.Execution{
			Command: workload.Command{Args: []string{"sysbench", "prepare"}}, ExitCode: 1, Output: tc.output,
			Tail: slices.Collect(workload.Lines(tc.output)),
		}
		must.Refused(tool.Judge(workload.PhasePrepare, e))(t, tc.says)
	}
}
