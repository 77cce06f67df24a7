// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conn connects to the servers of each engine, and waits for them. How to talk to them depends on whose SQL they speak.
package conn

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine"
	"github.com/benchrun-dev/benchrun/internal/engine/base"
	"github.com/benchrun-dev/benchrun/internal/engine/client"
	innodb "github.com/benchrun-dev/benchrun/internal/engine/innodb/client"
	postgresql "github.com/benchrun-dev/benchrun/internal/engine/postgresql/client"
	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// connectEvery is how often a server that does not answer is tried.
const connectEvery = 200 * time.Millisecond

// families of clients.
var families = map[base.SQL]struct {
	dialect *client.Dialect
	open    func(server result.Server, user, password string) (client.Opener, error)
}{
	base.MySQL:      {&innodb.Dialect, innodb.New},
	base.PostgreSQL: {&postgresql.Dialect, postgresql.New},
}

// Dialect is what the servers of an engine understand.
func Dialect(e *engine.Engine) *client.Dialect {
	d := *families[e.SQL].dialect
	d.Errors.Codes.ConnectionEnded, d.Errors.Codes.TryAgain = e.ConnectionEnded, e.TryAgain
	return &d
}

// Open reads the credentials. Every session of the loader is made alike: character set UTF-8, time zone UTC; everything else, as
// sql_mode, stays the server's, because a run may set it.
func Open(server result.Server) (client.Opener, error) {
	e, err := engine.ByName(server.Engine)
	if err != nil {
		return nil, err
	}
	user, err := client.ReadCredential(server.UserFile)
	if err != nil {
		return nil, err
	}
	password, err := client.ReadCredential(server.PasswordFile)
	if err != nil {
		return nil, err
	}
	return families[e.SQL].open(server, user, password)
}

// Wait connects as soon as the server answers, and closes the connection again. A server that answers and refuses ends
// the waiting, in its own words.
func Wait(ctx context.Context, d *client.Dialect, connector driver.Connector, atMost time.Duration) error {
	conn, err := connectWithin(ctx, connector, d.Errors.WorthAnotherTry, atMost)
	if err == nil {
		// The server answered, that is all that was asked of this connection.
		_ = conn.Close()
	}
	return err
}

// Patient is a connector that waits for a connection that others have. A server notices the end of a session later than its
// client, so that even the only client may have to.
func Patient(connector driver.Connector, d *client.Dialect, atMost time.Duration) driver.Connector {
	return patient{connector, d, atMost}
}

type patient struct {
	driver.Connector
	dialect *client.Dialect
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
	ctx, cancel := context.WithTimeout(ctx, 2*client.ConnectTimeout)
	defer cancel()
	return connector.Connect(ctx)
}
