// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package pagetest

import (
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

const comparisonSpec = `{"baseline":"durable","rounds":{"atMost":10,"atLeast":6,"until":"Decided"},"equivalentWithinPercent":5,` +
	`"variants":[{"name":"durable"},{"name":"lazy","database":{"settings":{"flushLogAtTrxCommit":2}}}],"seed":42,"workload":` +
	`{"commitSize":{"rows":0,"sweep":{"rowsPerCommit":[1,4,16,64,256,1024]}},"limits":{"seconds":10},"type":"CommitSize"}}`

// variants makes the run one with variants.
func (m *maker) variants(message string) *report.Report {
	r := m.Report
	r.UID, r.SpecDigest, r.Message, r.Rounds, r.Planned = "uid", "", message, rounds, rounds
	r.Alternation, r.TrialsPerRound = v1alpha1.AlternateRuns, 1
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
			OtherVariables: &judge.OtherVariables{
				Differing: 1, Same: 213, Differ: []plan.Difference{{Name: "innodb_io_capacity", From: "200", To: "400"}},
			},
		},
	}
	s.Variables = []judge.ServerVariable{{Name: "innodb_io_capacity", Values: []*string{new("200"), new("400")}}}
	points := sweep("rowsPerCommit", "1", "4", "16", "64", "256", "1024")
	c := m.Case
	for round := 1; round <= rounds; round++ {
		for _, variant := range []string{"durable", "lazy"} {
			for i, p := range points {
				value := commitRate(number(p, "rowsPerCommit"), commitMicros[variant]) * (1 + scatter(p)*m.random.NormFloat64())
				doc := m.document(len(points)*round+i, value)
				doc.Latencies[0].Histogram = m.histogram(int64(commitMicros[variant]))
				record := recordOf(doc, p)
				record.Trial = len(s.Records) + 1
				Add(s, record, variant, round)
				c.Details.Add(record, doc)
				s.AddSettings(record, doc)
			}
		}
	}
	disturbed := *s.Records[30]
	disturbed.Outcome, disturbed.Cause, disturbed.Summary = result.OutcomeInvalidated, result.CauseEvicted, nil
	disturbed.Message = "EvictionByEvictionAPI: Eviction API: evicting"
	s.Records = slices.Insert(s.Records, 30, &disturbed)
	judgePairs(s, points, rows)
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

// Add a record of a variant in a round to a report, with a point where it is the first one of this.
func Add(r *report.Report, record *result.Record, variant string, round int) {
	record.Sides = []result.SideRecord{{Variant: variant, Instance: 1, Place: record.Place, Fingerprint: record.Fingerprint}}
	r.Records = append(r.Records, record)
	i := slices.IndexFunc(r.Points, func(p stats.Point) bool {
		return p.Variant == variant && stats.Label(p.Parameters) == stats.Label(record.Parameters)
	})
	if i < 0 {
		i = len(r.Points)
		r.Points = append(r.Points, stats.Point{Variant: variant, Parameters: record.Parameters})
	}
	p := &r.Points[i]
	p.Records, p.Rounds = append(p.Records, record.Side(variant)), append(p.Rounds, round)
}

func judgePairs(s *report.Report, points []map[string]string, metric result.Metric) {
	design := stats.Design{
		MinRounds: 6, MaxRounds: rounds, EarlyStop: true, EquivalencePercent: 5, Comparisons: len(points), Together: len(points) > 1,
	}
	for i, p := range points {
		pair := stats.Paired{Variant: "lazy", Baseline: "durable", Parameters: p, Metric: metric}
		pair.BaselineValues, pair.Values = s.Points[i].In("").Values, s.Points[len(points)+i].In("").Values
		pair.Costs = []stats.Cost{
			{Name: "innodbFsyncsPerTransaction", Unit: "fsyncs/transaction", Baseline: 1.01, Variant: 0.0012},
			{Name: "serverMicrosPerRow", Unit: "µs/row", Baseline: 61, Variant: 60},
		}
		pair.Judge(design)
		s.Pairs = append(s.Pairs, pair)
	}
	s.Overall = design.Overall(s.Pairs)
}
