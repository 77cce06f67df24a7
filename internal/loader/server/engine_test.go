// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// madeUp is an engine that no file but this one knows. It has another section, sets its cache in pages, calls the size of its log
// otherwise than the option that sets it, and has a switch instead of a number for durability.
var madeUp = engine.Engine{
	Name: "MadeUp",
	Options: engine.Options{
		Group: "madeupd",
		BufferPoolSize: func(bytes int64) engine.Setting {
			return engine.Assignment("cache_pages", fmt.Sprint(bytes/8192))
		},
		LogFileSize: func(bytes int64) engine.Setting {
			return engine.Setting{Name: "journal", Value: fmt.Sprint(bytes), Line: fmt.Sprintf("journal = %dK", bytes>>10)}
		},
		FlushLogAtTrxCommit: func(mode int32) engine.Setting {
			return engine.Assignment("durability", []string{"NONE", "FULL", "LAZY"}[mode])
		},
		BinaryLog: func(on bool) engine.Setting {
			return engine.Setting{Name: "change_stream", Value: fmt.Sprint(on), Line: fmt.Sprintf("change_stream = %t", on)}
		},
	},
	Variables: engine.Variables{
		StateAndIdentity: []string{"node_*"},
		Synonyms:         map[string]string{"journal": "journal_size"},
		Rounded:          map[string]engine.Rounding{"journal": {To: 1 << 20}},
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
			BufferPoolSize: ptr.To(resource.MustParse("64Mi")), LogFileSize: ptr.To(resource.MustParse("16Mi")),
			FlushLogAtTrxCommit: ptr.To[int32](2), BinaryLog: ptr.To(false),
		},
		Variables: map[string]v1alpha1.VariableValue{"sql_mode": "STRICT", "loose_turbo": "1"},
	}
	file := database.MyCnf(&madeUp, db)
	want := "# Made by Benchrun from spec.database of the run.\n[madeupd]\n" +
		"cache_pages = 8192\nchange_stream = false\ndurability = LAZY\njournal = 16384K\nsql_mode = STRICT\nloose_turbo = 1\n"
	if diff := cmp.Diff(want, file); diff != "" {
		t.Errorf("option file (-want +got):\n%s", diff)
	}
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
	if diff := cmp.Diff(wantApplied, applied); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if err := RefusedSettings(&madeUp, requested, applied, variables); err != nil {
		t.Error(err)
	}
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
	variables := madeUpServer(database.MyCnf(&engine.MariaDB, db))
	applied := CompareSettings(&madeUp, requested, variables, new(Taken))
	err := RefusedSettings(&madeUp, requested, applied, variables)
	if err == nil || !strings.Contains(err.Error(), `durability=FULL was requested, but the server has "0"`) {
		t.Errorf("error %v", err)
	}
}
