// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"golang.org/x/sys/unix"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/loader/datacopy"
	"github.com/benchrun-dev/benchrun/internal/loader/sleep"
	"github.com/benchrun-dev/benchrun/internal/result"
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
	ctx, cancel := context.WithTimeout(ctx, answerAtMost)
	defer cancel()
	answer, err := c.ask(ctx, http.MethodGet, Path+query)
	if err != nil {
		return nil, err
	}
	return result.DecodeObservation(answer)
}

func (c *Client) ask(ctx context.Context, method, path string) ([]byte, error) {
	password, err := client.ReadCredential(c.server.PasswordFile)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort(c.server.Host, strconv.Itoa(c.server.ObserverPort))
	request, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("asking the observer: %w", err)
	}
	request.Header.Set("Authorization", bearer+token(password))
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the observer: %w", err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the observer's answer: %w", err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the observer answers: %s: %s", answer.Status, strings.TrimSpace(string(data)))
	}
	return data, nil
}

const (
	// CopyPath of the request for a copy of the server's data directory.
	CopyPath = "/v1/copy"
	// stopped is the state of a process that was stopped, as the kernel writes it.
	stopped = "T"
	// stopsWithin is how long a process may take to stop, and stopsSeen how often that is looked at.
	stopsWithin, stopsSeen = 5 * time.Second, 5 * time.Millisecond
)

func (o *Observer) serveCopy(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	// The first would end the request's context.
	err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{}))
	var made result.DataCopy
	if err == nil {
		made, err = o.copyData(r.Context())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(made) //nolint:errchkjson // who asked has gone if this fails
}

// copyData has the server's process stand still meanwhile. The server knows nothing of it: what it has written is what it would
// find after a crash at that moment.
func (o *Observer) copyData(ctx context.Context) (made result.DataCopy, err error) {
	o.copying.Lock()
	defer o.copying.Unlock()
	if datacopy.Whole(o.Copy) {
		return made, nil
	}
	server, err := o.server()
	if err != nil {
		return made, err
	}
	if err := unix.Kill(server.PID, unix.SIGSTOP); err != nil {
		return made, fmt.Errorf("stopping the server for the copy: %w", err)
	}
	defer func() {
		if going := unix.Kill(server.PID, unix.SIGCONT); going != nil && err == nil {
			err = fmt.Errorf("having the server go on after the copy: %w", going)
		}
	}()
	if err := waitStopped(ctx, server); err != nil {
		return made, err
	}
	return datacopy.Take(ctx, o.Data, o.Copy)
}

func (o *Observer) server() (procfs.Proc, error) {
	_, all, err := find(o.Proc, o.Processes)
	if err != nil {
		return procfs.Proc{}, err
	}
	return all[0].Proc, nil
}

func waitStopped(ctx context.Context, p procfs.Proc) error {
	ctx, cancel := context.WithTimeout(ctx, stopsWithin)
	defer cancel()
	for {
		stat, err := p.Stat()
		if err != nil {
			return fmt.Errorf("looking at the server: %w", err)
		}
		if stat.State == stopped {
			return nil
		}
		if sleep.For(ctx, stopsSeen) != nil {
			return fmt.Errorf("the server does not stop for the copy: %w", ctx.Err())
		}
	}
}

// goOn has a server go on that an observer before this one has stopped, and was killed.
func (o *Observer) goOn() {
	server, err := o.server()
	if err != nil {
		return // it has not started yet
	}
	if stat, err := server.Stat(); err == nil && stat.State == stopped {
		if err := unix.Kill(server.PID, unix.SIGCONT); err != nil {
			fmt.Fprintln(os.Stderr, "having the server go on:", err)
		}
	}
}

// device counts the reads and writes that the block device of a folder has completed, for any process on the node; -1 if the
// folder is on none, or the kernel does not say. It needs the file systems proc and sys.
func device(proc, sys, folder string) (reads, writes int64) {
	var at unix.Stat_t
	if err := unix.Stat(folder, &at); err != nil {
		return -1, -1
	}
	fs, err := blockdevice.NewFS(proc, sys)
	if err != nil {
		return -1, -1
	}
	all, err := fs.ProcDiskstats()
	if err != nil {
		return -1, -1
	}
	for i := range all {
		if d := &all[i]; d.MajorNumber == unix.Major(at.Dev) && d.MinorNumber == unix.Minor(at.Dev) {
			return number(d.ReadIOs), number(d.WriteIOs)
		}
	}
	return -1, -1
}
