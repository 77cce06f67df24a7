// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"slices"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// stageMetrics are the numbers of a stage that people compare. The headline metric of all stages is the same, and so are the
// units of costs, so that they stand in one table: an operation is whatever the stage does.
func (l *clientLoad) stageMetrics(ctx context.Context, doc *result.Document, s *workload.Stage) []result.Metric {
	t, n := doc.Totals, s.Operations(&doc.Totals)
	seconds := time.Duration(t.Micros * int64(time.Microsecond)).Seconds()
	all := []result.Metric{{Name: "operationsPerSecond", Value: float64(n) / seconds, Unit: "operations/s", Better: "higher"}}
	if t.Rows > 0 {
		all = append(all, result.Metric{Name: metricRate, Value: float64(t.Rows) / seconds, Unit: "rows/s", Better: "higher"})
	}
	all = slices.Concat(all, besides(t), perSecond(doc.Series, s.Operations), longest(doc.Latencies))
	const unit, suffix = "operation", "PerOperation"
	all = slices.Concat(all, serverCosts(doc.Observed, n, unit, suffix), deviceCosts(doc.Observed, n),
		clientCosts(doc.Client, n, unit, suffix), l.stageSizes(ctx, doc.Observed), fsyncs(l.engine, doc.Server, t.Transactions))
	if t.Transactions > 0 {
		all = append(all, t.ErrorRate())
	}
	return append(all, heldBack(doc.Observed, t)...)
}

func lower(name string, value float64, unit string) result.Metric {
	return result.Metric{Name: name, Value: value, Unit: unit, Better: "lower"}
}

// perSecond are percentiles of the rates of single seconds, or of longer intervals where the series of a long stage has these:
// the rate that half of the intervals had at least, and 99% of them. The last interval, which the end has cut short, and a stage
// whose operations are not spread over its time have none.
func perSecond(series []result.Interval, operations func(*result.Totals) int64) []result.Metric {
	var rates []float64
	before, some := int64(0), false
	for _, interval := range series[:max(len(series)-1, 0)] {
		t := interval.Totals()
		some = some || t != result.Totals{}
		rates = append(rates, 1e6*float64(operations(&t))/float64(max(interval.EndMicros-before, 1)))
		before = interval.EndMicros
	}
	if !some {
		return nil
	}
	slices.Sort(rates)
	reached := func(name string, but float64) result.Metric {
		rate := rates[int(but*float64(len(rates)))]
		return result.Metric{Name: name, Value: rate, Unit: "operations/s", Better: "higher"}
	}
	return []result.Metric{reached("perSecondRateP50", 0.5), reached("perSecondRateP99", 0.01)}
}

// notOfServer are latencies that the server does not cause alone.
var notOfServer = []string{"wait", "queued", "transaction", "rolledBack"}

// longest is the longest operation of any kind.
func longest(latencies []result.Latency) []result.Metric {
	most := int64(0)
	for _, l := range latencies {
		if !slices.Contains(notOfServer, l.Operation) {
			most = max(most, l.MaxMicros)
		}
	}
	if most == 0 {
		return nil
	}
	return []result.Metric{lower("longestOperationMicros", float64(most), "µs")}
}

// deviceCosts are what an operation takes on the server's node besides serverCosts: bytes from disk, reads and writes of the
// device, and context switches. What is not known is left out.
func deviceCosts(o *result.Observed, n int64) []result.Metric {
	used, known := o.Used()
	if !known || n == 0 {
		return nil
	}
	switches := int64(-1)
	if used.VoluntarySwitches >= 0 && used.InvoluntarySwitches >= 0 {
		switches = used.VoluntarySwitches + used.InvoluntarySwitches
	}
	var all []result.Metric
	for _, cost := range []struct {
		name, unit string
		amount     int64
	}{
		{"serverBytesReadPerOperation", "bytes/operation", used.ReadBytes},
		{"deviceReadsPerOperation", "reads/operation", used.DeviceReads},
		{"deviceWritesPerOperation", "writes/operation", used.DeviceWrites},
		{"serverSwitchesPerOperation", "switches/operation", switches},
	} {
		if cost.amount >= 0 {
			all = append(all, lower(cost.name, float64(cost.amount)/float64(n), cost.unit))
		}
	}
	return all
}

// stageSizes are those of the tables and of the data directory at the end of a stage, and the most memory that the server has had
// so far. What is not known is left out.
func (l *clientLoad) stageSizes(ctx context.Context, o *result.Observed) []result.Metric {
	var all []result.Metric
	for _, query := range l.dialect.Server.TableBytes {
		var bytes int64
		if err := l.admin.QueryRowContext(ctx, query, l.cfg.Server.Schema).Scan(&bytes); err == nil && bytes > 0 {
			all = append(all, lower("tableBytes", float64(bytes), "bytes"))
			break
		}
	}
	used, _ := o.Used()
	if used.DataBytes > 0 {
		all = append(all, lower("dataDirectoryBytes", float64(used.DataBytes), "bytes"))
	}
	if used.MaxRSSBytes > 0 {
		all = append(all, lower("serverMaxRSSBytes", float64(used.MaxRSSBytes), "bytes"))
	}
	return all
}
