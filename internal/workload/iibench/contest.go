// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package iibench

import (
	"fmt"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/finding"
)

const (
	noRules = "None"
	// contest2008 are the rules of the contest that made this benchmark known.
	contest2008 = "Contest2008"
)

// The contest's numbers.
const (
	contestRows             = 1_000_000_000
	contestRowsPerCommit    = 1000
	contestRowsPerStatement = 1000
	contestVersion          = "5.1."
)

// checkContest refuses what the contest's rules do not allow.
func checkContest(p *Parameters) error {
	if p.Rules != contest2008 {
		return nil
	}
	all := len(tokutek2008.indexes)
	switch {
	case p.Schema != schemaTokutek2008:
		return fmt.Errorf("rules %s: schema is %s but must be %s", p.Rules, p.Schema, schemaTokutek2008)
	case p.RowsPerCommit != contestRowsPerCommit:
		return fmt.Errorf("rules %s: rowsPerCommit is %d but must be %d", p.Rules, p.RowsPerCommit, contestRowsPerCommit)
	case p.RowsPerStatement > contestRowsPerStatement:
		return fmt.Errorf("rules %s: rowsPerStatement is %d but must be at most %d",
			p.Rules, p.RowsPerStatement, contestRowsPerStatement)
	case p.SecondaryIndexes != all || p.IndexesAt == indexesAtEnd:
		return fmt.Errorf("rules %s: the %d secondary indexes must exist from the start", p.Rules, all)
	case p.KeepRows > 0 || p.QueryThreads > 0:
		return fmt.Errorf("rules %s: deletes and queries are not allowed", p.Rules)
	}
	return nil
}

// contestDeviations are what differs from the contest and cannot be made to fit, or cannot be seen from here.
func contestDeviations(p *Parameters, version string) []finding.Finding {
	var all []finding.Finding
	if p.Rows != contestRows {
		all = append(all, finding.OtherRows(contest2008, p.Rows, contestRows))
	}
	if !strings.HasPrefix(version, contestVersion) {
		all = append(all, finding.OtherServer(contest2008, version, contestVersion+"x"))
	}
	return append(all, finding.OtherHardware(contest2008))
}
