// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client sends statements and files to MariaDB and MySQL with as little of the client's own work as possible.
//
//	Connections   credentials, TLS, and the end of all of them
//	 └ session    one client's: opened by the driver, which also reads result sets
//	    ├ handshake  what both sides can do, of which the driver knows a part
//	    └ exchange   statements, values of prepared ones and files past the driver, which would copy each twice
//	       └ Socket     a connection for a closed loop, past Go's network poller
//
// An encrypted session has crypto/tls between exchange and Socket, and nothing else is different. Package mysqlwire knows what
// packets look like. Sink is a server in memory that swallows what it is sent.
package client

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// Connections are those by MySQL's protocol. The sql_mode stays the server's.
type Connections struct {
	cfg *mysql.Config
	client.Open
}

// New makes connections to a server.
func New(server result.Server, user, password string) (client.Opener, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd = user, password
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort(server.Host, strconv.Itoa(server.Port))
	if server.Socket != "" {
		cfg.Net, cfg.Addr = "unix", server.Socket
	}
	var err error
	if cfg.TLS, err = client.TLS(server); err != nil {
		return nil, err
	}
	return NewBy(cfg)
}

// NewBy completes the configuration. Without a DialFunc, connections are made over the network.
func NewBy(cfg *mysql.Config) (*Connections, error) {
	c := new(Connections)
	if cfg.DialFunc == nil {
		cfg.DialFunc = c.Dial
	}
	cfg.Timeout = client.ConnectTimeout
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
	var arrivals *client.Socket
	cfg := c.cfg.Clone()
	cfg.DBName = schema
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		own, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if s, ok := own.(*client.Socket); ok {
			s.Measure()
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
