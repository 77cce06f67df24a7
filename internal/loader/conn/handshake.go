// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
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

const (
	// clientMySQL is a capability that MariaDB has not: it has more capabilities instead, in bytes that were reserved.
	clientMySQL        = 1 << 0
	clientDeprecateEOF = 1 << 24
	// bulkOperations is the third of MariaDB's own.
	bulkOperations = 1 << 2
	// ownCapabilities is where the client's packet has MariaDB's own: behind the header, the capabilities, the largest packet,
	// the character set and 19 reserved bytes.
	ownCapabilities = packetHeader + 4 + 4 + 1 + 19
)

// Read implements net.Conn.
func (h *handshake) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if !h.greeted {
		h.greeting = append(h.greeting, p[:n]...)
		h.readGreeting()
	}
	return n, err
}

// readGreeting reads the server's first packet, if it is there.
func (h *handshake) readGreeting() {
	if len(h.greeting) < packetHeader {
		return
	}
	size := int(h.greeting[0]) | int(h.greeting[1])<<8 | int(h.greeting[2])<<16
	if len(h.greeting) < packetHeader+size {
		return
	}
	h.greeted = true
	payload := h.greeting[packetHeader : packetHeader+size]
	h.greeting = nil
	const protocol = 10
	end := bytes.IndexByte(payload, 0)
	if end < 1 || payload[0] != protocol {
		return // an error, which the driver reports
	}
	// Before version 11, MariaDB says that it is a MySQL which old clients can bear.
	h.version = strings.TrimPrefix(string(payload[1:end]), "5.5.5-")
	// The session's number, 8 bytes of the challenge and one for nothing; half of the capabilities, the character set, the
	// status, the other half, a length and 6 bytes for nothing; MariaDB's own capabilities.
	const capabilities, own = 4 + 8 + 1, 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 6
	if rest := payload[end+1:]; len(rest) >= own+4 && rest[capabilities]&clientMySQL == 0 {
		h.bulk = binary.LittleEndian.Uint32(rest[own:])&bulkOperations != 0
	}
}

// Write implements net.Conn. The driver writes its first packet in one piece.
func (h *handshake) Write(p []byte) (int, error) {
	if h.answered || len(p) < ownCapabilities+4 {
		return h.Conn.Write(p)
	}
	h.answered = true
	capabilities := binary.LittleEndian.Uint32(p[packetHeader:])
	h.endless = capabilities&clientDeprecateEOF != 0
	if h.bulk = h.bulk && capabilities&clientMySQL == 0; h.bulk {
		p = bytes.Clone(p)
		p[ownCapabilities] |= bulkOperations
	}
	return h.Conn.Write(p)
}
