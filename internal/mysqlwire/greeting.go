// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Capabilities of servers and clients: bits of the greeting and of the login. A session has those of both.
const (
	// CapabilityMySQL is one that MariaDB has not: it has more capabilities instead, in bytes that were reserved.
	CapabilityMySQL uint32 = 1 << 0
	// CapabilityEndless leaves out the packet that ends a list of columns.
	CapabilityEndless uint32 = 1 << 24

	capabilityLongFlag     uint32 = 1 << 2
	capabilityWithSchema   uint32 = 1 << 3
	capability41           uint32 = 1 << 9
	capabilityTransactions uint32 = 1 << 13
	capabilityChallenge    uint32 = 1 << 15
	capabilityAuthPlugins  uint32 = 1 << 19

	// OwnBulk is one of MariaDB's own capabilities: executions of a prepared statement for many rows at once.
	OwnBulk uint32 = 1 << 2
)

// protocol is the version that a greeting begins with.
const protocol = 10

// Greeting is a server's first packet, as far as it is needed.
type Greeting struct {
	// Version as it is shown to people.
	Version string
	// Capabilities are the server's, and Own those of MariaDB.
	Capabilities, Own uint32
}

// ReadGreeting reads a server's first payload; greeted is false if that is none, but an error for example. Capabilities that a
// cut greeting does not have are none.
func ReadGreeting(payload []byte) (g Greeting, greeted bool) {
	end := bytes.IndexByte(payload, 0)
	if end < 1 || payload[0] != protocol {
		return Greeting{}, false
	}
	// Before version 11, MariaDB says that it is a MySQL which old clients can bear.
	g.Version = strings.TrimPrefix(string(payload[1:end]), "5.5.5-")
	// The session's number, 8 bytes of the challenge and one for nothing; half of the capabilities, the character set, the
	// status, the other half, a length and 6 bytes for nothing; MariaDB's own capabilities.
	const low, high, own = 4 + 8 + 1, 4 + 8 + 1 + 2 + 1 + 2, 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 6
	rest := payload[end+1:]
	if len(rest) < own+4 {
		return g, true
	}
	g.Capabilities = uint32(binary.LittleEndian.Uint16(rest[low:])) | uint32(binary.LittleEndian.Uint16(rest[high:]))<<16
	if g.Capabilities&CapabilityMySQL == 0 {
		g.Own = binary.LittleEndian.Uint32(rest[own:])
	}
	return g, true
}

// AppendPacket appends a greeting that asks for a password by a challenge of 20 bytes, as a packet.
func (g Greeting) AppendPacket(dst []byte) []byte {
	const utf8mb4, autocommit, challengeLength = 45, 2, 21
	p := append(append([]byte{protocol}, g.Version...), 0)
	p = append(append(p, 1, 0, 0, 0), "12345678\x00"...)
	p = binary.LittleEndian.AppendUint16(p, uint16(g.Capabilities&0xffff))
	p = binary.LittleEndian.AppendUint16(append(p, utf8mb4, autocommit, 0), uint16(g.Capabilities>>16))
	p = append(append(p, challengeLength), make([]byte, 6)...)
	p = append(binary.LittleEndian.AppendUint32(p, g.Own), "123456789012\x00mysql_native_password\x00"...)
	return append(AppendHeader(dst, len(p), 0), p...)
}

// Plain are the capabilities that a server needs for a client to log in with a password.
const Plain = capabilityLongFlag | capabilityWithSchema | capability41 | capabilityTransactions | capabilityChallenge |
	capabilityAuthPlugins

// Login is a client's first packet, with its header: the login, or the request for an encrypted connection, which begins in the
// same way.
type Login []byte

// loginOwn is where MariaDB's own capabilities are: behind the header, the capabilities, the largest packet, the character set
// and 19 reserved bytes.
const loginOwn = HeaderSize + 4 + 4 + 1 + 19

// Whole says whether the packet is long enough to be one.
func (l Login) Whole() bool { return len(l) >= loginOwn+4 }

// Capabilities are what the client can do.
func (l Login) Capabilities() uint32 { return binary.LittleEndian.Uint32(l[HeaderSize:]) }

// WithOwn is a copy that has more of MariaDB's own capabilities.
func (l Login) WithOwn(more uint32) Login {
	l = bytes.Clone(l)
	binary.LittleEndian.PutUint32(l[loginOwn:], binary.LittleEndian.Uint32(l[loginOwn:])|more)
	return l
}
