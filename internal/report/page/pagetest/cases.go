// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package pagetest

import (
	"math"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/judge/claims"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

func sweep(name string, values ...string) []map[string]string {
	var points []map[string]string
	for _, v := range values {
		points = append(points, map[string]string{name: v})
	}
	return points
}

func number(parameters map[string]string, name string) float64 {
	v, err := strconv.ParseFloat(parameters[name], 64)
	if err != nil {
		panic(err)
	}
	return v
}

// commitRate is how many rows a second fit if so many of them share a commit.
func commitRate(rowsPerCommit, microsOfCommit float64) float64 {
	return 1e6 / (78 + microsOfCommit/rowsPerCommit)
}

// durable is the rate of a point if every commit waits for the disk.
func durable(point map[string]string) float64 {
	return commitRate(number(point, "rowsPerCommit"), commitMicros["durable"])
}

const commitSpec = `{"database":{"image":"mariadb:11.8","settings":{"binaryLog":false,"bufferPoolSize":"128Mi",` +
	`"flushLogAtTrxCommit":1,"redoLogSize":"96Mi"},"storage":{"size":"1Gi"}},"seed":42,` +
	`"trials":{"order":"Interleaved","repetitions":6},` +
	`"workload":{"commitSize":{"rows":0,"sweep":{"rowsPerCommit":[1,2,4,8,16,32,64,128,256,512,1024]}},"limits":{"seconds":10},` +
	`"type":"CommitSize"}}`

// CommitSize is a run over powers of two, with claims, warnings and a trial that was disturbed.
func CommitSize() Case {
	m := newMaker("commit-size", "CommitSize", commitSpec)
	points := sweep("rowsPerCommit", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024")
	m.measure(6, points, durable, func(doc *result.Document) {
		if doc.Identity.Trial%17 == 3 {
			doc.Findings = []finding.Finding{finding.Arrived("bench/other", 0)}
		}
	})
	disturbed := *m.Report.Records[20]
	disturbed.Outcome, disturbed.Cause, disturbed.Summary = result.OutcomeInvalidated, result.CauseEvicted, nil
	disturbed.Message = "EvictionByEvictionAPI: Eviction API: evicting"
	m.Report.Records[20].Attempt = 2
	m.Report.Records = append(m.Report.Records[:20:20], append([]*result.Record{&disturbed}, m.Report.Records[20:]...)...)
	m.Report.Claims = []claims.Judgement{
		{
			Name: "tenfold-to-16", Statement: "going from single row commits to 16 row commits, we get a 10-fold speed increase",
			Verdict: claims.DoesNotHold, Detail: "3.2× (3.1–3.3×; claimed: at least 10×)", Published: claims.Holds,
			PublishedDetail: "10.7 times",
		},
		{Name: "never-falls", Verdict: claims.CannotSay, Detail: "512 to 1024: 1.00× (0.98–1.03×)"},
	}
	m.Report.Findings = []finding.Finding{
		finding.DiskDrift(finding.Fdatasync{Median: 118, P95: 160}, finding.Fdatasync{Median: 171, P95: 240}, 4, 31),
	}
	return m.Case
}

// Grid is a run over two parameters of numbers.
func Grid() Case {
	m := newMaker("threads-and-size", "Sysbench", `{"seed":42}`)
	var points []map[string]string
	for _, threads := range []string{"1", "2", "4", "8", "16"} {
		for _, size := range []string{"10000", "20000", "50000", "100000"} {
			points = append(points, map[string]string{"clients": threads, "tableSize": size})
		}
	}
	m.measure(4, points, func(p map[string]string) float64 {
		n := number(p, "clients")
		return 900 * n / (1 + 0.09*n + 0.012*n*n) * math.Pow(number(p, "tableSize"), -0.08)
	}, nil)
	return m.Case
}

// File is a file of plots and tables.
func File(text string) report.Requested {
	q, err := report.ReadRequested("my.plots", []byte(text))
	if err != nil {
		panic(err)
	}
	return *q
}

// Requested is the same with plots that a file asks for: one with a line for each size, one of durations at one
// size, and one of a metric that was not measured; and with a table that has published figures.
func Requested() Case {
	c := Grid()
	c.Report.Requested = File(`{"plots":[
		{"name":"env=a.against_threads","title":"threads, each size","against":"clients","lines":"tableSize"},
		{"name":"small","against":"clients","metric":"durationSeconds","among":{"parameters":{"tableSize":"10000"}}},
		{"name":"unknown","against":"clients","metric":"rows","among":{"parameters":{"tableSize":"10000"}}}],
		"tables":[{"name":"published","title":"threads, as published","metrics":["durationSeconds","unknown"],
			"among":{"parameters":{"tableSize":"10000"}},
			"published":[{"of":{"parameters":{"clients":"1"}},"value":"12.5"}]}]}`)
	return c
}

// Words is a run over a parameter that is no number, of which less is better, by table.
func Words() Case {
	m := newMaker("load-order", "TPROCHLoad", `{"seed":42}`)
	points := sweep("uniqueChecks", "true", "false")
	m.measure(6, points, func(p map[string]string) float64 {
		if p["uniqueChecks"] == "true" {
			return 30
		}
		return 21
	}, func(doc *result.Document) {
		seconds := doc.Metrics[0].Value
		doc.Metrics = []result.Metric{{Name: "totalSeconds", Value: seconds, Unit: "s", Better: "lower"}}
		for i, name := range []string{"REGION", "NATION", "SUPPLIER", "CUSTOMER", "PART", "PARTSUPP", "ORDERS", "LINEITEM"} {
			doc.Metrics = append(doc.Metrics, result.Metric{
				Name: name + "Seconds", Part: name, Value: seconds * math.Exp2(float64(i)) / 255, Unit: "s", Better: "lower",
			})
		}
		doc.Latencies, doc.Series = nil, nil
	})
	return m.Case
}

// IIBench is a run at one point, with milestones.
func IIBench() Case {
	m := newMaker("insert-until-it-hurts", "IIBench", `{"seed":42}`)
	m.measure(3, []map[string]string{nil}, func(map[string]string) float64 { return 21000 }, func(doc *result.Document) {
		rate, seconds := doc.Metrics[0].Value, 0.0
		for i := range 50 {
			now := rate * (0.35 + 0.65/(1+math.Exp(float64(i-18)/4))) * (1 + 0.03*m.random.NormFloat64())
			seconds += 1e5 / now
			rows := int64(i+1) * 100_000
			doc.Milestones = append(doc.Milestones, result.Milestone{
				Rows: rows, Micros: int64(seconds * 1e6), RowsPerSecond: now, OverallRowsPerSecond: float64(rows) / seconds,
				TableBytes: rows * 90, IndexBytes: rows * 70,
			})
		}
	})
	return m.Case
}

// Failed is a run that ended at its first attempt.
func Failed() Case {
	m := newMaker("cannot-start", "CommitSize", commitSpec)
	parameters := map[string]string{"rowsPerCommit": "1"}
	m.Report.Outcome, m.Report.Message = "Failed", "LoaderFailed: trial 1 (rowsPerCommit=1): Table 't' already exists"
	m.Report.Planned = 66
	m.Report.Points = []stats.Point{stats.Looks{}.Summarized(stats.Point{Parameters: parameters})}
	m.Report.Records = []*result.Record{{
		Version: 1, Trial: 1, Attempt: 1, Instance: 1, Parameters: parameters, Outcome: result.OutcomeFailed, Cause: "SQL",
		Message: "Table 't' already exists", Recorded: time.Date(2026, 11, 22, 18, 30, 1, 0, time.UTC),
	}}
	return m.Case
}

// Single is a run of one trial.
func Single() Case {
	m := newMaker("once", "BulkInsert", `{"seed":42}`)
	m.measure(1, []map[string]string{nil}, func(map[string]string) float64 { return 52000 }, nil)
	return m.Case
}

// Many is a run of so many points, each measured in so many rounds, without details.
func Many(points, rounds int) Case {
	m := newMaker("many", "CommitSize", commitSpec)
	m.Details = nil
	var list []map[string]string
	for i := range points {
		list = append(list, map[string]string{"rowsPerCommit": strconv.Itoa(i + 1)})
	}
	m.measure(rounds, list, durable, nil)
	return m.Case
}
