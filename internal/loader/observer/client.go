// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/benchrun-dev/benchrun/internal/loader/conn"
	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// askAtMost bounds a request.
	askAtMost = answerAtMost
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
	o, err := c.get(ctx, "")
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
	o, err := c.get(ctx, "?"+probeParameter)
	if err != nil {
		return nil, err
	}
	return o.Probe, nil
}

// Copy has the observer put a copy of the server's data directory aside, unless there is one. The server stands still meanwhile.
// It takes as long as that takes.
func (c *Client) Copy(ctx context.Context) (made result.DataCopy, err error) {
	answer, err := c.ask(ctx, http.MethodPost, CopyPath)
	if err != nil {
		return made, err
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return made, fmt.Errorf("reading the observer's answer: %w", err)
	}
	return made, nil
}

func (c *Client) get(ctx context.Context, query string) (*result.Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, askAtMost)
	defer cancel()
	answer, err := c.ask(ctx, http.MethodGet, Path+query)
	if err != nil {
		return nil, err
	}
	return result.DecodeObservation(answer)
}

// ask is the observer's answer to a request.
func (c *Client) ask(ctx context.Context, method, path string) ([]byte, error) {
	password, err := conn.ReadCredential(c.server.PasswordFile)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, URL(c.server.Host, c.server.ObserverPort)+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking the observer: %w", err)
	}
	Authorize(request, password)
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the observer: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the observer's answer: %w", err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the observer answers: %s: %s", answer.Status, strings.TrimSpace(string(data)))
	}
	return data, nil
}

// URL of an observer, without a path.
func URL(host string, port int) string { return "http://" + net.JoinHostPort(host, strconv.Itoa(port)) }

// Authorize makes a request one of a client that knows the password, which it does not tell.
func Authorize(request *http.Request, password string) {
	request.Header.Set("Authorization", bearer+token(password))
}
