// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// Session is one connection, opened by the driver: database/sql would take a lock, look at the context and convert no
// arguments for each statement.
type Session struct {
	conn  driver.Conn
	query driver.QueryerContext
	// below the driver, for the statements of the load.
	below  *exchange
	agreed agreement
	// ctx cannot be cancelled, so that the driver starts no watcher for each statement: interrupting closes the
	// connection.
	ctx         context.Context //nolint:containedctx // it carries nothing and lives as long as the session
	lateAnswers int64
}

// Session connects to the schema and executes the setup statements.
func (c *Connections) Session(ctx context.Context, schema string, setup []string) (*Session, error) {
	o, err := c.connect(ctx, schema)
	if err != nil {
		return nil, err
	}
	query, queries := o.Conn.(driver.QueryerContext)
	if !queries {
		return nil, errors.Join(fmt.Errorf("the driver's connection %T executes no queries", o.Conn), o.Close())
	}
	s := &Session{
		conn: o.Conn, query: query, agreed: o.agreed, ctx: context.WithoutCancel(ctx),
		below: newExchange(o.transport, o.arrivals),
	}
	for _, statement := range setup {
		if err := s.Exec([]byte(statement)); err != nil {
			return nil, errors.Join(fmt.Errorf("executing %s: %w", statement, err), s.Close())
		}
	}
	return s, nil
}

// Exec implements workload.Session.
func (s *Session) Exec(statement []byte) error {
	if err := s.below.send(mysqlwire.CommandQuery, statement); err != nil {
		return err
	}
	return s.below.receive()
}

// ExecWhile implements workload.Session.
func (s *Session) ExecWhile(statement []byte, meanwhile func()) (ago time.Duration, err error) {
	return s.while(mysqlwire.CommandQuery, statement, meanwhile)
}

// Prepare implements workload.Session.
func (s *Session) Prepare(p workload.Prepared) (*mysqlwire.Execution, error) {
	if p.Rows == 0 && !s.agreed.bulk {
		return nil, workload.Refused{Reason: "protocol Bulk needs MariaDB 10.2 or newer; this server is " + s.agreed.version}
	}
	prepared, err := s.below.prepare(p.SQL, s.agreed.endless)
	if err != nil {
		return nil, err
	}
	if p.Rows == 0 {
		return prepared.Bulk(p.Types), nil
	}
	return prepared.Execution(p.Types, int(p.Rows)), nil
}

// ExecuteWhile implements workload.Session.
func (s *Session) ExecuteWhile(execution []byte, meanwhile func()) (ago time.Duration, err error) {
	return s.while(execution[0], execution[1:], meanwhile)
}

// Load implements workload.Session.
func (s *Session) Load(clause string, data io.Reader) (rows, warnings int64, err error) {
	// There is no file of this name: what the server asks for is sent, whatever it is called.
	return s.below.load([]byte("LOAD DATA LOCAL INFILE 'benchrun' "+clause), data)
}

// while sends a command and waits for its answer after meanwhile.
func (s *Session) while(command byte, rest []byte, meanwhile func()) (ago time.Duration, err error) {
	if err := s.below.send(command, rest); err != nil {
		return 0, err
	}
	meanwhile()
	ago, known, err := s.below.receiveEarlier()
	if !known {
		s.lateAnswers++
	}
	return ago, err
}

// LateAnswers is how many answers to statements of ExecWhile had come before they were looked for, nobody knows when: they count
// as having come then.
func (s *Session) LateAnswers() int64 { return s.lateAnswers }

// ExecAffected implements workload.Session.
func (s *Session) ExecAffected(statement []byte) (int64, error) {
	if err := s.below.send(mysqlwire.CommandQuery, statement); err != nil {
		return 0, err
	}
	return s.below.changed()
}

// Fetch implements workload.Session.
func (s *Session) Fetch(statement []byte) (int64, error) {
	if err := s.below.send(mysqlwire.CommandQuery, statement); err != nil {
		return 0, err
	}
	return s.below.in.Rows(s.agreed.endless)
}

// Warning implements workload.Session.
func (s *Session) Warning() (string, error) {
	const query = "SHOW WARNINGS LIMIT 1"
	rows, err := s.query.QueryContext(s.ctx, query, nil)
	if err != nil {
		return "", fmt.Errorf("executing %s: %w", query, err)
	}
	// Level, number and text.
	row := make([]driver.Value, len(rows.Columns()))
	err = rows.Next(row)
	if err = errors.Join(err, rows.Close()); err != nil {
		return "", fmt.Errorf("reading the rows of %s: %w", query, err)
	}
	return text(row[len(row)-1]), nil
}

// Pairs executes a query with two columns, a name and a value.
func (s *Session) Pairs(query string) (map[string]string, error) {
	rows, err := s.query.QueryContext(s.ctx, query, nil)
	if err != nil {
		return nil, fmt.Errorf("executing %s: %w", query, err)
	}
	found := map[string]string{}
	columns := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(columns)
		if errors.Is(err, io.EOF) {
			return found, rows.Close()
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("reading the rows of %s: %w", query, err), rows.Close())
		}
		found[text(columns[0])] = text(columns[1])
	}
}

func text(v driver.Value) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// Close ends the session.
func (s *Session) Close() error { return s.conn.Close() }
