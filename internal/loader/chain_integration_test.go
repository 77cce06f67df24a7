//go:build integration

// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/loader/observer"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/iibench"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
)

// newChain is an attempt with the chain of the insert benchmark, small.
func newChain(t *testing.T, change func(*iibench.Parameters)) *trial {
	t.Helper()
	return newIIBench(t, func(p *iibench.Parameters) {
		p.Clients = 2
		p.Stages = []iibench.StageParameters{
			{Name: "l.i0", Insert: &iibench.InsertParameters{Rows: 20_000, RowsPerCommit: 100}},
			{Name: "l.x", CreateIndexes: 3},
			{Name: "l.i1", Insert: &iibench.InsertParameters{Rows: 4000, RowsPerCommit: 50, DeletePerInsert: true}},
			{Name: "rest", Rest: &iibench.RestParameters{AtLeastSeconds: 2}},
			{Name: "qr100", Query: &iibench.QueryParameters{By: "SecondaryRange", Seconds: 3, RatePerSecond: 200, RowsPerCommit: 10, DeletePerInsert: true}},
			{Name: "qp100", Query: &iibench.QueryParameters{By: "PrimaryKey", Seconds: 3, RatePerSecond: 200, RowsPerCommit: 10}},
		}
		change(p)
	})
}

// A chain is measured stage by stage on one data set: each stage has its own totals, series and counters, and what is left at the
// end is what all of them have sent.
func TestIntegrationChain(t *testing.T) {
	for _, tables := range []string{"PerClient", "Shared"} {
		deletes := tables == "PerClient"
		tr := newChain(t, func(p *iibench.Parameters) {
			p.Tables = tables
			p.Stages[2].Insert.DeletePerInsert, p.Stages[4].Query.DeletePerInsert = deletes, deletes
		})
		summary, doc := tr.mustRun(t)
		if summary.Stages != nil || len(doc.Metrics) != 0 {
			t.Errorf("the termination message has stages %+v, the document metrics %+v", summary.Stages, doc.Metrics)
		}
		var names []string
		sum, left := result.Totals{}, int64(0)
		for _, one := range doc.Measurements() {
			sums(t, one)
			names = append(names, one.Config.Parameters["stage"])
			sum.Rows, sum.RowsDeleted = sum.Rows+one.Totals.Rows, sum.RowsDeleted+one.Totals.RowsDeleted
			left += one.Totals.Rows - one.Totals.RowsDeleted
			checkStage(t, tables, one)
			if deletes && names[len(names)-1] != "qp100" && left != 20_000 {
				t.Errorf("%s: %d rows are left after stage %s", tables, left, names[len(names)-1])
			}
		}
		must.Same(t, "stages", "l.i0 l.x l.i1 qr100 qp100", strings.Join(names, " "))
		if doc.Totals.Rows != sum.Rows || doc.Totals.RowsDeleted != sum.RowsDeleted || len(doc.Checks) != 2 || !doc.Checks[1].Passed {
			t.Errorf("totals %+v, checks %+v", doc.Totals, doc.Checks)
		}
		must.Same(t, "check", fmt.Sprintf("%d committed, %d in the table", left, left), doc.Checks[0].Detail)
		for _, p := range doc.Phases {
			if p.Name == "rest" && (p.Micros < 2_000_000 || p.Micros > 20_000_000) {
				t.Errorf("the rest took %d µs", p.Micros)
			}
		}
	}
}

// checkStage has what each kind of stage must say.
func checkStage(t *testing.T, tables string, one *result.Document) {
	t.Helper()
	name, m := one.Config.Parameters["stage"], metricsOf(one)
	if one.Metrics[0].Name != "operationsPerSecond" || one.Metrics[0].Value <= 0 || m["tableBytes"] < 100_000 {
		t.Errorf("%s: metrics of %s are %v", tables, name, m)
	}
	if one.Checks[0].Name != "ids" || !one.Checks[0].Passed || one.Server.StatusAfter["Questions"] == one.Server.StatusBefore["Questions"] {
		t.Errorf("%s: %s: check %+v", tables, name, one.Checks[0])
	}
	latency := map[string]string{"l.i0": "insert", "l.x": "index", "l.i1": "insert", "qr100": "query", "qp100": "query"}[name]
	if counts(one)[latency] == 0 || m["longestOperationMicros"] == 0 {
		t.Errorf("%s: %s has latencies of %v", tables, name, counts(one))
	}
	switch name {
	case "qr100", "qp100":
		if m["queriesPerSecond"] != m["operationsPerSecond"] || m["perSecondRateP50"] < m["perSecondRateP99"] || m["perSecondRateP99"] <= 0 {
			t.Errorf("%s: metrics of %s are %v", tables, name, m)
		}
		// The last transaction is due when the time is over.
		if one.Totals.Micros < 2_900_000 || one.Totals.Micros > 6_000_000 || one.Totals.Rows > 600 || one.Totals.Rows < 300 || m["offeredRowsPerSecond"] != 200 {
			t.Errorf("%s: totals of %s are %+v", tables, name, one.Totals)
		}
	case "l.x":
		if one.Totals.Rows != 0 || counts(one)["index"] != map[string]int64{"PerClient": 2, "Shared": 1}[tables] {
			t.Errorf("%s: totals of %s are %+v", tables, name, one.Totals)
		}
	}
}

// A rate that cannot be reached is found in its stage, and in no other.
func TestIntegrationChainMissesARate(t *testing.T) {
	tr := newChain(t, func(p *iibench.Parameters) {
		p.Stages = []iibench.StageParameters{p.Stages[0], p.Stages[5]}
		p.Stages[1].Query.RatePerSecond, p.Stages[1].Query.RowsPerCommit = 50_000_000, 1
	})
	_, doc := tr.mustRun(t)
	missed := func(d *result.Document) bool {
		return slices.ContainsFunc(d.Findings, func(f finding.Finding) bool { return f.Code == finding.RateNotReached })
	}
	if list := doc.Measurements(); missed(list[0]) || !missed(list[1]) {
		t.Errorf("findings %v and %v", list[0].Findings, list[1].Findings)
	}
}

// Rows that a third party inserts between two stages are found by the next one's check, before anything else is measured.
func TestIntegrationChainDisturbed(t *testing.T) {
	mustExec(t, "DROP TABLE IF EXISTS bench.purchases_index_1")
	tr := newChain(t, func(*iibench.Parameters) {})
	whileFilling(t, "purchases_index_1", 10_000, func(db *sql.DB) {
		if _, err := db.Exec("INSERT INTO bench.purchases_index_1 (cashregisterid, customerid, productid, price) VALUES (1, 2, 3, 4)"); err != nil {
			t.Error(err)
		}
	})
	tr.mustFail(t.Context(), t, result.CauseCheckFailed, "ids")
}

// A server is primed with the first stage; nothing of that is left.
func TestIntegrationChainPrimed(t *testing.T) {
	tr := newChain(t, func(p *iibench.Parameters) { p.Stages = p.Stages[:2] })
	tr.cfg.PrimeSeconds = 1
	if _, doc := tr.mustRun(t); doc.Totals.Rows != 20_000 || doc.Phases[2].Name != "prime" {
		t.Errorf("totals %+v, phases %+v", doc.Totals, doc.Phases)
	}
}

// With an observer, each stage has all of its columns: what it took per operation, and the sizes after it. (The process of the test
// stands for the server's.)
func TestIntegrationChainObserved(t *testing.T) {
	tr := newChain(t, func(p *iibench.Parameters) { p.Stages = slices.Delete(p.Stages, 3, 4) })
	tr.cfg.Server.ObserverPort = freePort(t)
	proc, name := onlyThisProcess(t)
	data := t.TempDir()
	must.Write(t, filepath.Join(data, "ibdata1"), make([]byte, 4096))
	o := &observer.Observer{
		Port: tr.cfg.Server.ObserverPort, Processes: []string{name}, Data: data, PasswordFile: tr.cfg.Server.PasswordFile, Proc: proc,
	}
	go o.Run(t.Context())
	summary, doc := tr.mustRun(t)
	if summary.Observed == nil || summary.Observed.Probe == nil || doc.Observed.Before == nil || doc.Observed.After == nil {
		t.Errorf("of the whole attempt was observed %+v", summary.Observed)
	}
	for _, one := range doc.Measurements() {
		m, stage := metricsOf(one), one.Config.Parameters["stage"]
		t.Log(stage, m)
		for _, column := range []string{
			"operationsPerSecond", "serverMicrosPerOperation", "serverBytesReadPerOperation", "serverBytesWrittenPerOperation",
			"serverFileCallsPerOperation", "serverSwitchesPerOperation", "clientMicrosPerOperation", "longestOperationMicros",
			"tableBytes", "dataDirectoryBytes", "serverMaxRSSBytes",
		} {
			if _, known := m[column]; !known {
				t.Errorf("stage %s has no %s: %v", stage, column, m)
			}
		}
		if m["dataDirectoryBytes"] != 4096 || m["clientMicrosPerOperation"] <= 0 || one.Observed.Before == one.Observed.After {
			t.Errorf("stage %s: %v", stage, m)
		}
	}
}

// The same workload and seed load the same rows, whatever the server. What is expected is written down here, and every layer of
// tests runs this against a server of its own: equal to this is equal to each other. The sums are the server's, over the text of
// all columns, and therefore not the loader's own checksum.
func TestIntegrationEveryEngineLoadsTheSameRows(t *testing.T) {
	for name, tc := range map[string]struct {
		trial *trial
		want  map[string]string
	}{
		"CommitSize": {newTrial(t, commitsize.Parameters{Rows: 1000, RowsPerCommit: 10}), map[string]string{
			"demo": "1000 rows, 2121539097290",
		}},
		"BulkInsert": {newBulkInsert(t, func(p *bulkinsert.Parameters) { p.Clients = 1 }), map[string]string{
			"inserts": "10000 rows, 21701584346817",
		}},
		"IIBench": {newIIBench(t, func(*iibench.Parameters) {}), map[string]string{
			"purchases_index": "25000 rows, 53638041140431",
		}},
		"TPROCHLoad": {newTPROCHLoad(t, func(*tprochload.Parameters) {}), map[string]string{
			"REGION": "5 rows, 15675214009", "NATION": "25 rows, 51003782326",
			"SUPPLIER": "100 rows, 234493128447", "CUSTOMER": "1500 rows, 3309313090940",
			"PART": "2000 rows, 4254779744031", "PARTSUPP": "8000 rows, 17049063862898",
			"ORDERS": "15000 rows, 32239956411690", "LINEITEM": "59630 rows, 128256073971952",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, doc := tc.trial.mustRun(t)
			for _, c := range doc.Checks {
				if !c.Passed {
					t.Errorf("%+v", c)
				}
			}
			for table, want := range tc.want {
				must.Same(t, table, want, rowSum(t, table))
			}
		})
	}
}

// A server of another engine would be configured and read wrongly.
func TestIntegrationAnotherEngine(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 1, RowsPerCommit: 1})
	tr.cfg.Server.Engine = map[*engine.Engine]string{engine.MariaDB: "MySQL", engine.MySQL: "MariaDB"}[testedEngine(t)]
	tr.mustFail(t.Context(), t, result.CauseSettingNotEffective,
		"engine "+tr.cfg.Server.Engine+" was requested, but the server is "+globals(t)["version"])
}

// rowSum is the number of rows of a table and the sum of their checksums.
func rowSum(t testing.TB, table string) string {
	t.Helper()
	db := other(t)
	var columns, n, sum string
	const names = "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns" +
		" WHERE table_schema = 'bench' AND table_name = ?"
	if err := db.QueryRow(names, table).Scan(&columns); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	query := fmt.Sprintf("SELECT COUNT(*), SUM(CRC32(CONCAT_WS('|', %s))) FROM bench.%s", columns, table)
	if err := db.QueryRow(query).Scan(&n, &sum); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join([]string{n, sum}, " rows, ")
}

// freePort is one that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", ":0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func metricNames(doc *result.Document) []string {
	var names []string
	for _, m := range doc.Metrics {
		names = append(names, m.Name)
	}
	return names
}

// onlyThisProcess is a proc file system that has no process but this one, and the name of it.
func onlyThisProcess(t *testing.T) (proc, name string) {
	t.Helper()
	proc = t.TempDir()
	pid := strconv.Itoa(os.Getpid())
	must.Do(t, os.Symlink("/proc/"+pid, filepath.Join(proc, pid)))
	text := must.Get(os.ReadFile("/proc/self/comm"))(t)
	return proc, strings.TrimSpace(string(text))
}

// What the server's process uses stands in the result, as facts and per row. The server of these tests may run in another
// machine, so that the process of the test, which works as well, stands for its.
func TestIntegrationObserved(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 5000, RowsPerCommit: 1})
	tr.cfg.Server.ObserverPort = freePort(t)
	proc, name := onlyThisProcess(t)
	o := &observer.Observer{
		Port: tr.cfg.Server.ObserverPort, Processes: []string{name}, Data: t.TempDir(),
		PasswordFile: tr.cfg.Server.PasswordFile, Proc: proc,
	}
	go o.Run(t.Context())
	_, doc := tr.mustRun(t)
	used, known := doc.Observed.Used()
	if !known || used.UserMicros+used.SystemMicros <= 0 || used.MaxRSSBytes <= 0 {
		t.Fatalf("the server used %+v, known %t", used, known)
	}
	probe := doc.Observed.Probe
	if probe == nil || probe.Fdatasync.Calls == 0 || probe.CPU.Median <= 0 {
		t.Errorf("the node's probe is %+v", probe)
	}
	cpu := float64(used.UserMicros+used.SystemMicros) / float64(doc.Totals.Rows)
	i := slices.IndexFunc(doc.Metrics, func(m result.Metric) bool { return m.Name == "serverMicrosPerRow" })
	if i < 0 || doc.Metrics[i] != (result.Metric{Name: "serverMicrosPerRow", Value: cpu, Unit: "µs/row", Better: "lower"}) {
		t.Errorf("serverMicrosPerRow, %v, is not among %v", cpu, doc.Metrics)
	}
	for _, name := range []string{"serverBytesWrittenPerRow", "serverFileCallsPerRow"} {
		if !slices.Contains(metricNames(doc), name) {
			t.Errorf("%s is not among %v", name, doc.Metrics)
		}
	}
	if slices.Contains(finding.Texts(doc.Findings), finding.Unobserved().String()) {
		t.Errorf("warnings %q", doc.Findings)
	}
}

// An observer that does not answer is no reason to fail. There is one warning, and nothing is made up.
func TestIntegrationObserverSilent(t *testing.T) {
	tr := newTrial(t, commitsize.Parameters{Rows: 100, RowsPerCommit: 1})
	tr.cfg.Server.ObserverPort = freePort(t)
	_, doc := tr.mustRun(t)
	count := 0
	for _, w := range finding.Texts(doc.Findings) {
		if w == finding.Unobserved().String() {
			count++
		}
	}
	if count != 1 || doc.Observed != nil {
		t.Errorf("warned %d times, observed %+v", count, doc.Observed)
	}
	for _, name := range metricNames(doc) {
		if strings.HasPrefix(name, "server") {
			t.Errorf("metric %s of a server that nobody saw", name)
		}
	}
	tr = newTrial(t, commitsize.Parameters{Rows: 100, RowsPerCommit: 1})
	if _, doc := tr.mustRun(t); slices.Contains(finding.Texts(doc.Findings), finding.Unobserved().String()) {
		t.Error("a warning about an observer that is not there")
	}
}
