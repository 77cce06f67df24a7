// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package client is how the loader talks to the servers that it measures: what their SQL and errors are, and connections that can
// all be ended at once. Each family of servers implements it, in a folder client of its own.
package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// ConnectTimeout bounds one try, so that an address that swallows packets does not eat the whole time.
const ConnectTimeout = 5 * time.Second

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

// Open are connections that end together. The zero value is none.
type Open struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
	ended bool
}

// Dial makes one.
func (c *Open) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	s, err := newSocket(conn, c.forget)
	if err != nil {
		return nil, fmt.Errorf("preparing the connection: %w", err)
	}
	if !c.remember(s) {
		return nil, errors.Join(net.ErrClosed, s.Close())
	}
	return s, nil
}

// remember adds one. It is false if connections were ended meanwhile.
func (c *Open) remember(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	if c.conns == nil {
		c.conns = map[net.Conn]struct{}{}
	}
	c.conns[conn] = struct{}{}
	return true
}

func (c *Open) forget(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
}

// End closes every connection and lets none be opened: a caller that waits for an answer gets an error at once.
func (c *Open) End() {
	c.mu.Lock()
	open := c.conns
	c.conns, c.ended = nil, true
	c.mu.Unlock()
	for conn := range open {
		_ = conn.Close()
	}
}

// ReadCredential reads a file with a user name or password; a line break at its end is not part of it.
func ReadCredential(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading credentials: %w", err)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// Database is that which the credentials name in a file beside the password, as those of CloudNativePG do; or the one
// that every server of PostgreSQL has.
func Database(server result.Server) (string, error) {
	name, err := ReadCredential(filepath.Join(filepath.Dir(server.PasswordFile), "dbname"))
	if errors.Is(err, os.ErrNotExist) {
		return "postgres", nil
	}
	return name, err
}

// TLS is the configuration that a server asks for; nil is none.
func TLS(server result.Server) (*tls.Config, error) {
	switch server.TLS {
	case result.TLSRequired:
		// Requested for by that name: what is measured is what encryption costs, not whom to trust.
		return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, nil //nolint:gosec // see above
	case result.TLSVerifyIdentity:
		cfg := &tls.Config{ServerName: server.Host, MinVersion: tls.VersionTLS12}
		if server.CAFile == "" {
			return cfg, nil
		}
		pem, err := os.ReadFile(server.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading the trusted certificate authorities: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s contains no PEM certificate", server.CAFile)
		}
		return cfg, nil
	default:
		return nil, nil
	}
}
