// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// session is one connection as the driver has it: database/sql would take a lock, look at the context and convert no
// arguments for each statement.
type session struct {
	conn driver.Conn
	exec driver.ExecerContext
	// ctx cannot be cancelled, so that the driver starts no watcher for each statement: interrupting closes the
	// connection.
	ctx context.Context //nolint:containedctx // it carries nothing and lives as long as the session
}

// newSession connects and executes the setup statements.
func newSession(ctx context.Context, connector driver.Connector, setup []string) (*session, error) {
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	exec, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection %T executes no statements", conn), conn.Close())
	}
	s := &session{conn: conn, exec: exec, ctx: context.WithoutCancel(ctx)}
	for _, statement := range setup {
		if err := s.Exec([]byte(statement)); err != nil {
			return nil, errors.Join(fmt.Errorf("executing %s: %w", statement, err), s.close())
		}
	}
	return s, nil
}

// Exec implements workload.Session.
func (s *session) Exec(statement []byte) error {
	_, err := s.exec.ExecContext(s.ctx, string(statement), nil)
	return err
}

// pairs executes a query with two columns, a name and a value.
func (s *session) pairs(query string) (map[string]string, error) {
	queryer, ok := s.conn.(driver.QueryerContext)
	if !ok {
		return nil, fmt.Errorf("the driver's connection %T executes no queries", s.conn)
	}
	rows, err := queryer.QueryContext(s.ctx, query, nil)
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

func (s *session) close() error { return s.conn.Close() }
