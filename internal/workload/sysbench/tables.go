// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
)

func sharesTables(name string) bool {
	return name != "" && name != scriptTPCC && name != scriptBulkInsert
}

func (p *Parameters) checkTables(cfg *result.Config) error {
	switch {
	case sharesTables(p.Script):
	case cfg.CopyData && p.Script == scriptTPCC: // its tables are spent by each trial, and the next server begins with the copy
	case cfg.CopyData:
		return errors.New("trials.data: Restore is for all scripts but bulk_insert and your own")
	case cfg.KeepData:
		return errors.New("trials.data: Keep is for all scripts but tpcc, bulk_insert and your own: the others share tables")
	}
	return nil
}

// loadOptions say what a script sends, and how: they change nothing in prepared tables.
var loadOptions = []string{
	"range_size", "range_selects", "point_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges",
	"index_updates", "non_index_updates", "delete_inserts", "skip_trx", "random_points", "number_of_ranges", "delta", "db_ps_mode",
	"mysql_ignore_errors",
}

// Dataset implements Tool. Scripts that share tables have the same ones, whatever they do with them; tpcc has its own.
func (t *sysbenchTool) Dataset() workload.Dataset {
	if !t.cfg.KeepData {
		return workload.Dataset{}
	}
	p := *t.params
	// None of these changes what is in the tables.
	p.Clients, p.RatePerSecond, p.Seconds, p.Events, p.WarmupSeconds, p.Percentile = 0, 0, 0, 0, 0, 0
	p.Options = maps.Clone(p.Options)
	maps.DeleteFunc(p.Options, func(name, _ string) bool { return slices.Contains(loadOptions, underscored(name)) })
	// The workload may decide who numbers the rows: oltp_insert then may begin with empty tables.
	if _, numbered := p.defined()["auto_inc"]; sharesTables(p.Script) && !numbered {
		p.Script = ""
	}
	key, err := json.Marshal(struct {
		Seed     int64
		Sysbench Parameters
	}{t.cfg.SeedOfData(), p})
	if err != nil {
		return workload.Dataset{}
	}
	return workload.Dataset{Name: string(key), Spent: t.script.writes}
}

// defined are the options by their names as scripts define them.
func (p *Parameters) defined() map[string]string {
	options := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Options)) {
		options[underscored(name)] = p.Options[name]
	}
	return options
}

// underscored is an option as scripts define it. sysbench takes dashes, too.
func underscored(option string) string { return strings.ReplaceAll(option, "-", "_") }

const (
	// statementsVariable bounds how many statements a server keeps prepared, of all connections.
	statementsVariable = "max_prepared_stmt_count"
	// defaultStatements is its value in all versions of MariaDB and MySQL.
	defaultStatements = 16_382
	// rangeStatements are those of a script with ranges, besides its others.
	rangeStatements = 4
)

// statements are how many a thread of a script prepares for each table. What is not listed prepares none.
var statements = map[string]int64{
	"oltp_point_select": 1, "oltp_read_only": 1 + rangeStatements, "oltp_read_write": 5 + rangeStatements, "oltp_write_only": 4,
	"oltp_update_index": 1, "oltp_update_non_index": 1, scriptDelete: 1, "select_random_points": 1, "select_random_ranges": 1,
	pointsFile: 1, rangesFile: 1, scanFile: 1, updatesFile: 1,
}

// checkStatements finds a load that the server would refuse as it begins: it prepares more statements than the server keeps. What
// a server of the user's own keeps is known if the run says so.
func (p *Parameters) checkStatements(cfg *result.Config) error {
	if !driverOf(cfg).keepsFew {
		return nil
	}
	most, known := int64(defaultStatements), !cfg.Server.Borrowed
	for _, s := range cfg.Settings {
		if strings.EqualFold(underscored(s.Name), statementsVariable) {
			n, err := strconv.ParseInt(s.Value, 10, 64)
			most, known = n, err == nil
		}
	}
	prepared := p.prepares()
	if !known || prepared <= most {
		return nil
	}
	return fmt.Errorf("%d clients prepare %d statements for %d tables, and the server keeps %d (%s): set %[5]s in "+
		"database.variables to %[6]d or more, use fewer clients or tables, or set options db_ps_mode: disable",
		p.Clients, prepared, p.tables(), most, statementsVariable, prepared+2*int64(p.Clients)) // BEGIN and COMMIT
}

func (p *Parameters) prepares() int64 {
	load := p.script()
	options := p.defined()
	maps.Copy(options, load.run)
	if options["db_ps_mode"] == "disable" {
		return 0
	}
	each := statements[load.lua]
	if each > rangeStatements && slices.Contains([]string{"off", "0", "false"}, options["range_selects"]) {
		each -= rangeStatements
	}
	tables := p.tables()
	if n, err := strconv.ParseInt(load.run["tables"], 10, 64); err == nil {
		tables = n
	}
	return int64(p.Clients) * tables * each
}

func (p *Parameters) tables() int64 { return int64(given(p.Tables, defaultTables)) }

func (t *sysbenchTool) Verify(ctx context.Context, in workload.VerifyInput) ([]result.Check, error) {
	server := workload.ServerCounted(in)
	if !server.Passed {
		return []result.Check{server}, nil // there may be no tables to look at
	}
	rows, err := t.rows(ctx, in)
	return append([]result.Check{server}, rows...), err
}

// rows compares the tables of sysbench's own scripts with what their definition leaves in them.
func (t *sysbenchTool) rows(ctx context.Context, in workload.VerifyInput) ([]result.Check, error) {
	if t.params.ScriptFrom != nil || t.params.Script == scriptTPCC {
		return nil, nil // the script's own check says
	}
	written := in.Reading.Totals.Transactions + in.Reading.Totals.Rows + in.Reading.Outside.Transactions + in.Reading.Outside.Rows +
		t.warmupEvents
	tables, low, high := t.expected(written)
	var names []string
	for i := range tables {
		names = append(names, fmt.Sprintf("sbtest%d", i+1))
	}
	got, err := checksum.CountRows(ctx, in.DB, names...)
	if err != nil {
		return nil, err
	}
	detail := fmt.Sprintf("%d in %d tables", got, tables)
	if got < low || got > high {
		detail += fmt.Sprintf(", want %d to %d", low, high)
	}
	return []result.Check{{Name: "rows", Passed: got >= low && got <= high, Detail: detail}}, nil
}

// What sysbench's scripts take if nothing is said.
const (
	defaultTables    = 1
	defaultTableSize = 10_000
)

func (t *sysbenchTool) expected(events int64) (tables, low, high int64) {
	p := t.params
	tables = p.tables()
	low = tables * given(p.TableSize, defaultTableSize)
	high = low
	switch t.script.lua {
	case scriptInsert:
		low, high = low+events, high+events
	case scriptDelete:
		low -= min(events, low)
	case scriptBulkInsert:
		tables, low, high = int64(p.Clients), events, events
	}
	if p.Options["skip_trx"] == "on" || p.Options["auto_inc"] == "off" {
		low, high = 0, math.MaxInt64 // an event may do half of its work, or begin with empty tables
	}
	return tables, low, high
}
