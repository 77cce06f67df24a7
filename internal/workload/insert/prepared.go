// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
)

// How statements reach the server, as the API names it.
const (
	// ProtocolText sends each statement as SQL.
	ProtocolText = "Text"
	// ProtocolPrepared has a statement prepared with the placeholders of all of its rows, and sends values.
	ProtocolPrepared = "Prepared"
	// ProtocolBulk has a statement of one row prepared, and sends the values of many rows for it.
	ProtocolBulk = "Bulk"
)

// Prepare has the statements prepared instead of being sent as text. The load's AppendRow then appends a row's values, of these
// types, in the binary form of the protocol, for bulk with indicators; rowBytes bounds them.
func (l *Load) Prepare(bulk bool, types []mysqlwire.Type, rowBytes int64) {
	l.prepared = &prepared{bulk: bulk, types: types, heads: map[int]map[int64]*mysqlwire.Execution{}}
	l.RowBytes = rowBytes
	if !bulk {
		// Each placeholder has a type and, together with others, a byte that says which are NULL.
		l.RowBytes += int64(2*len(types) + (len(types)+7)/8)
	}
}

type prepared struct {
	bulk  bool
	types []mysqlwire.Type
	// heads of the clients' statements by the number of their rows. Those for bulk have any number: it is 0 here.
	heads map[int]map[int64]*mysqlwire.Execution
}

// Ready prepares a client's statements on its session; nothing if they are text.
func (l *Load) Ready(client int, s workload.Session) error {
	if l.prepared == nil {
		return nil
	}
	inserter, err := workload.InserterOf(s)
	if err != nil {
		return err
	}
	heads := map[int64]*mysqlwire.Execution{}
	row := "(" + strings.Repeat("?,", len(l.prepared.types)-1) + "?)"
	for _, rows := range l.preparedSizes() {
		statement := workload.Prepared{
			SQL: l.head(client) + row + strings.Repeat(","+row, int(max(rows, 1)-1)), Types: l.prepared.types, Rows: rows,
		}
		if heads[rows], err = inserter.Prepare(statement); err != nil {
			return err
		}
	}
	l.prepared.heads[client] = heads
	return nil
}

// preparedSizes are the numbers of rows for which there is a statement. Only the last one of a transaction has fewer rows than
// the others, and only the last transaction of the measured phase fewer than the others.
func (l *Load) preparedSizes() []int64 {
	if l.prepared.bulk {
		return []int64{0}
	}
	var sizes []int64
	for _, transaction := range []int64{l.longestTransaction(), l.Rows % l.PerTransaction} {
		if transaction >= l.perStatement {
			sizes = append(sizes, l.perStatement)
		}
		if rest := transaction % l.perStatement; rest > 0 {
			sizes = append(sizes, rest)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// executions makes one client's executions of prepared statements.
type executions struct {
	load  *Load
	heads map[int64]*mysqlwire.Execution
	// typed are the statements whose types the server knows.
	typed map[*mysqlwire.Execution]bool
}

func (l *Load) executions(client int) *executions {
	if l.prepared == nil {
		return nil
	}
	return &executions{load: l, heads: l.prepared.heads[client], typed: map[*mysqlwire.Execution]bool{}}
}

// next appends an execution that is sent after all that were appended before.
func (x *executions) next(dst []byte, first, last int64) []byte {
	head := x.head(first, last)
	if x.typed[head] {
		return x.rows(append(dst, head.Later...), first, last)
	}
	x.typed[head] = true
	return x.rows(append(dst, head.First...), first, last)
}

// again appends an execution that may be sent before one that was appended earlier: it names its types in any case.
func (x *executions) again(dst []byte, first, last int64) []byte {
	return x.rows(append(dst, x.head(first, last).First...), first, last)
}

func (x *executions) head(first, last int64) *mysqlwire.Execution {
	if x.load.prepared.bulk {
		return x.heads[0]
	}
	return x.heads[last-first+1]
}

func (x *executions) rows(dst []byte, first, last int64) []byte {
	for n := first; n <= last; n++ {
		dst = x.load.AppendRow(dst, x.load.row(n))
	}
	return dst
}

func (l *Load) send(s workload.Inserter) func(statement []byte, meanwhile func()) (time.Duration, error) {
	if l.prepared != nil {
		return s.ExecuteWhile
	}
	return s.ExecWhile
}

// Table is one that rows are inserted into and read back from, or several that are alike.
type Table struct {
	Names []string
	// Columns is the text between the parentheses of CREATE TABLE.
	Columns string
	// Options follow the storage engine, for example the character set.
	Options string
	Engine  string
	// Canonical is an SQL expression with the text of a row, the same that AppendText appends.
	Canonical string
	// AppendText appends the text of row n that its checksum is made of.
	AppendText func(dst []byte, n int64) []byte
}

var engineName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// CheckEngine finds what is no name of a storage engine.
func CheckEngine(engine string) error {
	if !engineName.MatchString(engine) {
		return fmt.Errorf("storageEngine is %q but must be 1 to 64 letters, digits and underscores", engine)
	}
	return nil
}

// Make makes the tables. A server that puts another storage engine in place of one that it does not have is found out.
func (t *Table) Make(ctx context.Context, db *sql.DB) error {
	for _, name := range t.Names {
		create := strings.TrimSpace(fmt.Sprintf("CREATE TABLE %s (%s) ENGINE=%s %s", name, t.Columns, t.Engine, t.Options))
		if err := workload.Execute(ctx, db, create); err != nil {
			return err
		}
		if err := MadeWith(ctx, db, name, t.Engine); err != nil {
			return err
		}
	}
	return nil
}

// MadeWith finds out a table that was not made with the storage engine that was asked for.
func MadeWith(ctx context.Context, db *sql.DB, name, requested string) error {
	var engine string
	const query = "SELECT engine FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	if err := db.QueryRowContext(ctx, query, name).Scan(&engine); err != nil {
		return fmt.Errorf("reading the storage engine of %s: %w", name, err)
	}
	if !strings.EqualFold(engine, requested) {
		return workload.Refused{
			Reason: fmt.Sprintf("storage engine %s was requested, but the server created the table with %s", requested, engine),
		}
	}
	return nil
}

// Verify are the checks that the table has those rows, of which n were committed, and no others.
func (t *Table) Verify(ctx context.Context, db *sql.DB, n int64, rows iter.Seq[int64]) ([]result.Check, error) {
	// The loader's own checksum is made while the server makes its.
	own := make(chan checksum.Checksum, 1)
	go func() { own <- t.Checksum(rows) }()
	got, err := checksum.OfTables(ctx, db, t.Canonical, t.Names...)
	want := <-own
	if err != nil {
		return nil, err
	}
	return []result.Check{checksum.CheckRows(n, got.Rows), checksum.Check(got, want)}, nil
}

// Checksum of those rows.
func (t *Table) Checksum(rows iter.Seq[int64]) checksum.Checksum {
	var sum checksum.Checksum
	var buf []byte
	for n := range rows {
		buf = t.AppendText(buf[:0], n)
		sum.Add(buf)
	}
	return sum
}
