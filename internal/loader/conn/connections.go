// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conn is how the loader talks to the server it measures: connections that can all be ended at once, and sessions that
// send statements and files with as little of the client's own work as possible.
//
//	Connections   credentials, TLS, who waits for a server, and the end of all of them
//	 └ Session    one client's: opened by the driver, which also reads result sets
//	    ├ handshake  what both sides can do, of which the driver knows a part
//	    └ exchange   statements, values of prepared ones and files past the driver, which would copy each twice
//	       └ socket     a connection for a closed loop, past Go's network poller
//
// An encrypted session has crypto/tls between exchange and socket, and nothing else is different. Package mysqlwire knows what
// packets look like. Sink is a server in memory that swallows what it is sent.
package conn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/dialect"
	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

const (
	// connectEvery is how often a server that does not answer is tried.
	connectEvery = 200 * time.Millisecond
	// connectTimeout bounds one try, so that an address that swallows packets does not eat the whole time.
	connectTimeout = 5 * time.Second
)

// Opener makes connections to a server, and can end them all at once.
type Opener interface {
	// Connector connects to the given schema, or to none.
	Connector(schema string) (driver.Connector, error)
	// Session connects to the schema and executes the setup statements.
	Session(ctx context.Context, schema string, setup []string) (Session, error)
	// End closes every connection and lets none be opened: a caller that waits for an answer gets an error at once.
	End()
}

// Session is that of a client of the measured phase.
type Session interface {
	workload.Session
	// Pairs executes a query with two columns, a name and a value.
	Pairs(query string) (map[string]string, error)
	// LateAnswers is how many answers to statements of ExecWhile had come before they were looked for, at an unknown time: they
	// count as having come then.
	LateAnswers() int64
	// Close ends the session.
	Close() error
}

// New reads the credentials. Every session of the loader is made alike: character set UTF-8, time zone UTC; everything else
// stays the server's, because a run may set it.
func New(server result.Server) (Opener, error) {
	user, err := ReadCredential(server.UserFile)
	if err != nil {
		return nil, err
	}
	password, err := ReadCredential(server.PasswordFile)
	if err != nil {
		return nil, err
	}
	if server.Engine == engine.PostgreSQL.Name {
		return newPostgreSQL(server, user, password)
	}
	return newMySQL(server, user, password)
}

// Connections are those by MySQL's protocol. The sql_mode stays the server's.
type Connections struct {
	cfg *mysql.Config
	openConns
}

func newMySQL(server result.Server, user, password string) (_ *Connections, err error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd = user, password
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(server.Host, strconv.Itoa(server.Port))
	if server.Socket != "" {
		cfg.Net, cfg.Addr = "unix", server.Socket
	}
	if cfg.TLS, err = tlsConfig(server); err != nil {
		return nil, err
	}
	return NewBy(cfg)
}

// NewBy completes the configuration. Without a DialFunc, connections are made over the network.
func NewBy(cfg *mysql.Config) (*Connections, error) {
	c := &Connections{openConns: openConns{open: map[net.Conn]struct{}{}}}
	if cfg.DialFunc == nil {
		cfg.DialFunc = c.dial
	}
	cfg.Timeout = connectTimeout
	cfg.ConnectionAttributes = "program_name:benchrun-loader"
	cfg.Params = map[string]string{"time_zone": "'+00:00'"}
	cfg.Logger = &mysql.NopLogger{}
	// Statements are sent once, and their errors end the attempt: there is nothing to check before.
	cfg.CheckConnLiveness = false
	if err := cfg.Apply(mysql.Charset("utf8mb4", "utf8mb4_general_ci")); err != nil {
		return nil, fmt.Errorf("configuring the connection: %w", err)
	}
	c.cfg = cfg
	return c, nil
}

// Connector connects to the given schema, or to none.
func (c *Connections) Connector(schema string) (driver.Connector, error) {
	cfg := c.cfg.Clone()
	cfg.DBName = schema
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configuring the connection: %w", err)
	}
	return connector, nil
}

func (c *Connections) connect(ctx context.Context, schema string) (*mySession, error) {
	var login handshake
	var transport net.Conn
	var arrivals *socket
	cfg := c.cfg.Clone()
	cfg.DBName = schema
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		own, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if s, ok := own.(*socket); ok {
			s.measure()
			arrivals = s
		}
		login.Conn, transport = own, own
		return &login, nil
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configuring the connection: %w", err)
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	if cfg.TLS != nil {
		if transport, err = encrypted(conn); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	query, queries := conn.(driver.QueryerContext)
	if !queries {
		return nil, errors.Join(fmt.Errorf("the driver's connection %T executes no queries", conn), conn.Close())
	}
	below := newExchange(transport, arrivals)
	return &mySession{conn: conn, query: query, below: below, agreed: login.agreement, ctx: context.WithoutCancel(ctx)}, nil
}

func (c *Connections) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	tracked, err := newSocket(conn, c.forget)
	if err != nil {
		return nil, fmt.Errorf("preparing the connection: %w", err)
	}
	if !c.remember(tracked) {
		return nil, errors.Join(net.ErrClosed, tracked.Close())
	}
	return tracked, nil
}

// openConns are connections that end together.
type openConns struct {
	mu    sync.Mutex
	open  map[net.Conn]struct{}
	ended bool
}

// remember is false if connections were ended meanwhile.
func (c *openConns) remember(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.open[conn] = struct{}{}
	return true
}

func (c *openConns) forget(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

// End closes every connection and lets none be opened: a caller that waits for an answer gets an error at once.
func (c *openConns) End() {
	c.mu.Lock()
	open := c.open
	c.open, c.ended = map[net.Conn]struct{}{}, true
	c.mu.Unlock()
	for conn := range open {
		_ = conn.Close()
	}
}

// Wait connects as soon as the server answers, and closes the connection again. A server that answers and refuses ends
// the waiting, in its own words.
func Wait(ctx context.Context, d *dialect.Dialect, connector driver.Connector, atMost time.Duration) error {
	conn, err := connectWithin(ctx, connector, d.Errors.WorthAnotherTry, atMost)
	if err == nil {
		// The server answered, that is all that was asked of this connection.
		_ = conn.Close()
	}
	return err
}

// Patient is a connector that waits for a connection that others have. A server notices the end of a session later than its
// client, so that even the only client may have to.
func Patient(connector driver.Connector, d *dialect.Dialect, atMost time.Duration) driver.Connector {
	return patient{connector, d, atMost}
}

type patient struct {
	driver.Connector
	dialect *dialect.Dialect
	atMost  time.Duration
}

// Connect implements driver.Connector.
func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	return connectWithin(ctx, p.Connector, p.dialect.Errors.TooManySessions, p.atMost)
}

// connectWithin tries again as long as the error is worth that.
func connectWithin(
	ctx context.Context, connector driver.Connector, again func(error) bool, atMost time.Duration,
) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	var last error
	for {
		conn, err := tryConnect(ctx, connector)
		if err == nil {
			return conn, nil
		}
		if !again(err) && (last == nil || ctx.Err() == nil) {
			return nil, fmt.Errorf("connecting: %w", err)
		}
		// That the time was over says nothing, and a dialler may notice it before ctx does.
		if timeout, ok := errors.AsType[net.Error](err); last == nil || ctx.Err() == nil && (!ok || !timeout.Timeout()) {
			last = err
		}
		if sleep.For(ctx, connectEvery) != nil {
			return nil, fmt.Errorf("connecting: the server did not answer for %s: %w", atMost, last)
		}
	}
}

func tryConnect(ctx context.Context, connector driver.Connector) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTimeout)
	defer cancel()
	return connector.Connect(ctx)
}

// ReadCredential reads a file with a user name or password; a line break at its end is not part of it.
func ReadCredential(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading credentials: %w", err)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}
