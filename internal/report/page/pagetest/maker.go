// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package pagetest has runs as they are measured, for tests of what shows them. The numbers are made up: they
// follow what was measured, scatter as much, and are the same each time.
package pagetest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Case is a run to be shown.
type Case struct {
	Report  *report.Report
	Details *page.Details
}

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
				Outcome: "Complete", Started: time.Date(2026, 11, 22, 18, 30, 0, 0, time.UTC),
				SpecDigest: "v1:sha256:5b0c1f6ad3", Spec: json.RawMessage(spec),
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
	number := 0
	for range rounds {
		for _, i := range m.random.Perm(len(points)) {
			number++
			doc := m.document(number, value(points[i])*(1+0.025*m.random.NormFloat64()))
			if change != nil {
				change(doc)
			}
			record := recordOf(doc, points[i])
			m.Report.Records = append(m.Report.Records, record)
			if m.Details != nil {
				m.Details.Add(record, doc)
				m.Report.AddSettings(record, doc)
			}
			byPoint[i] = append(byPoint[i], record)
		}
	}
	for i, p := range points {
		m.Report.Points = append(m.Report.Points, stats.Looks{}.Summarized(stats.Point{Parameters: p, Records: byPoint[i]}))
	}
	m.Report.Planned = number
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
			MountOptions: "rw,relatime,discard,resv_strict,resuid=65534,resgid=65534",
			Device:       "/dev/vda1", IOScheduler: "none", Swappiness: "60", TransparentHugePages: "madvise",
			CPUGovernor: result.Unknown, FdatasyncMicros: result.FsyncLatency{Calls: 300, Median: 131, P95: 214, Max: 1900},
		},
		Place: result.Place{
			DatabaseNode: "worker", LoaderNode: "worker2", DatabasePodUID: "db", LoaderPodUID: "pod",
			DatabaseImage: "mariadb@sha256:1fa6d3f2", LoaderImage: "benchrun-loader@sha256:77ab01c9",
		},
		Recorded: time.Date(2026, 11, 22, 18, 30, doc.Identity.Trial, 0, time.UTC),
	}
}
