// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mysqlwire reads and writes MySQL's client/server protocol, as far as a load needs it: what statements, their answers,
// the values of prepared statements, files of LOAD DATA LOCAL and the first packets of a session look like on the wire. Logging
// in and reading the values of a result set is left to go-sql-driver. Nothing here connects to anything.
package mysqlwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-sql-driver/mysql"
)

const (
	// HeaderSize is the bytes of a packet's header: three of its payload's size, one of its number.
	HeaderSize = 4
	// MaxPayload is the largest size of a packet's payload. A payload of that size goes on in the next packet, which may be empty.
	MaxPayload = 1<<24 - 1
)

const (
	CommandQuery   byte = 0x03
	CommandPrepare byte = 0x16
	CommandExecute byte = 0x17
	// CommandBulk is MariaDB's: an execution for many rows.
	CommandBulk byte = 0xfa
)

// AppendHeader appends the header of a packet with so many bytes, at most MaxPayload.
func AppendHeader(dst []byte, size int, sequence byte) []byte {
	return binary.LittleEndian.AppendUint32(dst, uint32(size)|uint32(sequence)<<24) //nolint:gosec // at most MaxPayload
}

// ReadHeader reads the first HeaderSize bytes of a packet.
func ReadHeader(p []byte) (size int, sequence byte) {
	_ = p[HeaderSize-1]
	return int(p[0]) | int(p[1])<<8 | int(p[2])<<16, p[3]
}

// Reader reads a server's packets.
type Reader struct {
	from io.Reader
	// buffer has what was read; what is not returned yet begins at next and ends at end.
	buffer    [4096]byte
	next, end int
}

// NewReader returns a reader of a connection. It reads ahead: between two packets of one answer, nothing else may read.
func NewReader(from io.Reader) *Reader { return &Reader{from: from} }

// Packet waits for a packet and returns its payload, of at least one byte, which the next call overwrites. A packet that is
// larger than those that a statement without a result set gets is an error. The server's end is mysql.ErrInvalidConn.
func (r *Reader) Packet() ([]byte, error) {
	size, _, err := r.begun()
	if err != nil {
		return nil, err
	}
	if size > len(r.buffer)-HeaderSize {
		return nil, fmt.Errorf("the server's answer has %d bytes, which no statement without a result set has", size)
	}
	if err := r.have(HeaderSize + size); err != nil {
		return nil, err
	}
	payload := r.next + HeaderSize
	r.next = payload + size
	return r.buffer[payload:r.next], nil
}

// begun waits for the beginning of a packet, which stays the next one, and returns the size and the first byte of its payload.
func (r *Reader) begun() (size int, kind byte, err error) {
	if err := r.have(HeaderSize); err != nil {
		return 0, 0, err
	}
	if size, _ = ReadHeader(r.buffer[r.next:]); size == 0 {
		return 0, 0, errors.New("the server's answer is empty")
	}
	if err := r.have(HeaderSize + 1); err != nil {
		return 0, 0, err
	}
	return size, r.buffer[r.next+HeaderSize], nil
}

// have waits until so many bytes are in the buffer, which must have room for them.
func (r *Reader) have(n int) error {
	for r.end-r.next < n {
		if r.next > 0 {
			r.end = copy(r.buffer[:], r.buffer[r.next:r.end])
			r.next = 0
		}
		more, err := r.from.Read(r.buffer[r.end:])
		r.end += more
		if more == 0 && err != nil {
			if errors.Is(err, io.EOF) {
				return mysql.ErrInvalidConn
			}
			return err
		}
	}
	return nil
}

// Kinds of answers, which are their first byte.
const (
	KindOK byte = 0x00
	// KindFile asks for the file of LOAD DATA LOCAL.
	KindFile byte = 0xfb
	// KindEnd ends a list of columns and the rows of a result set. What begins so and is as large as a packet can be is a row, with
	// a value of 16 MiB or more.
	KindEnd   byte = 0xfe
	KindError byte = 0xff
)

// Done is the error of an answer to a statement without a result set; nil if the server has done it.
func Done(payload []byte) error {
	if payload[0] == KindOK {
		return nil
	}
	return Unexpected(payload, "as to a query")
}

// Unexpected is the error of an answer that is not the one that a statement should get: the server's own if it has one, or else
// that its kind is none for it, in the words of how.
func Unexpected(payload []byte, how string) error {
	if payload[0] == KindError {
		return serverError(payload[1:])
	}
	return fmt.Errorf("the server answers with a packet of kind %#x, %s", payload[0], how)
}

func serverError(payload []byte) error {
	const number, state = 2, 6
	if len(payload) < number {
		return errors.New("the server answers with an error that has no number")
	}
	e := &mysql.MySQLError{Number: binary.LittleEndian.Uint16(payload)}
	message := payload[number:]
	if len(message) >= state && message[0] == '#' {
		copy(e.SQLState[:], message[1:state])
		message = message[state:]
	}
	e.Message = string(message)
	return e
}

// AppendOK appends a packet that says that all is well: no rows changed, no id, autocommit, no warnings.
func AppendOK(dst []byte, sequence byte) []byte {
	const autocommit = 2
	return append(AppendHeader(dst, 7, sequence), KindOK, 0, 0, autocommit, 0, 0, 0)
}

// ReadChanged reads how many rows an OK answer says were changed, and how many warnings the server has about them.
func ReadChanged(payload []byte) (rows, warnings int64, err error) {
	if err := Done(payload); err != nil {
		return 0, 0, err
	}
	// The rows, the last id, two bytes of status flags, two of warnings.
	n, rest, whole := ReadInteger(payload[1:])
	_, rest, also := ReadInteger(rest)
	if !whole || !also || len(rest) < 4 {
		return 0, 0, errors.New("the server's answer is too short")
	}
	return n, int64(binary.LittleEndian.Uint16(rest[2:])), nil
}

// ReadInteger reads a length-encoded integer, and returns what follows it; whole is false if there is none.
func ReadInteger(p []byte) (n int64, rest []byte, whole bool) {
	if len(p) == 0 {
		return 0, nil, false
	}
	var size int
	switch prefix := p[0]; prefix {
	case 0xfc:
		size = 2
	case 0xfd:
		size = 3
	case 0xfe:
		size = 8
	default:
		return int64(prefix), p[1:], prefix < 0xfb
	}
	if len(p) <= size {
		return 0, nil, false
	}
	var wide [8]byte
	copy(wide[:], p[1:1+size])
	return int64(binary.LittleEndian.Uint64(wide[:])), p[1+size:], true //nolint:gosec // a number of rows
}

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
