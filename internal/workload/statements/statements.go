// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package statements

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/script"
	"github.com/benchrun-dev/benchrun/internal/workload/sqltext"
)

// load sends transactions of several kinds, each chosen by chance, over several connections.
type load struct {
	*Parameters
	compiled []*script.Script
	dialect  script.Dialect
	share    workload.Share
	seed     uint64
	setup    string
	seconds  int
	// weights are the sums of the kinds' weights up to each.
	weights []int64
	// bound are the prepared statements of each client: of each kind, in their order.
	bound [][][]workload.Bound
	// plans are how the server said that it would execute each statement.
	plans map[string]string
	// begun is how many transactions of an offered rate this Pod has begun, and warming says that they are not measured.
	begun   atomic.Int64
	warming bool
}

// New makes the load.
func New(cfg *result.Config) (workload.Workload, error) {
	p, scripts, err := compiled(cfg)
	if err != nil {
		return nil, err
	}
	w := &load{
		Parameters: p, compiled: scripts, dialect: script.Dialect(engine.SQL(cfg.Server.Engine)), share: workload.ShareOf(cfg),
		seed:    uint64(cfg.Seed), //nolint:gosec // a seed may wrap
		seconds: cmp.Or(cfg.LimitSeconds, defaultSeconds),
	}
	if p.Setup != nil {
		w.setup = filepath.Join(cfg.Workload.FilesPath, p.Setup.Key)
	}
	sum := int64(0)
	for _, t := range p.Transactions {
		sum += int64(t.Weight)
		w.weights = append(w.weights, sum)
	}
	return w, nil
}

// Plan implements workload.Planned.
func (w *load) Plan() workload.Plan {
	clients := int(w.share.Of(int64(w.Clients)))
	w.bound = make([][][]workload.Bound, clients)
	return workload.Plan{Clients: clients, ByTime: true, Seconds: w.seconds, Kinds: names(w.Transactions), Ready: w.ready}
}

// ready has the server prepare a client's statements.
func (w *load) ready(client int, s workload.Session) error {
	if w.Protocol != protocolPrepared || w.bound[client] != nil {
		return nil
	}
	placeholder := func(int) string { return "?" }
	if w.dialect == script.PostgreSQL {
		placeholder = func(n int) string { return "$" + strconv.Itoa(n) }
	}
	for i, compiled := range w.compiled {
		var all []workload.Bound
		for n := range compiled.Statements() {
			bound, err := s.Bind(compiled.Statements()[n].Text(placeholder))
			if err != nil {
				return w.at(i, n, err)
			}
			all = append(all, bound)
		}
		w.bound[client] = append(w.bound[client], all)
	}
	return nil
}

func (w *load) at(kind, statement int, err error) error {
	return fmt.Errorf("transaction %s, statement %d, line %d: %w", w.Transactions[kind].Name, statement+1,
		w.compiled[kind].Statements()[statement].Line, err)
}

// Prepare implements workload.Workload.
func (w *load) Prepare(ctx context.Context, db *sql.DB) (workload.Plan, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return workload.Plan{}, fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close() //nolint:errcheck // what it executed has ended
	if w.setup != "" {
		if err := w.makeTables(ctx, conn); err != nil {
			return workload.Plan{}, err
		}
	}
	return w.Plan(), w.explain(ctx, conn)
}

func (w *load) makeTables(ctx context.Context, conn *sql.Conn) error {
	text, err := os.ReadFile(w.setup)
	if err != nil {
		return fmt.Errorf("reading setup: %w", err)
	}
	statements := []sqltext.Statement{{Text: string(text), Line: 1}}
	after := []string{"VACUUM ANALYZE"} // or the server would, while it is measured
	if w.dialect == script.MySQL {
		if statements, err = sqltext.Split(string(text)); err != nil {
			return workload.Refused{Reason: "setup: " + err.Error()}
		}
		after = nil
	}
	for i, s := range statements {
		if _, err := conn.ExecContext(ctx, s.Text); err != nil && len(statements) > 1 {
			return fmt.Errorf("setup: statement %d, line %d: %w", i+1, s.Line, err)
		} else if err != nil {
			return fmt.Errorf("setup: %w", err)
		}
	}
	return workload.Execute(ctx, conn, after...)
}

// explain asks once how each statement would be executed, with values as they are sent.
func (w *load) explain(ctx context.Context, conn *sql.Conn) error {
	w.plans = map[string]string{}
	query := "EXPLAIN "
	if w.dialect == script.MySQL {
		query = "EXPLAIN FORMAT=TRADITIONAL " // MySQL's own form has nothing to say of changes
	}
	for kind, compiled := range w.compiled {
		vars := compiled.NewVars()
		err := compiled.Run(vars, script.NewRandom(generate.Mix(w.seed)), func(i int) error {
			var lines []string
			err := workload.EachRow(ctx, conn, func(row *sql.Rows) error {
				line, err := rowText(row)
				lines = append(lines, line)
				return err
			}, query+string(compiled.Statements()[i].Append(nil, vars)))
			if err == nil { // what has no plan, the server says in its own words when it is measured, or executes
				w.plans[fmt.Sprintf("plan of %s, statement %d", w.Transactions[kind].Name, i+1)] = strings.Join(lines, "\n")
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rowText is a row's only value, or those that are not NULL with their columns' names.
func rowText(row *sql.Rows) (string, error) {
	columns, err := row.Columns()
	if err != nil {
		return "", fmt.Errorf("reading a plan's columns: %w", err)
	}
	texts := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for n := range texts {
		into[n] = &texts[n]
	}
	if err := row.Scan(into...); err != nil || len(columns) == 1 {
		return texts[0].String, err
	}
	var known []string
	for n, text := range texts {
		if text.Valid {
			known = append(known, columns[n]+"="+text.String)
		}
	}
	return strings.Join(known, " "), nil
}

// Before implements workload.Continued.
func (w *load) Before() (whole, ramp time.Duration) {
	return time.Duration(w.WarmupSeconds) * time.Second, 0
}

// BeginWarmUp implements workload.Continued.
func (w *load) BeginWarmUp() { w.warming = true }

// Continue implements workload.Continued.
func (w *load) Continue() {
	w.warming = false
	w.begun.Store(0)
}

// Measure implements workload.Workload.
func (w *load) Measure(ctx context.Context, c *workload.Client) (result.StoppedBy, error) {
	r := w.newRunner(c)
	for {
		due, begins, err := r.await(ctx)
		if err != nil {
			return "", err
		}
		if !begins {
			return result.StoppedBySeconds, nil
		}
		if err := r.transaction(due); err != nil {
			return "", err
		}
		if c.Expired(c.Recorder.Now()) {
			return result.StoppedBySeconds, nil
		}
	}
}

// Verify implements workload.Workload: what is to be in the tables, only their owner knows.
func (w *load) Verify(context.Context, *sql.DB, result.Totals, []int64) ([]result.Check, error) {
	return nil, nil
}

// Report implements workload.Reporter.
func (w *load) Report(doc *result.Document) {
	doc.ToolOutput = w.plans
	if w.RatePerSecond == 0 {
		return
	}
	work := doc.Work()
	seconds := float64(max(work.Micros, 1)) / 1e6
	doc.Metrics = append(doc.Metrics, result.Metric{
		Name: "offeredTransactionsPerSecond", Value: float64(w.RatePerSecond), Unit: "transactions/s", Better: "higher",
	})
	doc.Findings = append(doc.Findings, workload.MissedRate(int64(w.RatePerSecond), work.Transactions, 0, seconds)...)
}

// runner executes one client's transactions. Nothing of it is allocated for a transaction.
type runner struct {
	*load
	client *workload.Client
	random *script.Random
	vars   []*script.Vars
	values []workload.Number
	text   []byte
	kind   int
	// saved is the state of random numbers with which the transaction began, and tries how often it was tried again.
	saved script.Random
	rows  int64
	tries int64
	// try is execute, and statement execute's part, which would otherwise be made anew each time.
	try       func() error
	statement func(i int) error
}

func (w *load) newRunner(c *workload.Client) *runner {
	seed := generate.Mix(w.seed) ^ uint64(w.share.Number(int64(c.Index))) //nolint:gosec // it is not below 0
	if w.warming {
		seed = ^seed // it must not do the very transactions that are measured
	}
	r := &runner{load: w, client: c, random: script.NewRandom(generate.Mix(seed)), text: make([]byte, 0, 4096)}
	for _, compiled := range w.compiled {
		vars := compiled.NewVars()
		vars.Set(clientID, w.share.Number(int64(c.Index)))
		r.vars = append(r.vars, vars)
	}
	r.try = func() error {
		r.tries++
		*r.random = r.saved
		return r.execute()
	}
	r.statement = r.one
	return r
}

// await is when the next transaction is due, and false if the time is over by then. Without a rate that is now.
func (r *runner) await(ctx context.Context) (due time.Duration, begins bool, err error) {
	if r.RatePerSecond == 0 {
		return 0, true, nil
	}
	n := r.share.Number(r.begun.Add(1)-1) + 1
	due = workload.Rate(r.RatePerSecond).Due(n)
	if r.client.Expired(due) {
		return due, false, nil
	}
	return due, true, r.client.SleepUntil(ctx, due)
}

func (r *runner) transaction(due time.Duration) error {
	r.pick()
	r.saved, r.rows, r.tries = *r.random, 0, 0
	c := r.client
	c.Enter()
	began := c.Recorder.Now()
	if r.RatePerSecond == 0 {
		due = began
	}
	if err := c.Retry(began, r.execute(), r.try); err != nil {
		return err
	}
	c.Recorder.Done(r.kind, due, began, c.Recorder.Now(), r.rows, r.tries)
	c.Leave()
	return nil
}

func (r *runner) pick() {
	at := r.random.Uniform(1, r.weights[len(r.weights)-1])
	for r.kind = 0; r.weights[r.kind] < at; r.kind++ {
	}
}

var begin, commit = []byte("BEGIN"), []byte("COMMIT")

func (r *runner) execute() error {
	compiled := r.compiled[r.kind]
	wrapped := len(compiled.Statements()) > 1 && !compiled.Begins()
	r.rows = 0
	if wrapped {
		if err := r.control(begin); err != nil {
			return err
		}
	}
	if err := compiled.Run(r.vars[r.kind], r.random, r.statement); err != nil || !wrapped {
		return err
	}
	return r.control(commit)
}

func (r *runner) control(statement []byte) error {
	began := r.client.Recorder.Now()
	err := r.client.Session.Exec(statement)
	if err == nil {
		r.client.Recorder.Executed(began, r.client.Recorder.Now())
	}
	return err
}

// one executes a statement of the transaction.
func (r *runner) one(i int) (err error) {
	vars, s := r.vars[r.kind], &r.compiled[r.kind].Statements()[i]
	var rows int64
	var began time.Duration
	if bound := r.bound[r.client.Index]; bound != nil {
		r.values = r.values[:0]
		for _, variable := range s.Args {
			r.values = append(r.values, workload.Number(vars.Value(variable)))
		}
		began = r.client.Recorder.Now()
		rows, err = bound[r.kind][i].Execute(r.values)
	} else {
		r.text = s.Append(r.text[:0], vars)
		began = r.client.Recorder.Now()
		rows, err = r.client.Session.Do(r.text)
	}
	if err != nil {
		return r.at(r.kind, i, err)
	}
	r.client.Recorder.Executed(began, r.client.Recorder.Now())
	r.rows += rows
	return nil
}
