// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client talks to PostgreSQL by pgx.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// postgreSQL are connections to one database, in which schemas are told apart by the search path.
type postgreSQL struct {
	cfg *pgx.ConnConfig
	client.Open
}

// New makes connections to a server.
func New(server result.Server, user, password string) (client.Opener, error) {
	// Everything is named that would otherwise come from the environment.
	cfg, err := pgx.ParseConfig("host=localhost port=5432 user=postgres dbname=postgres sslmode=disable passfile=/dev/null")
	if err != nil {
		return nil, fmt.Errorf("configuring the connection: %w", err)
	}
	cfg.Host, cfg.Port, cfg.User, cfg.Password = server.Host, uint16(server.Port), user, password //nolint:gosec // it is checked
	if server.Socket != "" {
		cfg.Host = filepath.Dir(server.Socket)
	}
	if cfg.Database, err = client.Database(server); err != nil {
		return nil, err
	}
	if cfg.TLSConfig, err = client.TLS(server); err != nil {
		return nil, err
	}
	c := &postgreSQL{cfg: cfg}
	cfg.ConnectTimeout, cfg.DialFunc = client.ConnectTimeout, c.Dial
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	cfg.RuntimeParams = map[string]string{"client_encoding": "UTF8", "timezone": "UTC"}
	return c, nil
}

// to is the configuration of a connection to a schema. The program's name says to which, for those who look for its sessions.
func (c *postgreSQL) to(schema string) *pgx.ConnConfig {
	cfg := c.cfg.Copy()
	cfg.RuntimeParams["application_name"] = strings.TrimSpace("benchrun-loader " + schema)
	if schema != "" {
		cfg.RuntimeParams["search_path"] = schema
	}
	return cfg
}

// Connector implements Opener.
func (c *postgreSQL) Connector(schema string) (driver.Connector, error) {
	return numbered{stdlib.GetConnector(*c.to(schema))}, nil
}

// numbered takes statements with question marks for their arguments, as those of all engines are written.
type numbered struct{ driver.Connector }

// Connect implements driver.Connector.
func (n numbered) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := n.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, is := conn.(*stdlib.Conn)
	if !is {
		return nil, errors.Join(fmt.Errorf("the driver's connection is a %T", conn), conn.Close())
	}
	return numberedConn{own}, nil
}

type numberedConn struct{ *stdlib.Conn }

// ExecContext implements driver.ExecerContext.
func (n numberedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	done, err := n.Conn.ExecContext(ctx, withNumbers(query, len(args)), args)
	if wrong, is := errors.AsType[*pgconn.PgError](err); is && wrong.Position > 0 && strings.Contains(query, "\n") {
		before := []rune(query)[:wrong.Position-1]
		err = fmt.Errorf("line %d: %w", 1+strings.Count(string(before), "\n"), err)
	}
	return done, err
}

// QueryContext implements driver.QueryerContext.
func (n numberedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return n.Conn.QueryContext(ctx, withNumbers(query, len(args)), args)
}

// withNumbers replaces question marks, of which there are as many as arguments.
func withNumbers(query string, args int) string {
	for i := range args {
		query = strings.Replace(query, "?", "$"+strconv.Itoa(i+1), 1)
	}
	return query
}

// Session implements Opener.
func (c *postgreSQL) Session(ctx context.Context, schema string, setup []string) (client.Session, error) {
	conn, err := pgconn.ConnectConfig(ctx, &c.to(schema).Config)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	transport := conn.Conn()
	if encrypted, is := transport.(*tls.Conn); is {
		transport = encrypted.NetConn()
	}
	if own, is := transport.(*client.Socket); is {
		own.Measure()
	}
	s := &pgSession{conn: conn, ctx: context.WithoutCancel(ctx)}
	for _, statement := range setup {
		if err := s.Exec([]byte(statement)); err != nil {
			return nil, errors.Join(fmt.Errorf("executing %s: %w", statement, err), s.Close())
		}
	}
	return s, nil
}

type pgSession struct {
	conn *pgconn.PgConn
	// ctx cannot be cancelled: interrupting closes the connection.
	ctx   context.Context //nolint:containedctx // it carries nothing and lives as long as the session
	query pgproto3.Query
	// bound is how many statements were prepared.
	bound int
}

// Exec implements workload.Session.
func (s *pgSession) Exec(statement []byte) error {
	_, err := s.Do(statement)
	return err
}

// ExecAffected implements workload.Session.
func (s *pgSession) ExecAffected(statement []byte) (int64, error) { return s.Do(statement) }

// Fetch implements workload.Session.
func (s *pgSession) Fetch(statement []byte) (int64, error) { return s.Do(statement) }

// Do implements workload.Session.
func (s *pgSession) Do(statement []byte) (rows int64, err error) {
	s.query.String = string(statement)
	s.conn.Frontend().SendQuery(&s.query)
	return s.answer()
}

// answer sends what is ready to be sent, and reads all of the answer: how many rows the server sent or changed. Messages are the
// driver's, without what it does for callers who share connections, cancel or look at rows.
func (s *pgSession) answer() (rows int64, err error) {
	conn := s.conn.Frontend()
	if err := conn.Flush(); err != nil {
		return 0, err
	}
	for {
		message, broken := conn.Receive()
		if broken != nil {
			return 0, cmp.Or(err, broken)
		}
		switch m := message.(type) {
		case *pgproto3.CommandComplete:
			n, _ := strconv.ParseInt(string(m.CommandTag[bytes.LastIndexByte(m.CommandTag, ' ')+1:]), 10, 64) // some have none
			rows += n
		case *pgproto3.ErrorResponse:
			err = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.CopyInResponse:
			conn.Send(&pgproto3.CopyFail{Message: "there are no rows to copy"})
			if err := conn.Flush(); err != nil {
				return 0, err
			}
		case *pgproto3.ReadyForQuery:
			return rows, err
		}
	}
}

// Bind implements workload.Session. The server finds out the types of the values, which are sent as text.
func (s *pgSession) Bind(sql string) (workload.Bound, error) {
	s.bound++
	b := &pgBound{session: s, bind: pgproto3.Bind{PreparedStatement: "s" + strconv.Itoa(s.bound)}}
	_, err := s.conn.Prepare(s.ctx, b.bind.PreparedStatement, sql, nil)
	return b, err
}

type pgBound struct {
	session *pgSession
	bind    pgproto3.Bind
	text    []byte
}

// The messages after the values, always the same.
var execute, end = &pgproto3.Execute{}, &pgproto3.Sync{}

// Execute implements workload.Bound. A SELECT has as many rows affected as it has sent.
func (b *pgBound) Execute(values []workload.Number) (int64, error) {
	b.bind.Parameters, b.text = b.bind.Parameters[:0], slices.Grow(b.text[:0], 32*len(values)) // which does not move any more
	for _, v := range values {
		from := len(b.text)
		if v.IsDecimal {
			b.text = strconv.AppendFloat(b.text, v.Decimal, 'g', -1, 64)
		} else {
			b.text = strconv.AppendInt(b.text, v.Integer, 10)
		}
		b.bind.Parameters = append(b.bind.Parameters, b.text[from:])
	}
	conn := b.session.conn.Frontend()
	conn.SendBind(&b.bind)
	conn.SendExecute(execute)
	conn.SendSync(end)
	return b.session.answer()
}

// Pairs implements Session.
func (s *pgSession) Pairs(query string) (map[string]string, error) {
	results, err := s.conn.Exec(s.ctx, query).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("executing %s: %w", query, err)
	}
	found := map[string]string{}
	for _, r := range results {
		for _, row := range r.Rows {
			found[string(row[0])] = string(row[1])
		}
	}
	return found, nil
}

// LateAnswers implements Session.
func (*pgSession) LateAnswers() int64 { return 0 }

// Close implements Session.
func (s *pgSession) Close() error {
	ctx, cancel := context.WithTimeout(s.ctx, client.ConnectTimeout)
	defer cancel()
	return s.conn.Close(ctx)
}
