// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration && sysbench

package loader

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/sysbench"
)

const sysbenchSchema = "sysbench_test"

// newSysbenchTrial is a short one, small where the script has a size.
func newSysbenchTrial(t testing.TB, p sysbench.Parameters) *trial {
	t.Helper()
	p.Percentile, p.RandType = 95, "uniform"
	p.Clients = max(p.Clients, 1)
	if p.Seconds == 0 && p.Events == 0 {
		p.Seconds = 1
	}
	tr := newTrialOf(t, sysbench.Definition, &p)
	tr.cfg.Server.Schema = sysbenchSchema
	return tr
}

// ownScript gives the trial a script of its own, with those commands besides run.
func (tr *trial) ownScript(t testing.TB, lua string, commands ...string) {
	t.Helper()
	tr.ownFiles(t, map[string]string{"own.lua": lua}, commands...)
}

// ownFiles does the same with a script, own.lua, and what is beside it.
func (tr *trial) ownFiles(t testing.TB, files map[string]string, commands ...string) {
	t.Helper()
	tr.cfg.Workload.FilesPath = t.TempDir()
	for name, text := range files {
		must.Write(t, filepath.Join(tr.cfg.Workload.FilesPath, name), text)
	}
	tr.parameters.(*sysbench.Parameters).ScriptFrom = &sysbench.ScriptFrom{Name: "scripts", Key: "own.lua", Commands: commands}
}

func TestSysbenchWholeRun(t *testing.T) {
	tr := newSysbenchTrial(t, sysbench.Parameters{
		Script: "oltp_read_write", Clients: 2, Tables: ptr.To[int32](2), TableSize: ptr.To[int64](1000), Seconds: 3, WarmupSeconds: 1,
		Options: map[string]string{"range_size": "10"},
	})
	summary, doc := tr.mustRun(t)
	var phases, args []string
	for _, p := range doc.Phases {
		phases = append(phases, p.Name)
	}
	must.Same(t, "phases", []string{"connect", "readback", "prepare", "quiesce", "warmup", "measure", "verify", "cleanup"}, phases)
	sum := int64(0)
	for _, i := range doc.Series {
		sum += i.Transactions
	}
	if sum != doc.Totals.Transactions || sum < 10 || doc.Totals.Micros < 2_900_000 || doc.Totals.StoppedBy != result.StoppedBySeconds {
		t.Errorf("the series adds up to %d, totals %+v", sum, doc.Totals)
	}
	l := doc.Latencies[0]
	if l.Count != sum || l.MinMicros < 1 || l.P50Micros < l.MinMicros || l.P90Micros < l.P50Micros || l.P95Micros < l.P90Micros ||
		l.P99Micros < l.P95Micros || l.P999Micros < l.P99Micros || l.Histogram == "" {
		t.Errorf("latency %+v", l)
	}
	if doc.Metrics[0].Name != "transactionsPerSecond" || doc.Client.UserMicros < 1 || doc.Client.MaxRSSBytes < 1<<20 ||
		doc.Tool.Version != "1.0.20" || len(summary.Metrics) != len(doc.Metrics) {
		t.Errorf("metrics %+v, client %+v, tool %+v", doc.Metrics, doc.Client, doc.Tool)
	}
	for _, c := range doc.Tool.Commands {
		args = append(args, c.Phase+" "+c.Args[len(c.Args)-1])
	}
	want := []string{"prepare cleanup", "prepare prepare", "warmup run", "measure run", "cleanup cleanup"}
	must.Same(t, "commands", want, args)
	measured, warmedUp := doc.Tool.Commands[3].Args, doc.Tool.Commands[2].Args
	for _, option := range []string{"--rand-seed=42", "--rand-type=uniform", "--histogram=on", "--report-interval=1", "--percentile=95", "--range_size=10"} {
		if !slices.Contains(measured, option) {
			t.Errorf("%s is missing in %q", option, measured)
		}
	}
	if slices.Contains(warmedUp, "--rand-seed=42") || !strings.Contains(doc.ToolOutput["measure"], "Threads fairness:") {
		t.Errorf("warm-up %q, output %.200q", warmedUp, doc.ToolOutput["measure"])
	}
	var names []string
	for _, c := range doc.Checks {
		names = append(names, c.Name)
	}
	must.Same(t, "checks", []string{"report", "server", "rows"}, names)
}

// TestSysbenchScripts runs each of sysbench's own scripts; their checks of rows differ.
func TestSysbenchScripts(t *testing.T) {
	for _, script := range []string{
		"oltp_read_only", "oltp_write_only", "oltp_point_select", "oltp_insert", "oltp_update_index", "oltp_update_non_index",
		"oltp_delete", "select_random_points", "select_random_ranges", "bulk_insert",
	} {
		t.Run(script, func(t *testing.T) {
			p := sysbench.Parameters{Script: script, Clients: 2, Events: 300, WarmupSeconds: 1}
			switch script {
			case "bulk_insert":
				p.WarmupSeconds = 0
			case "select_random_points", "select_random_ranges":
				p.TableSize = ptr.To[int64](500)
			default:
				p.Tables, p.TableSize = ptr.To[int32](2), ptr.To[int64](500)
			}
			_, doc := newSysbenchTrial(t, p).mustRun(t)
			if n := doc.Totals.Transactions + doc.Totals.Rows; n != 300 || doc.Totals.StoppedBy != result.StoppedByRows {
				t.Errorf("totals %+v", doc.Totals)
			}
			sums(t, doc)
		})
	}
}

func TestSysbenchPasswords(t *testing.T) {
	for i, password := range []string{`a;b'c$d e#f,g=h`, `"quoted"`, `\x $(id) %s`, "'", `s3cret; 'it$(x)" \ `, strings.Repeat("long", 50)} {
		user := fmt.Sprintf("benchrun_odd%d", i)
		db := other(t)
		mustExec(t, "CREATE DATABASE IF NOT EXISTS "+sysbenchSchema,
			"DROP USER IF EXISTS "+user, fmt.Sprintf("CREATE USER %s IDENTIFIED BY %s", user, quoted(password)),
			fmt.Sprintf("GRANT ALL ON *.* TO %s", user))
		t.Cleanup(func() { must.Get(db.Exec("DROP USER " + user))(t) })
		tr := newSysbenchTrial(t, sysbench.Parameters{Script: "oltp_point_select", Events: 100, TableSize: ptr.To[int64](100)})
		for path, text := range map[string]string{tr.cfg.Server.UserFile: user, tr.cfg.Server.PasswordFile: password} {
			must.Write(t, path, text)
		}
		_, doc := tr.mustRun(t)
		text := must.Get(json.Marshal(doc))(t)
		if len(password) > 3 && (strings.Contains(string(text), password) || strings.Contains(tr.out.String(), password)) {
			t.Errorf("the password %q is in what the loader left", password)
		}
	}
}

func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

func TestSysbenchFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		params   sysbench.Parameters
		lua      string
		commands []string
		reason   result.Cause
		words    []string
	}{
		"an option that is none": {
			sysbench.Parameters{Script: "oltp_read_write", Options: map[string]string{"nonsense": "1"}},
			"", nil,
			result.CauseToolFailed,
			[]string{"invalid option: --nonsense=1"},
		},
		"a table that is not made": {
			sysbench.Parameters{Script: "oltp_read_write", Options: map[string]string{"mysql_storage_engine": "nonsense"}},
			"", nil,
			result.CauseToolFailed,
			[]string{"sysbench prepare", "Unknown storage engine 'nonsense'"},
		},
		"queries that are not sent": {
			sysbench.Parameters{Script: "oltp_point_select", Options: map[string]string{"mysql-dry-run": "on"}},
			"", nil,
			result.CauseCheckFailed,
			[]string{"server: "},
		},
		"a script without the command": {
			sysbench.Parameters{}, "function event() end", []string{"cleanup", "prepare"}, result.CauseToolFailed, []string{"does not implement the 'cleanup' command"},
		},
		"a script that does nothing": {
			sysbench.Parameters{Events: 1},
			"function event() os.exit(0) end", nil,
			result.CauseToolFailed,
			[]string{"exit code 0 but printed no report"},
		},
		"a script that is wrong": {
			sysbench.Parameters{}, "function event() foo( end", nil, result.CauseToolFailed, []string{"unexpected symbol near 'end'"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newSysbenchTrial(t, tc.params)
			if tc.lua != "" {
				tr.ownScript(t, tc.lua, tc.commands...)
			}
			tr.mustFail(t.Context(), t, tc.reason, tc.words...)
		})
	}
}

func TestSysbenchOwnScript(t *testing.T) {
	tr := newSysbenchTrial(t, sysbench.Parameters{Events: 50, Clients: 2})
	script := `
function thread_init() con = sysbench.sql.driver():connect() end
function event() con:query("SELECT 1") end
sysbench.cmdline.commands = {check = {function () print("Check 1: PASSED") end}}
`
	tr.ownScript(t, script, "check")
	_, doc := tr.mustRun(t)
	if len(doc.Inputs) != 1 || doc.Inputs[0].Bytes != int64(len(script)) || len(doc.Inputs[0].SHA256) != 64 {
		t.Errorf("inputs %+v", doc.Inputs)
	}
	if n := len(doc.Checks); n != 4 || doc.Totals.Transactions != 50 {
		t.Errorf("checks %+v, totals %+v", doc.Checks, doc.Totals)
	}
}

// A script may load what is beside it, by require and by dofile, also under the name of one of sysbench's own files.
func TestSysbenchOwnScriptOfSeveralFiles(t *testing.T) {
	tr := newSysbenchTrial(t, sysbench.Parameters{Events: 50, Clients: 2})
	tr.ownFiles(t, map[string]string{
		"own.lua":    `require("oltp_common")` + "\n" + `dofile("events.lua")`,
		"events.lua": `function event() con:query("SELECT COUNT(*) FROM house_rules") end`,
		"oltp_common.lua": `
function prepare() sysbench.sql.driver():connect():query("CREATE TABLE house_rules (id INT)") end
function cleanup() sysbench.sql.driver():connect():query("DROP TABLE IF EXISTS house_rules") end
function thread_init() con = sysbench.sql.driver():connect() end
`,
	}, "prepare", "cleanup")
	_, doc := tr.mustRun(t)
	var names []string
	for _, input := range doc.Inputs {
		names = append(names, input.Name)
	}
	if diff := cmp.Diff([]string{"events.lua", "oltp_common.lua", "own.lua"}, names); diff != "" || doc.Totals.Transactions != 50 {
		t.Errorf("totals %+v, inputs (-want +got):\n%s", doc.Totals, diff)
	}
}

// A command that a script does not have is named with the field that asks for it.
func TestSysbenchOwnScriptWithoutACommand(t *testing.T) {
	for _, command := range []string{"prepare", "cleanup", "check"} {
		tr := newSysbenchTrial(t, sysbench.Parameters{Events: 50})
		tr.ownScript(t, `function event() end`, command)
		tr.mustFail(t.Context(), t, result.CauseToolFailed, "script own.lua has no command "+command, "scriptFrom.commands")
	}
	tr := newSysbenchTrial(t, sysbench.Parameters{Events: 50})
	tr.ownFiles(t, map[string]string{"others.lua": ""}, "prepare")
	tr.mustFail(t.Context(), t, result.CauseToolFailed, "ConfigMap scripts has no key own.lua")
}

// What a script does without a transaction is not rolled back when sysbench gives an event up: the result does not say so.
// Each client has a table: two that insert what the other deleted would wait for each other, and a deadlock is not ignored.
func TestSysbenchErrorsAreGivenUp(t *testing.T) {
	tr := newSysbenchTrial(t, sysbench.Parameters{Events: 200, Clients: 2, Options: map[string]string{"mysql-ignore-errors": "1062"}})
	tr.cfg.ErrorPercent = 100
	tr.ownScript(t, `
function prepare()
  local con = sysbench.sql.driver():connect()
  for tid = 0, 1 do con:query("CREATE TABLE few" .. tid .. " (id INT PRIMARY KEY)") end
end
function cleanup() sysbench.sql.driver():connect():query("DROP TABLE IF EXISTS few0, few1") end
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  con:query("DELETE FROM few" .. sysbench.tid .. " WHERE id = " .. sysbench.rand.uniform(1, 10))
  con:query("INSERT INTO few" .. sysbench.tid .. " VALUES (" .. sysbench.rand.uniform(1, 10) .. ")")
end
`, "prepare", "cleanup")
	_, doc := tr.mustRun(t)
	var texts []string
	for _, f := range doc.Findings {
		texts = append(texts, f.String())
	}
	all := strings.Join(texts, "\n")
	if doc.Totals.Errors == 0 || !strings.Contains(all, "were given up because of errors that sysbench ignores") || strings.Contains(all, "rolled back") {
		t.Errorf("%d errors, findings %s", doc.Totals.Errors, all)
	}
}

// More statements than the server keeps prepared: the run's own server is known not to, and another one says so.
func TestSysbenchMoreStatementsThanTheServerKeeps(t *testing.T) {
	p := sysbench.Parameters{Script: "oltp_read_write", Clients: 64, Tables: ptr.To[int32](32), TableSize: ptr.To[int64](10)}
	newSysbenchTrial(t, p).mustFail(t.Context(), t, result.CauseConfiguration, "64 clients prepare 18432 statements", "max_prepared_stmt_count")
	tr := newSysbenchTrial(t, p)
	tr.cfg.Server.Borrowed = true
	tr.mustFail(t.Context(), t, result.CauseToolFailed, "set max_prepared_stmt_count in database.variables")
}

// whileSysbench does something as soon as sysbench sends queries.
func whileSysbench(t *testing.T, do func(db *sql.DB)) {
	t.Helper()
	db := other(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		before, err := preparedExecuted(db)
		if err != nil {
			t.Error(err)
			return
		}
		if err := eventually(func() bool {
			n, err := preparedExecuted(db)
			return err == nil && n > before+100 // the loader executes a few
		}); err != nil {
			t.Error("sysbench never sent a query")
			return
		}
		do(db)
	}()
	t.Cleanup(func() { <-done })
}

// preparedExecuted is how many prepared statements the server has executed.
func preparedExecuted(db *sql.DB) (n int64, err error) {
	var name string
	err = db.QueryRow("SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'").Scan(&name, &n)
	return n, err
}

func TestSysbenchConnectionsLost(t *testing.T) {
	tr := newSysbenchTrial(t, sysbench.Parameters{Script: "oltp_read_only", TableSize: ptr.To[int64](1000), Seconds: 600})
	whileSysbench(t, func(db *sql.DB) {
		rows, err := db.Query("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ?", sysbenchSchema)
		if err != nil {
			t.Error(err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err == nil {
				_, _ = db.Exec(fmt.Sprintf("KILL CONNECTION %d", id)) // it may have gone by itself
			}
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
	})
	began := time.Now()
	tr.mustFail(t.Context(), t, result.CauseConnectionLost, "sysbench run")
	within(t, began, time.Minute)
}

func TestSysbenchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	tr := newSysbenchTrial(t, sysbench.Parameters{Script: "oltp_read_only", TableSize: ptr.To[int64](1000), Seconds: 60})
	whileSysbench(t, func(*sql.DB) { cancel(errors.New("SIGTERM")) })
	tr.mustFail(ctx, t, result.CauseInterrupted, "SIGTERM")
	db := other(t)
	if err := eventually(func() bool {
		var n int
		err := db.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = ?", sysbenchSchema).Scan(&n)
		return err == nil && n == 0
	}); err != nil {
		t.Error("sysbench is still connected")
	}
	if left, err := filepath.Glob(result.WorkPath + "/*"); err != nil || len(left) != 0 {
		t.Errorf("the tool's folder is left: %q, %v", left, err)
	}
}

// Two programs take turns: what counts are their statements in their slices, as the server counts them; what they say of times is
// not known.
func TestSysbenchSlices(t *testing.T) {
	const seconds = 3
	for _, script := range []string{"oltp_read_write", "oltp_point_select", "scan", "tpcc"} {
		t.Run(script, func(t *testing.T) {
			var pair []*trial
			for range 2 {
				p := sysbench.Parameters{Script: script, Clients: 8, Seconds: seconds, WarmupSeconds: 1}
				if script != "tpcc" {
					p.Tables, p.TableSize = ptr.To[int32](1), ptr.To[int64](2000)
				}
				pair = append(pair, newSysbenchTrial(t, p))
			}
			sides := asSides(t, pair...)
			sides.cfg.Sides.SliceMilliseconds = 250
			_, doc := sides.mustRun(t)
			for i := range doc.Sides {
				side := doc.Side(doc.Sides[i].Variant)
				whole, counts := side.Work(), side.Totals
				if side.Turns == nil || side.Turns.Slices < 3 || counts.Micros < 1 || counts.Micros >= whole.Micros ||
					counts.Transactions < 1 || counts.Transactions > whole.Transactions {
					t.Errorf("%d: %+v of %+v, turns %+v", i, counts, whole, side.Turns)
				}
				if rate := float64(counts.Transactions) / float64(counts.Micros) * 1e6; side.Metrics[0].Value < 0.99*rate || side.Metrics[0].Value > 1.01*rate {
					t.Errorf("%d: metrics %+v", i, side.Metrics)
				}
				of := slices.IndexFunc(side.Tool.Commands, func(c result.ToolCommand) bool { return c.Phase == "measure" })
				if command := side.Tool.Commands[of]; len(side.Latencies)+len(side.Series) > 0 || !slices.Contains(command.Args, fmt.Sprintf("--time=%d", 2*seconds)) {
					t.Errorf("%d: latencies %v, series %v, command %v", i, side.Latencies, side.Series, command)
				}
			}
		})
	}
}

// What slices cannot have is refused before anything is sent.
func TestSysbenchSlicesRefused(t *testing.T) {
	for want, p := range map[string]sysbench.Parameters{
		"a rate cannot be kept in slices": {Script: "oltp_point_select", Seconds: 1, RatePerSecond: 100},
		"slices are bounded by seconds":   {Script: "oltp_point_select", Events: 100},
	} {
		asSides(t, newSysbenchTrial(t, p), newSysbenchTrial(t, p)).mustFail(t.Context(), t, result.CauseConfiguration, want)
	}
}
