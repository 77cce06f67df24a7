// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"net"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
)

// handshake is a connection during the driver's login. It reads along what server and client can do, and adds to the client's
// packet what the driver does not know of. Afterwards it is in nobody's way.
type handshake struct {
	net.Conn
	// greeting is the server's first packet, as far as it was read.
	greeting []byte
	// greeted and answered say that the server's and the client's first packet have passed.
	greeted, answered bool
	agreement
}

// agreement is what both sides can do.
type agreement struct {
	// version of the server as it is shown to people.
	version string
	// bulk says that the server executes a prepared statement for many rows at once.
	bulk bool
	// endless says that no packet follows the last one of a list of columns.
	endless bool
}

// Read implements net.Conn.
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
