// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"net"
	"slices"
	"sync"
)

// Anybody in the cluster may connect to the observer, and a connection costs memory before anything of it was read.
const (
	// maxStrangers is how many connections there are whose requests have not proved to know the password, and maxStrangersOfHost how
	// many of one host.
	maxStrangers, maxStrangersOfHost = 128, 16
)

// door lets everybody in, and puts somebody out for him when there are too many: the oldest of the host that has the most.
// Whoever knows the password says so at once, and is out of that.
type door struct {
	net.Listener
	mu sync.Mutex
	// strangers in the order in which they came.
	strangers []*guest
}

// guest is a connection.
type guest struct {
	net.Conn
	door *door
	host string
}

func (d *door) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		host = c.RemoteAddr().String()
	}
	g := &guest{c, d, host}
	if out := d.admit(g); out != nil {
		_ = out.Close()
	}
	return g, nil
}

// admit a stranger, and return who has to go, if anybody.
func (d *door) admit(g *guest) *guest {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strangers = append(d.strangers, g)
	hosts, crowd := map[string]int{}, g.host
	for _, s := range d.strangers {
		if hosts[s.host]++; hosts[s.host] > hosts[crowd] {
			crowd = s.host
		}
	}
	if len(d.strangers) <= maxStrangers && hosts[g.host] <= maxStrangersOfHost {
		return nil
	}
	i := slices.IndexFunc(d.strangers, func(s *guest) bool { return s.host == crowd })
	return d.strangers[i]
}

// known says that a guest is no stranger any more, or gone.
func (d *door) known(g *guest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.strangers = slices.DeleteFunc(d.strangers, func(s *guest) bool { return s == g })
}

// Close implements net.Conn.
func (g *guest) Close() error {
	g.door.known(g)
	return g.Conn.Close()
}

type guestKey struct{}

// withGuest lets the handlers of a connection's requests know it.
func withGuest(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, guestKey{}, c)
}

// trust the connection of a request that has proved to know the password.
func trust(ctx context.Context) {
	if g, is := ctx.Value(guestKey{}).(*guest); is {
		g.door.known(g)
	}
}
