// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package insert

import (
	"slices"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/workload"
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

// prepared are the statements of a load that are prepared.
type prepared struct {
	bulk  bool
	types []mysqlwire.Type
	// heads of the clients' statements by the number of their rows. Those for bulk have any number: it is 0 here.
	heads map[int]map[int64]*mysqlwire.Execution
}

// headBytes bounds what comes before the values, but for what RowBytes has.
func (p *prepared) headBytes() int64 {
	const fixed = 16
	return fixed + int64(2*len(p.types))
}

// Ready prepares a client's statements on its session; nothing if they are text.
func (l *Load) Ready(client int, s workload.Session) error {
	if l.prepared == nil {
		return nil
	}
	heads := map[int64]*mysqlwire.Execution{}
	for _, rows := range l.preparedSizes() {
		statement := workload.Prepared{
			SQL: l.head(client) + placeholders(len(l.prepared.types), max(rows, 1)), Types: l.prepared.types, Rows: rows,
		}
		var err error
		if heads[rows], err = s.Prepare(statement); err != nil {
			return err
		}
	}
	l.prepared.heads[client] = heads
	return nil
}

// placeholders are those of so many rows, each in parentheses.
func placeholders(columns int, rows int64) string {
	row := "(" + strings.Repeat("?,", columns-1) + "?)"
	return strings.Repeat(row+",", int(rows-1)) + row
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
	bulk  bool
	// typed are the statements whose types the server knows.
	typed map[*mysqlwire.Execution]bool
}

func (l *Load) executions(client int) *executions {
	if l.prepared == nil {
		return nil
	}
	return &executions{
		load: l, heads: l.prepared.heads[client], bulk: l.prepared.bulk,
		typed: map[*mysqlwire.Execution]bool{},
	}
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
	if x.bulk {
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

// send is how the client's statements are sent.
func (l *Load) send(s workload.Session) func(statement []byte, meanwhile func()) (time.Duration, error) {
	if l.prepared != nil {
		return s.ExecuteWhile
	}
	return s.ExecWhile
}
