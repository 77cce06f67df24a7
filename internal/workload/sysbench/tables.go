// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// sharesTables says whether a script has the tables sbtest1 and so on, which are the same for all but a few scripts.
func sharesTables(name string) bool {
	return name != "" && name != scriptTPCC && name != scriptBulkInsert
}

// checkTables finds what is asked of other tables than those that scripts share.
func (p *Parameters) checkTables(cfg *result.Config) error {
	switch {
	case p.Churn < 0:
		return fmt.Errorf("churn is %d but must be at least 0", p.Churn)
	case sharesTables(p.Script):
		return nil
	case p.Churn > 0:
		return errors.New("churn is for all scripts but tpcc, bulk_insert and your own: it writes to the tables that the others share")
	case cfg.CopyData && p.Script == scriptTPCC:
		return nil // its tables are spent by each trial, and the next server begins with the copy
	case cfg.CopyData:
		return errors.New("trials.data: Restore is for all scripts but bulk_insert and your own")
	case cfg.KeepData:
		return errors.New("trials.data: Keep is for all scripts but tpcc, bulk_insert and your own: the others share tables")
	}
	return nil
}

// churn writes to the tables that were prepared. It is another script than the workload's, and does not have that one's options.
func (t *sysbenchTool) churn() workload.Command {
	options := maps.Clone(t.params.Options)
	maps.DeleteFunc(options, func(name, _ string) bool { return !general(name) })
	return t.command(scriptChurn, options, "run",
		"--rate=0", "--rand-seed="+t.churnSeed(), fmt.Sprintf("--events=%d", t.params.Churn), "--time=0")
}

// churnSeed is another one than those of warm-ups and measured loads.
func (t *sysbenchTool) churnSeed() string {
	return strconv.FormatInt(folded(^t.cfg.SeedOfData()-1), 10)
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
	p.Threads, p.Rate, p.Seconds, p.Events, p.WarmupSeconds, p.Percentile = 0, 0, 0, 0, 0, 0
	p.Options = maps.Clone(p.Options)
	maps.DeleteFunc(p.Options, func(name, _ string) bool { return slices.Contains(loadOptions, underscored(name)) })
	if sharesTables(p.Script) && !p.numbersRows() {
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

// numbersRows says whether the workload decides who numbers the rows: oltp_insert then may begin with empty tables.
func (p *Parameters) numbersRows() bool {
	for name := range p.Options {
		if underscored(name) == "auto_inc" {
			return true
		}
	}
	return false
}

// underscored is an option as scripts define it. sysbench takes dashes, too.
func underscored(option string) string { return strings.ReplaceAll(option, "-", "_") }
