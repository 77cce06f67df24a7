// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// running is an observer that listens on a port of its own until the test ends.
func running(t *testing.T, headerAtMost time.Duration) (*Observer, *Client) {
	t.Helper()
	free := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", ":0"))(t)
	dir := t.TempDir()
	files(t, dir, map[string]string{"password": secret})
	o := &Observer{Port: free.Addr().(*net.TCPAddr).Port, PasswordFile: filepath.Join(dir, "password"), Proc: t.TempDir()}
	o.HeaderAtMost = headerAtMost
	_ = free.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := o.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	c := NewClient(result.Server{Host: "127.0.0.1", ObserverPort: o.Port, PasswordFile: o.PasswordFile})
	eventually(t, "the observer answers", func() bool { return answers(t, c) })
	return o, c
}

// answers says whether a client that knows the password gets its answer: there is no server here, which the observer says.
func answers(t *testing.T, c *Client) bool {
	_, err := c.Read(t.Context())
	return errors.Is(err, errNoServer)
}

// flood opens a connection from an address, with the beginning of a request that does not end.
func flood(t *testing.T, from string, port int) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c := must.Get(dialer.DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port)))(t)
	t.Cleanup(func() { _ = c.Close() })
	// Who was put out gets an error.
	_, _ = fmt.Fprint(c, "GET / HTTP/1.1\r\nX: "+strings.Repeat("a", 3800))
}

// Thousands of connections that say nothing whole are put out, and hold up no client that knows the password: neither those of
// one host, even if that is the loader's own, nor those of many.
func TestFlood(t *testing.T) {
	for name, tc := range map[string]struct{ hosts, each int }{
		"of another host":     {1, 2000},
		"of the loader's own": {0, 2000},
		"of many hosts":       {100, 20},
	} {
		t.Run(name, func(t *testing.T) {
			o, c := running(t, time.Hour)
			before := runtime.NumGoroutine()
			for host := range max(1, tc.hosts) {
				from := "127.0.0.1"
				if tc.hosts > 0 {
					from = fmt.Sprintf("127.0.1.%d", host+1)
				}
				for range tc.each {
					flood(t, from, o.Port)
				}
				if host%20 == 0 && !answers(t, c) {
					t.Error("who knows the password gets no answer")
				}
			}
			if !answers(t, c) {
				t.Error("who knows the password gets no answer")
			}
			// A connection has a goroutine, or two, as long as it is kept: nothing else ends these within the hour.
			eventually(t, "connections are put out", func() bool { return runtime.NumGoroutine()-before <= 2*maxStrangers+100 })
		})
	}
}

// A request whose header does not end in time is ended.
func TestHeaderInTime(t *testing.T) {
	o, _ := running(t, 0)
	c := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", o.Port)))(t)
	defer c.Close()
	must.Get(fmt.Fprint(c, "GET / HTTP/1.1\r\nX: "))(t)
	must.Do(t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
	if _, err := c.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it is still open after 20 s")
	}
}

// The guest that goes is the oldest of the host that has the most, and never one that is known.
func TestDoor(t *testing.T) {
	d := new(door)
	var known []*guest
	for i := range 50 {
		g := &guest{host: "loader", door: d}
		if d.admit(g) != nil {
			t.Errorf("a known guest is put out by number %d", i)
		}
		d.known(g)
		known = append(known, g)
	}
	for i := range 3 * maxStrangersOfHost {
		out := d.admit(&guest{host: "flood", door: d})
		if (out != nil) != (i >= maxStrangersOfHost) || out != nil && out.host != "flood" {
			t.Errorf("number %d puts out %v", i, out)
		}
		if out != nil {
			d.known(out)
		}
	}
	for i := range maxStrangers {
		if out := d.admit(&guest{host: fmt.Sprint("host", i), door: d}); out != nil {
			if out.host != "flood" {
				t.Errorf("%s is put out", out.host)
			}
			d.known(out)
		}
	}
	if len(d.strangers) > maxStrangers || len(known) != 50 {
		t.Errorf("there are %d strangers", len(d.strangers))
	}
}
