// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"crypto/tls"
	"database/sql"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/bulkinsert"
	"github.com/benchrun-dev/benchrun/internal/workload/commitsize"
	"github.com/benchrun-dev/benchrun/internal/workload/registry"
	"github.com/benchrun-dev/benchrun/internal/workload/tprochload"
	"github.com/benchrun-dev/benchrun/internal/workload/workloadtest"
)

// benchSchema is what is loaded into.
const benchSchema = "benchclient"

// shape is a load whose cost depends on the client in a way of its own. An operation is a row or, where none is inserted, a
// query.
type shape struct {
	name     string
	workload result.Workload
	// queries is a load of so many point queries instead of a workload.
	queries int
}

func shapes() []shape {
	files := func(rows, perStatement int64, connections int, protocol string) result.Workload {
		return workloadtest.Load(bulkinsert.Definition, bulkinsert.Parameters{
			Table: "FileList", Tables: 1, Rows: rows, RowsPerStatement: perStatement, StatementsPerTransaction: max(1000/perStatement, 1),
			Clients: connections, StorageEngine: "InnoDB", Protocol: protocol,
		})
	}
	single := func(rows int64, connections int, protocol string) result.Workload {
		return workloadtest.Load(bulkinsert.Definition, bulkinsert.Parameters{
			Table: "FileList", Tables: 1, Rows: rows, RowsPerStatement: 1, StatementsPerTransaction: 1,
			Clients: connections, StorageEngine: "InnoDB", Protocol: protocol, Commit: "Autocommit",
		})
	}
	narrow := workloadtest.Load(bulkinsert.Definition, bulkinsert.Parameters{
		Table: "Narrow", Tables: 1, Rows: 600_000, RowsPerStatement: 30_000, StatementsPerTransaction: 1, Clients: 1, StorageEngine: "InnoDB",
	})
	staged := func(mode string) result.Workload {
		return workloadtest.Load(tprochload.Definition, tprochload.Parameters{
			ScaleFactor: "0.02", Data: "Staged", LoadMode: mode, Clients: ptr.To(4), ForeignKeyChecks: true, UniqueChecks: true, Indexes: "Before",
		})
	}
	return []shape{
		{name: "point SELECT, 1 client", queries: 10_000},
		{name: "INSERT and COMMIT of 1 row, text, 1 client", workload: workloadtest.Load(commitsize.Definition, commitsize.Parameters{
			Rows: 8_000, RowsPerCommit: 1,
		})},
		{name: "INSERT of 1 row, autocommit, text, 1 client", workload: single(8_000, 1, "Text")},
		{name: "INSERT of 1 row, autocommit, prepared, 1 client", workload: single(8_000, 1, "Prepared")},
		{name: "INSERT of 1 row, autocommit, prepared, 16 clients", workload: single(16_000, 16, "Prepared")},
		{name: "INSERT of 1 row, text, 1 client", workload: files(10_000, 1, 1, "Text")},
		{name: "INSERT of 100 rows, text, 1 client", workload: files(100_000, 100, 1, "Text")},
		{name: "INSERT of 100 rows, prepared, 1 client", workload: files(100_000, 100, 1, "Prepared")},
		{name: "INSERT of 100 rows, prepared, 4 clients", workload: files(100_000, 100, 4, "Prepared")},
		{name: "INSERT of 2,000 rows, text, 1 client", workload: files(100_000, 2000, 1, "Text")},
		{name: "INSERT of 2,000 rows, text, 4 clients", workload: files(100_000, 2000, 4, "Text")},
		{name: "INSERT of 30,000 rows, 512 KiB, text, 1 client", workload: narrow},
		{name: "LOAD DATA LOCAL, 1 client", workload: staged("OneStatement")},
		{name: "LOAD DATA LOCAL, 4 clients", workload: staged("Parallel")},
	}
}

// arm is one way to send the same.
type arm struct {
	name string
	open func(ctx context.Context, setup []string) (closingSession, error)
}

type closingSession interface {
	workload.Session
	Close() error
}

// BenchmarkClient measures in turns, against one server, the loader's own client (ours), the same over Go's own connection
// instead of conn's socket (ours/net), and go-sql-driver. It reports the ratios of the first to each of the others: operations
// per second, and the loader's CPU time for an operation; medians over all rounds and, from six rounds on, the ends of their 95%
// intervals by order statistics. Operations are the same, made by the workload itself.
func BenchmarkClient(b *testing.B) {
	server := newTrial(b, commitsize.Parameters{}).cfg.Server
	server.Schema = benchSchema
	over := func(name string) {
		arms := benchArms(b, server)
		for _, s := range shapes() {
			b.Run(name+"/"+s.name, func(b *testing.B) { compareClients(b, s, server, arms) })
		}
	}
	over("TCP")
	server.TLS = result.TLSRequired
	over("TLS")
	if server.TLS, server.Socket = "", os.Getenv("BENCHRUN_TEST_SOCKET"); server.Socket != "" {
		over("Unix socket")
	}
	mustExec(b, "DROP DATABASE IF EXISTS "+benchSchema)
}

func benchArms(b *testing.B, server result.Server) []arm {
	b.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd = env(b, "BENCHRUN_TEST_USER"), env(b, "BENCHRUN_TEST_PASSWORD")
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(server.Host, fmt.Sprint(server.Port))
	if server.Socket != "" {
		cfg.Net, cfg.Addr = "unix", server.Socket
	}
	if server.TLS != "" {
		cfg.TLS = &tls.Config{InsecureSkipVerify: true}
	}
	ours := must.Get(conn.New(server))(b)
	overNet := must.Get(conn.NewBy(cfg.Clone(), (&net.Dialer{}).DialContext))(b)
	by := func(c *conn.Connections) func(context.Context, []string) (closingSession, error) {
		return func(ctx context.Context, setup []string) (closingSession, error) {
			return c.Session(ctx, benchSchema, setup)
		}
	}
	return []arm{
		{"ours", by(ours)},
		{"ours/net", by(overNet)},
		{"driver/socket", func(ctx context.Context, setup []string) (closingSession, error) {
			connector, err := ours.Connector(benchSchema)
			if err != nil {
				return nil, err
			}
			return newDriverSession(ctx, connector, setup)
		}},
		{"driver", func(ctx context.Context, setup []string) (closingSession, error) {
			c := cfg.Clone()
			c.DBName = benchSchema
			connector, err := mysql.NewConnector(c)
			if err != nil {
				return nil, err
			}
			return newDriverSession(ctx, connector, setup)
		}},
	}
}

func compareClients(b *testing.B, s shape, server result.Server, arms []arm) {
	all := make([][]side, len(arms))
	for round := 0; b.Loop(); round++ {
		// The order turns, so that none always comes after the same one.
		order := make([]int, len(arms))
		for i := range order {
			order[i] = (i + round/2) % len(arms)
		}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, i := range order {
			all[i] = append(all[i], s.measure(b, server, arms[i]))
		}
	}
	for i, a := range arms {
		var rates, costs, rateRatios, costRatios []float64
		for round, other := range all[i] {
			rates, costs = append(rates, other.rate), append(costs, other.cost)
			rateRatios, costRatios = append(rateRatios, all[0][round].rate/other.rate), append(costRatios, all[0][round].cost/other.cost)
		}
		b.Logf("%-8s %s operations/s, %s µs of CPU each; ratio of ours: rate %s, CPU %s", a.name, medianOf(rates), medianOf(costs),
			medianOf(rateRatios), medianOf(costRatios))
		if i > 0 {
			report(b, a.name+"-rate", rateRatios)
			report(b, a.name+"-CPU", costRatios)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// measure loads once into an empty schema.
func (s *shape) measure(b *testing.B, server result.Server, a arm) side {
	b.Helper()
	ctx := b.Context()
	mustExec(b, "DROP DATABASE IF EXISTS "+benchSchema, "CREATE DATABASE "+benchSchema)
	w, plan := s.prepare(b, server)
	var sessions []closingSession
	defer func() {
		for _, session := range sessions {
			_ = session.Close()
		}
	}()
	for i := range plan.Clients {
		session, err := a.open(ctx, plan.Setup)
		if err != nil {
			b.Fatalf("%s: %v", a.name, err)
		}
		sessions = append(sessions, session)
		if plan.Ready == nil {
			continue
		}
		if err := plan.Ready(i, session); err != nil {
			b.Fatalf("%s: %v", a.name, err)
		}
	}
	recorders, clock := record.NewRecorders(len(sessions), nil, time.Time{})
	began := time.Now()
	var took time.Duration
	facts, err := timed(ctx, len(sessions), atOnce, func(time.Time) error {
		began = time.Now()
		var working sync.WaitGroup
		for i, session := range sessions {
			working.Go(func() {
				client := &workload.Client{Index: i, Session: session, Recorder: recorders[i], SleepUntil: clock.SleepUntil}
				if _, err := guarded(ctx, w, client); err != nil {
					b.Errorf("%s: %v", a.name, err)
				}
			})
		}
		working.Wait()
		took = time.Since(began)
		return nil
	})
	if err != nil || b.Failed() {
		b.Fatal(err)
	}
	for _, other := range recorders[1:] {
		recorders[0].Merge(other)
	}
	operations := recorders[0].Totals().Rows + int64(s.queries)
	return side{float64(operations) / took.Seconds(), float64(facts.UserMicros+facts.SystemMicros) / float64(operations)}
}

// prepare makes the tables.
func (s *shape) prepare(b *testing.B, server result.Server) (workload.Workload, workload.Plan) {
	b.Helper()
	if s.queries > 0 {
		mustExec(b, "CREATE TABLE "+benchSchema+".points (id INT PRIMARY KEY, pad CHAR(100) NOT NULL)",
			"INSERT INTO "+benchSchema+".points SELECT seq, REPEAT('x', 100) FROM "+benchSchema+".seq_1_to_1000")
		return pointQueries(s.queries), workload.Plan{Clients: 1}
	}
	w := must.Get(registry.New(&result.Config{Seed: 42, Workload: s.workload, Server: server, Scratch: b.TempDir()}))(b)
	c := must.Get(conn.New(server))(b)
	connector := must.Get(c.Connector(benchSchema))(b)
	db := sql.OpenDB(connector)
	defer db.Close()
	plan := must.Get(w.Prepare(b.Context(), db))(b)
	if plan.Stage != nil {
		must.Do(b, plan.Stage(b.Context()))
	}
	return w, plan
}

// pointQueries is a workload of so many queries for one row each.
type pointQueries int

func (pointQueries) Prepare(context.Context, *sql.DB) (workload.Plan, error) {
	return workload.Plan{Clients: 1}, nil
}

func (n pointQueries) Measure(_ context.Context, client *workload.Client) (result.StoppedBy, error) {
	const query = "SELECT pad FROM points WHERE id = "
	statement := []byte(query)
	for i := range int(n) {
		statement = strconv.AppendInt(statement[:len(query)], int64(1+i%1000), 10)
		began := client.Recorder.Now()
		if _, err := client.Session.Fetch(statement); err != nil {
			return "", err
		}
		client.Recorder.Query(began, client.Recorder.Now())
	}
	return result.StoppedByRows, nil
}

func (pointQueries) Verify(context.Context, *sql.DB, result.Totals, []int64) ([]result.Check, error) {
	return nil, nil
}

// side is one of those that are compared: operations per second, and microseconds of CPU time for each.
type side struct{ rate, cost float64 }

// medianOf is the median of values as people read it.
func medianOf(values []float64) string { return stats.Format(stats.Summarize(values).Median) }

func report(b *testing.B, name string, ratios []float64) {
	slices.Sort(ratios)
	n := len(ratios)
	b.ReportMetric((ratios[(n-1)/2]+ratios[n/2])/2, name+"-ratio-median")
	if k := rank(n); k > 0 {
		b.ReportMetric(ratios[k-1], name+"-ratio-low")
		b.ReportMetric(ratios[n-k], name+"-ratio-high")
	}
}

// rank is the largest k for which the k-th smallest and the k-th largest of n values enclose the median with a probability of
// 95%: the chance of fewer than k heads in n tosses is 2.5% at most. 0 if there is none.
func rank(n int) int {
	p := math.Pow(0.5, float64(n))
	below := 0.0
	for k := 0; ; k++ {
		if below += p; below > 0.025 {
			return k
		}
		p *= float64(n-k) / float64(k+1)
	}
}
