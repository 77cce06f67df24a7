// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// readAtMost bounds a request for a reading, and probeAtMost one with a probe.
	readAtMost, probeAtMost = 2 * time.Second, answerAtMost
	// maxAnswer bounds an answer.
	maxAnswer = 64 << 10
)

// Client asks an observer.
type Client struct {
	server result.Server
	http   *http.Client
}

// NewClient asks the observer beside a server. A connection is made for each request and closed after it: while a load is
// measured there is none.
func NewClient(server result.Server) *Client {
	return &Client{server: server, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// Read the server's process.
func (c *Client) Read(ctx context.Context) (*result.ProcessFacts, error) {
	o, err := c.get(ctx, "", readAtMost)
	switch {
	case err != nil:
		return nil, err
	case o.Process == nil:
		return nil, errNoServer
	}
	return o.Process, nil
}

// Probe the server's node.
func (c *Client) Probe(ctx context.Context) (*result.NodeProbe, error) {
	o, err := c.get(ctx, "?"+probeParameter, probeAtMost)
	if err != nil {
		return nil, err
	}
	return o.Probe, nil
}

func (c *Client) get(ctx context.Context, query string, atMost time.Duration) (*result.Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	password, err := conn.ReadCredential(c.server.PasswordFile)
	if err != nil {
		return nil, err
	}
	url := URL(c.server.Host, c.server.ObserverPort) + Path + query
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking the observer: %w", err)
	}
	Authorize(request, password)
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the observer: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the observer answers: %s", answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the observer's answer: %w", err)
	}
	return result.DecodeObservation(data)
}

// URL of an observer, without a path.
func URL(host string, port int) string { return "http://" + net.JoinHostPort(host, strconv.Itoa(port)) }

// Authorize makes a request one of a client that knows the password, which it does not tell.
func Authorize(request *http.Request, password string) {
	request.Header.Set("Authorization", bearer+token(password))
}
