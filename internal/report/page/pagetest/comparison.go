// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package pagetest

import (
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

const comparisonSpec = `{"baseline":"durable","maxRounds":10,"equivalentWithinPercent":5,"earlyStop":{"minRounds":6},` +
	`"variants":[{"name":"durable"},` +
	`{"name":"lazy","database":{"settings":{"flushLogAtTrxCommit":2}}}],"template":{"spec":` + commitSpec + `}}`

// variants makes the run one with variants.
func (m *maker) variants(message string) *report.Report {
	r := m.Report
	r.UID, r.SpecDigest, r.Message, r.Rounds, r.Planned = "uid", "", message, rounds, rounds
	return r
}

// rounds of the comparison.
const rounds = 10

// Comparison compares durable commits with lazy ones at several points: they differ where commits are small.
func Comparison() Case {
	m := newMaker("durable-or-not", "CommitSize", comparisonSpec)
	rows := result.Metric{Name: "rowsPerSecond", Unit: "rows/s", Better: "higher"}
	s := m.variants("all 10 rounds are measured")
	s.Variants = []report.Variant{
		{Name: "durable", Title: "every commit on disk", Baseline: true, SpecDigest: "v1:sha256:01ab"},
		{
			Name: "lazy", Title: "flushed once a second", SpecDigest: "v1:sha256:02cd",
			Differences: []plan.Difference{{Name: "innodb_flush_log_at_trx_commit", From: "1", To: "2"}},
			Unrequested: 1,
			Besides:     "1 of the other 214 variables differ: innodb_io_capacity (200 → 400)",
		},
	}
	s.Variables = []analysis.ServerVariable{{Name: "innodb_io_capacity", Values: []*string{new("200"), new("400")}}}
	points := sweep("rowsPerCommit", "1", "4", "16", "64", "256", "1024")
	c := m.Case
	for round := 1; round <= rounds; round++ {
		for _, variant := range []string{"durable", "lazy"} {
			run := report.SideRun{
				Name: fmt.Sprintf("durable-or-not-r%d-%s", round, variant), Round: round, Variant: variant, Seed: int64(round),
				Outcome: "Complete", Results: "sha256:03", Metric: rows.Name, Unit: rows.Unit, DatabaseNode: "worker", LoaderNode: "worker2",
				ServerVersion: "11.8.3-MariaDB", DatabaseImage: "mariadb@sha256:1fa6d3f2", SettingsDigest: "sha256:9c41d0e2",
			}
			for i, p := range points {
				value := commitRate(number(p, "rowsPerCommit"), commitMicros[variant]) * (1 + scatter(p)*m.random.NormFloat64())
				run.Values = append(run.Values, report.PointValue{Parameters: p, Value: value})
				doc := m.document(len(points)*round+i, value)
				doc.Latencies[0].Histogram = m.histogram(int64(commitMicros[variant]))
				record := recordOf(doc, p)
				record.Sides = []result.SideRecord{{Variant: variant, Instance: 1, Place: record.Place, Fingerprint: record.Fingerprint}}
				c.Details.Add(record, doc)
			}
			s.Runs = append(s.Runs, run)
		}
	}
	s.Runs[5].Invalidated = 1
	judge(s, points, rows)
	s.Claims = []claims.Judgement{{
		Name: "twofold", Statement: "twice as fast if nothing waits for the disk", Verdict: claims.Holds,
		Detail: "3.0× (3.0–3.1×) at rowsPerCommit=1, claimed: at least 2×",
	}}
	return c
}

// scatter of the values of a point, relative to their mean: at one point it is too much for an answer.
func scatter(point map[string]string) float64 {
	if point["rowsPerCommit"] == "64" {
		return 0.06
	}
	return 0.012
}

// commitMicros is what a commit takes.
var commitMicros = map[string]float64{"durable": 215, "lazy": 18}

func judge(s *report.Report, points []map[string]string, metric result.Metric) {
	design := stats.Design{
		MinRounds: 6, MaxRounds: rounds, EarlyStop: true, EquivalencePercent: 5, Comparisons: len(points), Together: len(points) > 1,
	}
	for i, p := range points {
		pair := stats.Paired{Variant: "lazy", Baseline: "durable", Parameters: p, Metric: metric}
		for _, run := range s.Runs {
			if run.Variant == "lazy" {
				pair.Values = append(pair.Values, run.Values[i].Value)
			} else {
				pair.BaselineValues = append(pair.BaselineValues, run.Values[i].Value)
			}
		}
		pair.Costs = []stats.Cost{
			{Name: "innodbFsyncsPerTransaction", Unit: "fsyncs/transaction", Baseline: 1.01, Variant: 0.0012},
			{Name: "serverMicrosPerRow", Unit: "µs/row", Baseline: 61, Variant: 60},
		}
		pair.Judge(design)
		s.Pairs = append(s.Pairs, pair)
	}
	s.Overall = design.Overall(s.Pairs)
}
