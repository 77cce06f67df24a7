// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pagetest has runs and suites as they are measured, for tests of what shows them. The numbers are made up: they follow
// what was measured, scatter as much, and are the same each time.
package pagetest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/stats/claims"
)

// Case is a run to be shown.
type Case struct {
	Report  *report.Report
	Details *page.Details
}

// maker of a run.
type maker struct {
	Case
	random *rand.Rand
	// histograms of latencies, made once for about each median.
	histograms map[int64]string
}

func newMaker(name, workload, spec string) *maker {
	return &maker{
		Case: Case{
			Report: &report.Report{Run: report.Run{
				Namespace: "bench", Name: name, UID: "01234567-89ab-cdef-0123-456789abcdef", Workload: workload, Seed: 42,
				SpecDigest: "v1:sha256:5b0c1f6ad3", Outcome: "Complete", Started: time.Date(2026, 11, 22, 18, 30, 0, 0, time.UTC),
				Spec: json.RawMessage(spec),
			}},
			Details: &page.Details{},
		},
		random:     rand.New(rand.NewPCG(1, 2)),
		histograms: map[int64]string{},
	}
}

// measure rounds of points, each with the given value but for scatter.
func (m *maker) measure(
	rounds int, points []map[string]string, value func(map[string]string) float64, change func(*result.Document),
) {
	byPoint := make([][]*result.Record, len(points))
	for round := range rounds {
		for _, i := range m.random.Perm(len(points)) {
			number := len(m.Report.Trials) + 1
			m.Report.Trials = append(m.Report.Trials, report.Trial{Number: number, Round: round + 1, Parameters: points[i]})
			doc := m.document(number, value(points[i])*(1+0.025*m.random.NormFloat64()))
			if change != nil {
				change(doc)
			}
			record := recordOf(doc, points[i])
			m.Report.Records = append(m.Report.Records, record)
			if m.Details != nil {
				m.Details.Add(record, doc)
			}
			byPoint[i] = append(byPoint[i], record)
		}
	}
	for i, p := range points {
		m.Report.Points = append(m.Report.Points, stats.Summarized(p, byPoint[i]))
	}
	m.Report.Run.Planned = len(m.Report.Trials)
}

// document of a trial of ten seconds at that rate.
func (m *maker) document(number int, rate float64) *result.Document {
	const seconds = 10
	median := int64(4e6 / rate)
	doc := &result.Document{
		Version: result.DocumentVersion,
		Identity: result.Identity{
			Trial: number, Attempt: 1, PodUID: "pod", Loader: "v0.1.0", Started: time.Date(2026, 11, 22, 18, 30, number, 0, time.UTC),
		},
		Totals: result.Totals{
			Rows: int64(seconds * rate), Transactions: int64(seconds * rate), Statements: int64(seconds * rate), Micros: seconds * 1e6,
			StoppedBy: result.StoppedBySeconds,
		},
		Metrics: []result.Metric{
			{Name: "rowsPerSecond", Value: rate, Unit: "rows/s", Better: "higher"},
			{Name: "serverMicrosPerRow", Value: 40 + 2e5/rate, Unit: "µs/row", Better: "lower"},
		},
		Latencies: []result.Latency{{
			Operation: "commit", Count: 10_000, P50Micros: median, P95Micros: 2 * median, P99Micros: 3 * median, P999Micros: 8 * median,
			MaxMicros: 20 * median, Histogram: m.histogram(median),
		}},
		Server: result.ServerFacts{
			Version: "11.8.3-MariaDB", SettingsDigest: "sha256:9c41d0e2",
			Variables: map[string]string{"innodb_buffer_pool_size": "134217728"},
			Settings: []result.AppliedSetting{
				{Name: "innodb_buffer_pool_size", Requested: "128M", Effective: "134217728", Outcome: result.SettingEffective},
				{Name: "innodb_flush_log_at_trx_commit", Requested: "1", Effective: "1", Outcome: result.SettingEffective},
				{Name: "innodb_log_file_size", Requested: "96M", Effective: "100663296", Outcome: result.SettingEffective},
			},
		},
	}
	for i := range 40 {
		dip := 1 - 0.5*math.Exp(-math.Pow(float64(i-25)/1.5, 2))
		doc.Series = append(doc.Series, result.Interval{
			EndMicros: int64(i+1) * 250_000, Rows: int64(rate / 4 * dip * (1 + 0.03*m.random.NormFloat64())),
			MaxMicros: int64(float64(median) * (6 + 20*(1-dip) + m.random.Float64())),
		})
	}
	return doc
}

// histogram of latencies around a median, with a long tail.
func (m *maker) histogram(median int64) string {
	if text := m.histograms[median/8]; text != "" {
		return text
	}
	h := hdrhistogram.New(1, 3_600_000_000, 3)
	for range 2000 {
		v := float64(median) * math.Exp(0.25*m.random.NormFloat64())
		if m.random.IntN(100) == 0 {
			v *= 6
		}
		if err := h.RecordValue(max(1, int64(v))); err != nil {
			panic(err)
		}
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err)
	}
	m.histograms[median/8] = string(text)
	return string(text)
}

func recordOf(doc *result.Document, parameters map[string]string) *result.Record {
	summary := doc.Summarize(result.EncodedDocument{SHA256: "feed", Gzip: []byte("gzip")})
	summary.Latencies = doc.Latencies
	return &result.Record{
		Version: result.RecordVersion, Trial: doc.Identity.Trial, Attempt: 1, Instance: 1, Parameters: parameters,
		Outcome: result.OutcomeAccepted, Summary: &summary,
		Fingerprint: &result.Fingerprint{
			Version: 1, Kernel: "6.12.48-cloud-amd64", CPUModel: "AMD EPYC 7543", CPUs: 2, MemoryBytes: 8 << 30, Filesystem: "ext4",
			MountOptions: "rw,relatime", Device: "/dev/vda1", IOScheduler: "none", Swappiness: "60", TransparentHugePages: "madvise",
			CPUGovernor: result.Unknown, FdatasyncMicros: result.FsyncLatency{Calls: 300, Median: 131, P95: 214, Max: 1900},
		},
		Place: result.Place{
			DatabaseNode: "worker", LoaderNode: "worker2", DatabasePodUID: "db", LoaderPodUID: "pod",
			DatabaseImage: "mariadb@sha256:1fa6d3f2", LoaderImage: "benchrun-loader@sha256:77ab01c9",
		},
		Recorded: time.Date(2026, 11, 22, 18, 30, doc.Identity.Trial, 0, time.UTC),
	}
}

// sweep of a parameter.
func sweep(name string, values ...string) []map[string]string {
	var points []map[string]string
	for _, v := range values {
		points = append(points, map[string]string{name: v})
	}
	return points
}

// number of a parameter.
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
	`"flushLogAtTrxCommit":1,"logFileSize":"96Mi"},"storage":{"size":"1Gi"}},"seed":42,` +
	`"trials":{"order":"Interleaved","repetitions":6},` +
	`"workload":{"commitSize":{"rows":0,"sweep":{"rowsPerCommit":[1,2,4,8,16,32,64,128,256,512,1024]}},"limits":{"seconds":10},` +
	`"type":"CommitSize"}}`

// CommitSize is a run over powers of two, with claims, warnings and a trial that was disturbed.
func CommitSize() Case {
	m := newMaker("commit-size", "CommitSize", commitSpec)
	points := sweep("rowsPerCommit", "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024")
	m.measure(6, points, durable, func(doc *result.Document) {
		if doc.Identity.Trial%17 == 3 {
			doc.Warnings = []string{"Pods came to the database's node during the attempt: bench/other"}
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
			Verdict: claims.DoesNotHold, Detail: "3.2 times (3.1–3.3), at least 10 was claimed", Published: claims.Holds,
			PublishedDetail: "10.7 times",
		},
		{Name: "never-falls", Verdict: claims.CannotSay, Detail: "512 to 1024: 1.00 times (0.98–1.03)"},
	}
	m.Report.Run.Warnings = []string{"fdatasync before the trials differs: 118 µs at trial 4, 171 µs at trial 31"}
	return m.Case
}

// Grid is a run over two parameters of numbers.
func Grid() Case {
	m := newMaker("threads-and-size", "Sysbench", `{"seed":42}`)
	var points []map[string]string
	for _, threads := range []string{"1", "2", "4", "8", "16"} {
		for _, size := range []string{"10000", "20000", "50000", "100000"} {
			points = append(points, map[string]string{"threads": threads, "tableSize": size})
		}
	}
	m.measure(4, points, func(p map[string]string) float64 {
		n := number(p, "threads")
		return 900 * n / (1 + 0.09*n + 0.012*n*n) * math.Pow(number(p, "tableSize"), -0.08)
	}, nil)
	return m.Case
}

// Words is a run over a parameter that is no number, of which less is better, by table.
func Words() Case {
	m := newMaker("load-order", "TPROCHLoad", `{"seed":42}`)
	points := sweep("uniqueChecks", "true", "false")
	tables := []string{"REGION", "NATION", "SUPPLIER", "CUSTOMER", "PART", "PARTSUPP", "ORDERS", "LINEITEM"}
	m.measure(6, points, func(p map[string]string) float64 {
		if p["uniqueChecks"] == "true" {
			return 30
		}
		return 21
	}, func(doc *result.Document) {
		seconds := doc.Metrics[0].Value
		doc.Metrics = []result.Metric{{Name: "totalSeconds", Value: seconds, Unit: "s", Better: "lower"}}
		for i, name := range tables {
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
	m.Report.Run.Outcome, m.Report.Run.Message = "Failed", "LoaderFailed: trial 1 (rowsPerCommit=1): Table 't' already exists"
	m.Report.Run.Planned = 66
	m.Report.Trials = []report.Trial{{Number: 1, Round: 1, Parameters: parameters}}
	m.Report.Points = []stats.Point{stats.Summarized(parameters, nil)}
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
