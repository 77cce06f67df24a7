// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package sysbench

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/result"
)

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
	"oltp_point_select": 1, "oltp_read_only": 1 + rangeStatements, "oltp_read_write": 5 + rangeStatements, scriptChurn: 4,
	"oltp_update_index": 1, "oltp_update_non_index": 1, scriptDelete: 1, "select_random_points": 1, "select_random_ranges": 1,
	pointsFile: 1, rangesFile: 1, scanFile: 1, updatesFile: 1,
}

// checkStatements finds a load that the server would refuse as it begins: it prepares more statements than the server keeps. What
// a server of the user's own keeps is known if the run says so.
func (p *Parameters) checkStatements(cfg *result.Config) error {
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
	return fmt.Errorf("%d threads prepare %d statements for %d tables, and the server keeps %d (%s): set %[5]s in "+
		"database.variables to %[6]d or more, use fewer threads or tables, or set options db_ps_mode: disable",
		p.Threads, prepared, p.tables(), most, statementsVariable, prepared+2*int64(p.Threads)) // BEGIN and COMMIT
}

// prepares is how many statements all threads prepare at the same time, at least.
func (p *Parameters) prepares() int64 {
	load := p.script()
	options := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Options)) {
		options[underscored(name)] = p.Options[name]
	}
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
	prepared := int64(p.Threads) * tables * each
	if p.Churn > 0 {
		prepared = max(prepared, int64(p.Threads)*p.tables()*statements[scriptChurn])
	}
	return prepared
}

func (p *Parameters) tables() int64 {
	if p.Tables != nil {
		return int64(*p.Tables)
	}
	return int64(defaultTables)
}
