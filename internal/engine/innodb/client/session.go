// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"reflect"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// mySession is one connection, opened by the driver: database/sql would take a lock, look at the context and convert no
// arguments for each statement.
type mySession struct {
	conn   driver.Conn
	query  driver.QueryerContext
	below  *exchange
	agreed agreement
	// ctx cannot be cancelled, so that the driver starts no watcher for each statement: interrupting closes the connection.
	ctx         context.Context //nolint:containedctx // it carries nothing and lives as long as the session
	lateAnswers int64
}

// Session connects to the schema and executes the setup statements.
func (c *Connections) Session(ctx context.Context, schema string, setup []string) (client.Session, error) {
	s, err := c.connect(ctx, schema)
	if err != nil {
		return nil, err
	}
	for _, statement := range setup {
		if err := s.Exec([]byte(statement)); err != nil {
			return nil, errors.Join(fmt.Errorf("executing %s: %w", statement, err), s.Close())
		}
	}
	return s, nil
}

// Exec implements workload.Session.
func (s *mySession) Exec(statement []byte) error {
	if err := s.below.send(mysqlwire.CommandQuery, statement); err != nil {
		return err
	}
	return s.below.receive()
}

// ExecWhile implements workload.Inserter.
func (s *mySession) ExecWhile(statement []byte, meanwhile func()) (ago time.Duration, err error) {
	return s.while(mysqlwire.CommandQuery, statement, meanwhile)
}

// Prepare implements workload.Inserter.
func (s *mySession) Prepare(p workload.Prepared) (*mysqlwire.Execution, error) {
	if p.Rows == 0 && !s.agreed.bulk {
		return nil, workload.Refused{Reason: "protocol Bulk needs MariaDB 10.2 or newer; this server is " + s.agreed.version}
	}
	prepared, err := s.below.prepare(p.SQL, s.agreed.endless)
	if err != nil {
		return nil, err
	}
	if prepared.Columns > 0 {
		return nil, errors.New("the server has prepared a statement that returns rows")
	}
	if p.Rows == 0 {
		return prepared.Bulk(p.Types), nil
	}
	return prepared.Execution(p.Types, int(p.Rows)), nil
}

// ExecuteWhile implements workload.Inserter.
func (s *mySession) ExecuteWhile(execution []byte, meanwhile func()) (ago time.Duration, err error) {
	return s.while(execution[0], execution[1:], meanwhile)
}

// Load implements workload.Inserter.
func (s *mySession) Load(clause string, data io.Reader) (rows, warnings int64, err error) {
	// There is no file of this name: what the server asks for is sent, whatever it is called.
	return s.below.load([]byte("LOAD DATA LOCAL INFILE 'benchrun' "+clause), data)
}

// while sends a command and waits for its answer after meanwhile.
func (s *mySession) while(command byte, rest []byte, meanwhile func()) (ago time.Duration, err error) {
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

// LateAnswers is how many answers to statements of ExecWhile had come before they were looked for, at an unknown time: they count
// as having come then.
func (s *mySession) LateAnswers() int64 { return s.lateAnswers }

// ExecAffected implements workload.Session.
func (s *mySession) ExecAffected(statement []byte) (int64, error) {
	answer, err := s.below.ask(mysqlwire.CommandQuery, statement)
	if err != nil {
		return 0, err
	}
	rows, _, err := mysqlwire.ReadChanged(answer)
	return rows, err
}

// Do implements workload.Session.
func (s *mySession) Do(statement []byte) (int64, error) {
	if err := s.below.send(mysqlwire.CommandQuery, statement); err != nil {
		return 0, err
	}
	return s.below.in.Answer(s.agreed.endless)
}

// Bind implements workload.Session.
func (s *mySession) Bind(sql string) (workload.Bound, error) {
	prepared, err := s.below.prepare(sql, s.agreed.endless)
	if err != nil {
		return nil, err
	}
	return &myBound{session: s, prepared: prepared}, nil
}

type myBound struct {
	session  *mySession
	prepared mysqlwire.Prepared
	packet   []byte
}

// Execute implements workload.Bound.
func (b *myBound) Execute(values []workload.Number) (int64, error) {
	p := b.prepared.AppendExecution(b.packet[:0])
	for _, v := range values {
		if v.IsDecimal {
			p = mysqlwire.AppendType(p, mysqlwire.TypeDouble)
		} else {
			p = mysqlwire.AppendType(p, mysqlwire.TypeBigInt)
		}
	}
	for _, v := range values {
		bits := uint64(v.Integer) //nolint:gosec // the bits are what is sent
		if v.IsDecimal {
			bits = math.Float64bits(v.Decimal)
		}
		p = binary.LittleEndian.AppendUint64(p, bits)
	}
	b.packet = p
	if err := b.session.below.send(mysqlwire.CommandExecute, p); err != nil {
		return 0, err
	}
	return b.session.below.in.Answer(b.session.agreed.endless)
}

// Fetch implements workload.Session.
func (s *mySession) Fetch(statement []byte) (int64, error) {
	if err := s.below.send(mysqlwire.CommandQuery, statement); err != nil {
		return 0, err
	}
	return s.below.in.Rows(s.agreed.endless)
}

// Warning implements workload.Inserter.
func (s *mySession) Warning() (string, error) {
	warning, err := "", io.EOF
	// Level, number and text.
	found := s.each("SHOW WARNINGS LIMIT 1", func(row []driver.Value) { warning, err = text(row[len(row)-1]), nil })
	return warning, cmp.Or(found, err)
}

// Pairs executes a query with two columns, a name and a value.
func (s *mySession) Pairs(query string) (map[string]string, error) {
	found := map[string]string{}
	return found, s.each(query, func(row []driver.Value) { found[text(row[0])] = text(row[1]) })
}

// each executes a query, and takes its rows.
func (s *mySession) each(query string, take func(row []driver.Value)) error {
	rows, err := s.query.QueryContext(s.ctx, query, nil)
	if err != nil {
		return fmt.Errorf("executing %s: %w", query, err)
	}
	row := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			return rows.Close()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("reading the rows of %s: %w", query, err), rows.Close())
		}
		take(row)
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
func (s *mySession) Close() error { return s.conn.Close() }

// handshake is a connection during the driver's login. It reads along what server and client can do, and adds to the client's
// packet what the driver does not know of. Afterwards it stays out of the way.
type handshake struct {
	net.Conn
	// greeting is the server's first packet, as far as it was read.
	greeting          []byte
	greeted, answered bool
	agreement
}

type agreement struct {
	// version of the server as it is shown to people.
	version string
	// bulk says that the server executes a prepared statement for many rows at once.
	bulk bool
	// endless says that no packet follows the last one of a list of columns.
	endless bool
}

func (h *handshake) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if !h.greeted {
		h.greeting = append(h.greeting, p[:n]...)
		h.readGreeting()
	}
	return n, err
}

// readGreeting reads the server's first packet, if it is there. What is no greeting is the driver's to report.
func (h *handshake) readGreeting() {
	if len(h.greeting) < mysqlwire.HeaderSize {
		return
	}
	size, _ := mysqlwire.ReadHeader(h.greeting)
	if len(h.greeting) < mysqlwire.HeaderSize+size {
		return
	}
	g, _ := mysqlwire.ReadGreeting(h.greeting[mysqlwire.HeaderSize : mysqlwire.HeaderSize+size])
	h.greeted, h.greeting = true, nil
	h.version, h.bulk = g.Version, g.Own&mysqlwire.OwnBulk != 0
}

// Write implements net.Conn. The driver writes its first packet in one piece. For an encrypted connection, that is the request
// for one, which has the client's capabilities as the login behind it has.
func (h *handshake) Write(p []byte) (int, error) {
	login := mysqlwire.Login(p)
	if h.answered || !login.Whole() {
		return h.Conn.Write(p)
	}
	h.answered = true
	capabilities := login.Capabilities()
	h.endless = capabilities&mysqlwire.CapabilityEndless != 0
	if h.bulk = h.bulk && capabilities&mysqlwire.CapabilityMySQL == 0; h.bulk {
		p = login.WithOwn(mysqlwire.OwnBulk)
	}
	return h.Conn.Write(p)
}

// encrypted is the connection that the driver has made of the one that it was given. Sessions speak over it below the driver, as
// they do over one that is not encrypted. The driver encrypts in the middle of its login and keeps what it made to itself, in a
// field that its next version may call otherwise: that would be an error here, and in the tests.
func encrypted(conn driver.Conn) (*tls.Conn, error) {
	var field reflect.Value
	if kept := reflect.Indirect(reflect.ValueOf(conn)); kept.Kind() == reflect.Struct {
		field = kept.FieldByName("netConn")
	}
	if field.Kind() != reflect.Interface || field.IsNil() || field.Elem().Type() != reflect.TypeFor[*tls.Conn]() {
		return nil, fmt.Errorf("the driver's connection %T does not have its encrypted connection where it had", conn)
	}
	return (*tls.Conn)(field.Elem().UnsafePointer()), nil
}
