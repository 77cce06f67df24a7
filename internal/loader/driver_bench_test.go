// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build integration

package loader

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/go-sql-driver/mysql"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/loader/record"
	"github.com/benchrun-dev/benchrun/internal/result"
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
	insert := func(table string, p bulkinsert.Parameters) result.Workload {
		p.Table, p.Tables, p.StorageEngine = table, 1, "InnoDB"
		return workloadtest.Load(bulkinsert.Definition, p)
	}
	files := func(rows, perStatement int64, clients int, protocol string) result.Workload {
		return insert("FileList", bulkinsert.Parameters{
			Rows: rows, RowsPerStatement: perStatement, StatementsPerTransaction: max(1000/perStatement, 1), Clients: clients, Protocol: protocol,
		})
	}
	single := func(rows int64, clients int, protocol string) result.Workload {
		return insert("FileList", bulkinsert.Parameters{
			Rows: rows, RowsPerStatement: 1, StatementsPerTransaction: 1, Clients: clients, Protocol: protocol, Commit: "Autocommit",
		})
	}
	narrow := insert("Narrow", bulkinsert.Parameters{Rows: 600_000, RowsPerStatement: 30_000, StatementsPerTransaction: 1, Clients: 1})
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

// BenchmarkClient measures in turns, against one server, the loader's own client (ours) and go-sql-driver. It reports the ratios of
// the first to the other: operations per second, and the loader's CPU time for an operation; medians over all rounds and, from six
// rounds on, the ends of their 95% intervals. Operations are the same, made by the workload itself.
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
	ours := must.Get(conn.Open(server))(b)
	return []arm{
		{"ours", func(ctx context.Context, setup []string) (closingSession, error) {
			return ours.Session(ctx, benchSchema, setup)
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
	c := must.Get(conn.Open(server))(b)
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
	s := stats.Summarize(ratios)
	b.ReportMetric(s.Median, name+"-ratio-median")
	if s.N > 5 {
		b.ReportMetric(s.Low, name+"-ratio-low")
		b.ReportMetric(s.High, name+"-ratio-high")
	}
}

// driverSession is a workload's session by go-sql-driver alone, called as cheaply as it can be: without database/sql, without
// copies of statements, without a context that it would have to watch.
type driverSession struct {
	ctx context.Context //nolint:containedctx // it cannot be cancelled
	// conn is the driver's connection, which also executes and prepares.
	conn interface {
		driver.Conn
		driver.ExecerContext
		driver.QueryerContext
	}
	prepared []*driverStatement
	columns  []driver.Value
}

// driverStatement is a prepared statement with room for the values of an execution.
type driverStatement struct {
	driver.StmtExecContext
	types  []mysqlwire.Type
	values []driver.NamedValue
}

func newDriverSession(ctx context.Context, connector driver.Connector, setup []string) (*driverSession, error) {
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &driverSession{ctx: context.WithoutCancel(ctx)}
	s.conn = conn.(interface {
		driver.Conn
		driver.ExecerContext
		driver.QueryerContext
	})
	for _, statement := range setup {
		if err := s.Exec([]byte(statement)); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return s, nil
}

func uncopied(statement []byte) string {
	return unsafe.String(unsafe.SliceData(statement), len(statement))
}

// Exec implements workload.Session.
func (s *driverSession) Exec(statement []byte) error {
	_, err := s.ExecAffected(statement)
	return err
}

// ExecWhile implements workload.Inserter: the driver returns when the answer is there.
func (s *driverSession) ExecWhile(statement []byte, meanwhile func()) (time.Duration, error) {
	return after(s.Exec(statement), meanwhile)
}

func after(err error, meanwhile func()) (time.Duration, error) {
	answered := time.Now()
	meanwhile()
	return time.Since(answered), err
}

// Do implements workload.Session.
func (*driverSession) Do([]byte) (int64, error) { return 0, errors.ErrUnsupported }

// Bind implements workload.Session.
func (*driverSession) Bind(string) (workload.Bound, error) { return nil, errors.ErrUnsupported }

// ExecAffected implements workload.Session.
func (s *driverSession) ExecAffected(statement []byte) (int64, error) {
	done, err := s.conn.ExecContext(s.ctx, uncopied(statement), nil)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// Prepare implements workload.Inserter. What executions begin with is the statement's number.
func (s *driverSession) Prepare(p workload.Prepared) (*mysqlwire.Execution, error) {
	statement, err := s.conn.Prepare(p.SQL)
	if err != nil {
		return nil, err
	}
	values := make([]driver.NamedValue, int(p.Rows)*len(p.Types))
	for i := range values {
		values[i].Ordinal = i + 1
	}
	s.prepared = append(s.prepared, &driverStatement{
		StmtExecContext: statement.(driver.StmtExecContext), types: p.Types, values: values,
	})
	head := []byte{byte(len(s.prepared) - 1)}
	return &mysqlwire.Execution{First: head, Later: head}, nil
}

// ExecuteWhile implements workload.Inserter. The values come in the binary form, and the driver makes the same of them again.
// Reading them is a little extra work, less than what the driver does not have to do for making them.
func (s *driverSession) ExecuteWhile(execution []byte, meanwhile func()) (time.Duration, error) {
	statement, rest := s.prepared[execution[0]], execution[1:]
	for i := range statement.values {
		var size int
		statement.values[i].Value, size = binaryValue(statement.types[i%len(statement.types)], rest)
		rest = rest[size:]
	}
	_, err := statement.ExecContext(s.ctx, statement.values)
	return after(err, meanwhile)
}

func binaryValue(of mysqlwire.Type, p []byte) (driver.Value, int) {
	switch of {
	case mysqlwire.TypeInt:
		return int64(int32(binary.LittleEndian.Uint32(p))), 4
	case mysqlwire.TypeUnsignedBigInt:
		return int64(binary.LittleEndian.Uint64(p)), 8
	case mysqlwire.TypeDatetime:
		const length, year, fraction = 1, 2, 8
		at := time.Date(int(binary.LittleEndian.Uint16(p[length:])), time.Month(p[length+year]), int(p[length+3]), int(p[length+4]),
			int(p[length+5]), int(p[length+6]), 1000*int(binary.LittleEndian.Uint32(p[fraction:])), time.UTC)
		return at, 1 + int(p[0])
	default:
		return p[1 : 1+int(p[0])], 1 + int(p[0])
	}
}

// Fetch implements workload.Session.
func (s *driverSession) Fetch(statement []byte) (n int64, err error) {
	rows, err := s.conn.QueryContext(s.ctx, uncopied(statement), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if s.columns == nil {
		s.columns = make([]driver.Value, len(rows.Columns()))
	}
	for {
		switch err := rows.Next(s.columns); {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		n++
	}
}

// driverReaders numbers what is loaded: the driver finds a reader by a name that the whole process shares.
var driverReaders atomic.Int64

// Load implements workload.Inserter.
func (s *driverSession) Load(clause string, data io.Reader) (rows, warnings int64, err error) {
	name := "bench-" + strconv.FormatInt(driverReaders.Add(1), 10)
	mysql.RegisterReaderHandler(name, func() io.Reader { return data })
	defer mysql.DeregisterReaderHandler(name)
	rows, err = s.ExecAffected([]byte("LOAD DATA LOCAL INFILE 'Reader::" + name + "' " + clause))
	if err != nil {
		return 0, 0, err
	}
	count, err := s.first("SHOW COUNT(*) WARNINGS")
	if err != nil {
		return 0, 0, err
	}
	warnings, err = strconv.ParseInt(count, 10, 64)
	return rows, warnings, err
}

// Warning implements workload.Inserter.
func (s *driverSession) Warning() (string, error) { return s.first("SHOW WARNINGS LIMIT 1") }

// first is the last column of a query's first row.
func (s *driverSession) first(query string) (_ string, err error) {
	rows, err := s.conn.QueryContext(s.ctx, query, nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return "", err
	}
	if text, ok := row[len(row)-1].([]byte); ok {
		return string(text), nil
	}
	return fmt.Sprint(row[len(row)-1]), nil
}

// Close ends the session.
func (s *driverSession) Close() error { return s.conn.Close() }
