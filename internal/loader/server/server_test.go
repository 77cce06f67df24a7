// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

func TestExecuted(t *testing.T) {
	at := func(n string) map[string]string { return map[string]string{"Questions": n} }
	if n := Executed(engine.MariaDB, at("5"), at("12")); n == nil || *n != 7 {
		t.Errorf("%v, want 7", n)
	}
	if n := Executed(engine.MariaDB, at("12"), at("5")); n == nil || *n != -7 {
		t.Errorf("%v, want -7", n)
	}
	if n := Executed(engine.MariaDB, nil, at("5")); n != nil {
		t.Errorf("%d, want nothing", *n)
	}
}

func TestRestarted(t *testing.T) {
	for name, tc := range map[string]struct {
		was, is, between time.Duration
		want             bool
	}{
		"as long as it took":            {100 * time.Second, 160 * time.Second, time.Minute, false},
		"whole seconds":                 {100 * time.Second, 159 * time.Second, time.Minute, false},
		"up for less than before":       {100 * time.Second, 3 * time.Second, time.Minute, true},
		"up for less than before, soon": {2 * time.Second, time.Second, time.Second, true},
		"up for longer, but too short":  {100 * time.Second, 120 * time.Second, time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			must.Same(t, "restarted", tc.want, Restarted(tc.was, tc.is, tc.between))
		})
	}
}

func TestUptime(t *testing.T) {
	must.Same(t, "uptime", 61*time.Second, must.Get(Uptime(engine.MariaDB, map[string]string{"Uptime": "61"}))(t))
	must.Refused(Uptime(engine.MariaDB, map[string]string{}))(t, "no uptime")
}

// A server is at rest when it has reached its goals, and not when its debt has stopped falling.
func TestDebts(t *testing.T) {
	for name, tc := range map[string]struct {
		dirty, history, checkpointAge, writes string
		want                                  string
	}{
		"idle":         {"80", "100", "1048576", "0", ""},
		"dirty pages":  {"81", "0", "0", "0", "81 dirty pages (goal: 80)"},
		"history":      {"0", "101", "0", "0", "101 transactions in the purge history (goal: 100)"},
		"redo log":     {"0", "0", "1048577", "0", "1048577 bytes of redo log since the last checkpoint (goal: 1048576)"},
		"writes":       {"0", "0", "0", "2", "2 Innodb_data_pending_writes (goal: 0)"},
		"knows little": {"", "", "", "", ""},
		"everything": {
			"900", "5000", "2097152", "1", "900 dirty pages (goal: 80), 5000 transactions in the purge history (goal: 100), " +
				"2097152 bytes of redo log since the last checkpoint (goal: 1048576), 1 Innodb_data_pending_writes (goal: 0)",
		},
	} {
		owed := debts(&engine.MariaDB.Counters, map[string]string{
			"Innodb_buffer_pool_pages_total": "8099", "Innodb_buffer_pool_pages_dirty": tc.dirty,
			"Innodb_history_list_length": tc.history, "Innodb_checkpoint_age": tc.checkpointAge, "Innodb_data_pending_writes": tc.writes,
		})
		var texts []string
		for _, f := range unrest(5*time.Second, owed) {
			text, is := strings.CutPrefix(f.String(), "the server did not settle: after 5 s it still had ")
			if !is {
				t.Errorf("%s: %s", name, f)
			}
			texts = append(texts, text)
		}
		got := strings.Join(texts, ", ")
		must.Same(t, name, tc.want, got)
	}
}

// A server is at rest when it has been without debt for a while, and not when it has just paid it.
func TestRest(t *testing.T) {
	some := func(value int64) []debt { return []debt{{"dirty pages", value, 80}} }
	type look struct {
		after time.Duration
		owed  []debt
		over  bool
	}
	for name, looks := range map[string][]look{
		"idle":           {{0, nil, false}, {restFor - 1, nil, false}, {restFor, nil, true}},
		"pays its debt":  {{0, some(900), false}, {time.Second, some(100), false}, {2 * time.Second, nil, false}, {2*time.Second + restFor, nil, true}},
		"owes once more": {{0, nil, false}, {restFor / 2, some(90), false}, {restFor, nil, false}, {restFor * 3 / 2, nil, false}, {restFor * 2, nil, true}},
		"does not pay":   {{0, some(900), false}, {stuckAfter, some(900), false}, {stuckAfter + 1, some(950), true}},
		"pays, then not": {{0, some(900), false}, {stuckAfter, some(899), false}, {2 * stuckAfter, some(899), false}, {2*stuckAfter + 1, some(899), true}},
		"a debt of another kind counts as paying": {
			{0, some(900), false}, {stuckAfter, []debt{{"history", 500, 100}}, false}, {stuckAfter * 2, some(900), false},
		},
	} {
		began := time.Now()
		r := rest{lowest: map[string]int64{}, fell: began}
		for i, l := range looks {
			must.Same(t, fmt.Sprintf("%s, look %d: over", name, i+1), l.over, r.look(began.Add(l.after), l.owed))
		}
	}
}

// What MariaDB 11.8 and MySQL 9.7 make of options that are no variables: both were started with them.
func TestOptionsThatAreNoVariables(t *testing.T) {
	const unverified = result.SettingNotVerifiable
	logged := &Taken{Given: true}
	for _, line := range []string{
		"/usr/sbin/mysqld (mysqld 9.7.1) starting as process 1",
		"unknown variable 'loose_no_such=1'.", "unknown option '--loose-other-thing'.",
		"unknown variable 'loose_character_set_client_handshake=1'.",
	} {
		logged.read(line)
	}
	listed := &Taken{Given: true, otherwise: engine.MariaDB.Variables.Unreadable, variables: map[string]string{"log_bin": "OFF"}}
	for _, tc := range []struct {
		option, value  string
		mariaDB, mySQL result.SettingOutcome // with loose_
	}{
		{"performance_schema_instrument", "stage/%=ON", unverified, unverified},
		{"performance_schema_consumer_events_waits_current", "ON", unverified, unverified},
		{"symbolic_links", "OFF", unverified, unverified},
		{"skip_symbolic_links", "", unverified, unverified},
		{"external_locking", "ON", unverified, unverified},
		{"disable_log_bin", "", unverified, unverified},
		{"maximum_log_bin", "1", unverified, unverified},
		{"character_set_client_handshake", "OFF", unverified, ignored},
		{"no_such", "1", ignored, ignored},
		{"other_thing", "", ignored, ignored},
	} {
		t.Run(tc.option, func(t *testing.T) {
			for name, server := range map[string]struct {
				taken *Taken
				loose result.SettingOutcome
			}{"MariaDB": {listed, tc.mariaDB}, "MySQL": {logged, tc.mySQL}, "others' server": {new(Taken), ignored}} {
				outcome := func(option string) result.SettingOutcome {
					return CompareSettings(mariaDB, []result.Setting{{Name: option, Value: tc.value}}, listed.variables, server.taken)[0].Outcome
				}
				plain := unverified // the server would not have started
				if !server.taken.Given {
					plain = refused
				}
				for option, want := range map[string]result.SettingOutcome{
					tc.option: plain, "loose_" + tc.option: server.loose,
					"loose-" + strings.ReplaceAll(tc.option, "_", "-"): server.loose,
				} {
					must.Same(t, fmt.Sprintf("%s of %s", option, name), want, outcome(option))
				}
			}
		})
	}
}

// What cannot be verified is said beside the numbers, and ends nothing.
func TestUnverified(t *testing.T) {
	requested := []result.Setting{{Name: "symbolic_links", Value: "OFF"}}
	applied := CompareSettings(mariaDB, requested, nil, &Taken{Given: true})
	must.Do(t, RefusedSettings(mariaDB, requested, applied, nil))
	const want = "the server was started with symbolic_links=OFF, and has no variable that shows it: it cannot be verified"
	if got := Unverified(applied); len(got) != 1 || got[0].String() != want {
		t.Errorf("%v", got)
	}
}

// madeUp is an engine that no file but this one knows. It has another section, sets its cache in pages, calls the size of its log
// otherwise than the option that sets it, and has a switch instead of a number for durability.
var madeUp = engine.Engine{
	Name: "MadeUp",
	Options: base.Options{
		Head:  "[madeupd]\n",
		Quote: func(value string) string { return value },
		BufferPoolSize: func(bytes int64) engine.Setting {
			return base.Assignment("cache_pages", fmt.Sprint(bytes/8192))
		},
		RedoLogSize: func(bytes, _ int64) engine.Setting {
			return engine.Setting{Name: "journal", Value: fmt.Sprint(bytes), Line: fmt.Sprintf("journal = %dK", bytes>>10)}
		},
		FlushLogAtTrxCommit: func(mode int32) engine.Setting {
			return base.Assignment("durability", []string{"NONE", "FULL", "LAZY"}[mode])
		},
		BinaryLog: func(on bool) engine.Setting {
			return engine.Setting{Name: "change_stream", Value: fmt.Sprint(on), Line: fmt.Sprintf("change_stream = %t", on)}
		},
	},
	Variables: base.Variables{
		StateAndIdentity: []string{"node_*"},
		Synonyms:         map[string]string{"journal": "journal_size"},
		Rounded:          map[string]base.Rounding{"journal": {To: 1 << 20}},
		Enums:            map[string][]string{"durability": {"NONE", "FULL", "LAZY"}},
	},
}

// madeUpServer starts with an option file: it reads its own section, takes its own options, and says what its variables are.
func madeUpServer(file string) map[string]string {
	_, section, _ := strings.Cut(file, "[madeupd]\n")
	section, _, _ = strings.Cut(section, "\n[")
	variables := map[string]string{
		"cache_pages": "1024", "journal_size": "8388608", "durability": "0", "change_stream": "ON", "sql_mode": "", "node_id": "7",
	}
	for line := range strings.Lines(section) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), " = "); name {
		case "durability":
			variables[name] = fmt.Sprint(strings.Index("NONE FULL LAZY", value) / 5)
		case "journal":
			variables["journal_size"] = strings.TrimSuffix(value, "K") + "000"
		case "change_stream":
			variables[name] = map[string]string{"true": "ON", "false": "OFF"}[value]
		default:
			if _, known := variables[name]; known {
				variables[name] = value
			}
		}
	}
	return variables
}

// An engine is one value: what it says is what is written into the option file, and what is read back.
func TestAMadeUpEngine(t *testing.T) {
	db := &v1alpha1.DatabaseSpec{
		Settings: v1alpha1.ServerSettings{
			BufferPoolSize: ptr.To(resource.MustParse("64Mi")), RedoLogSize: ptr.To(resource.MustParse("16Mi")),
			FlushLogAtTrxCommit: ptr.To[int32](2), BinaryLog: ptr.To(false),
		},
		Variables: map[string]v1alpha1.VariableValue{"sql_mode": "STRICT", "loose_turbo": "1"},
	}
	file := database.MyCnf(&madeUp, db)
	want := "# Made by Benchrun from spec.database of the run.\n[madeupd]\n" +
		"cache_pages = 8192\nchange_stream = false\ndurability = LAZY\njournal = 16384K\nsql_mode = STRICT\nloose_turbo = 1\n"
	must.Same(t, "option file", want, file)
	var requested []result.Setting
	for _, s := range plan.Settings(&madeUp, db) {
		requested = append(requested, result.Setting{Name: s.Name, Value: s.Value, Loose: s.Loose})
	}
	variables := madeUpServer(file)
	applied := CompareSettings(&madeUp, requested, variables, new(Taken))
	wantApplied := []result.AppliedSetting{
		{Name: "cache_pages", Requested: "8192", Effective: "8192", Outcome: effective},
		{Name: "change_stream", Requested: "false", Effective: "OFF", Outcome: effective},
		{Name: "durability", Requested: "LAZY", Effective: "2", Outcome: effective},
		{Name: "journal", Requested: "16777216", Effective: "16384000", Outcome: adjusted},
		{Name: "sql_mode", Requested: "STRICT", Effective: "STRICT", Outcome: effective},
		{Name: "turbo", Requested: "1", Outcome: ignored},
	}
	must.Same(t, "read back", wantApplied, applied)
	must.Do(t, RefusedSettings(&madeUp, requested, applied, variables))
	other := madeUpServer(file)
	other["node_id"] = "8"
	if changed := ChangedVariables(&madeUp, variables, other); changed != nil {
		t.Errorf("changed: %v", changed)
	}
}

// The same server does not understand what is written for another engine, and that shows when it is read back.
func TestAMadeUpEngineWithAnothersOptions(t *testing.T) {
	db := &v1alpha1.DatabaseSpec{Settings: v1alpha1.ServerSettings{FlushLogAtTrxCommit: ptr.To[int32](1)}}
	var requested []result.Setting
	for _, s := range plan.Settings(&madeUp, db) {
		requested = append(requested, result.Setting{Name: s.Name, Value: s.Value})
	}
	variables := madeUpServer(database.MyCnf(engine.MariaDB, db))
	applied := CompareSettings(&madeUp, requested, variables, new(Taken))
	err := RefusedSettings(&madeUp, requested, applied, variables)
	must.Fail(t, err, `durability=FULL was requested, but the server has "0"`)
}
