// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/go-sql-driver/mysql"
)

// exchange sends statements over a connection that the driver has opened, and reads their answers, as far as loading needs
// it: statements without a result set. The driver would copy each statement twice, into a new buffer if it is longer than
// 256 KiB, and could not work while the server does.
type exchange struct {
	conn net.Conn
	// packet is for statements that are short enough to be sent together with their header, and for headers.
	packet []byte
	answer [4096]byte
	// file is for the packets of LOAD DATA LOCAL, made when the first is sent.
	file []byte
}

const (
	packetHeader  = 4
	maxPacketSize = 1<<24 - 1
	// shortStatement is copied behind its header: that costs less than a second system call.
	shortStatement = 16 << 10

	commandQuery = 3
	answerOK     = 0x00
	answerError  = 0xff
)

// send sends a command with what belongs to it, a statement for example. These bytes may be reused afterwards.
func (e *exchange) send(command byte, statement []byte) error {
	size := min(1+len(statement), maxPacketSize)
	e.packet = append(appendHeader(e.packet[:0], size, 0), command)
	if len(statement) <= shortStatement {
		e.packet = append(e.packet, statement...)
		statement = statement[len(statement):]
	}
	if _, err := e.conn.Write(e.packet); err != nil {
		return err
	}
	// The command is the first byte of the first packet; a packet of the largest size is followed by another one.
	for sequence, left := byte(1), size-1; ; sequence++ {
		if n := min(left, len(statement)); n > 0 {
			if _, err := e.conn.Write(statement[:n]); err != nil {
				return err
			}
			statement = statement[n:]
		}
		if size < maxPacketSize {
			return nil
		}
		size = min(len(statement), maxPacketSize)
		left = size
		e.packet = appendHeader(e.packet[:0], size, sequence)
		if _, err := e.conn.Write(e.packet); err != nil {
			return err
		}
	}
}

// appendHeader appends a packet's size in three bytes, and its number.
func appendHeader(dst []byte, size int, sequence byte) []byte {
	//nolint:gosec // a size is at most maxPacketSize
	return binary.LittleEndian.AppendUint32(dst, uint32(size)|uint32(sequence)<<24)
}

// receive waits for the answer to a statement.
func (e *exchange) receive() error { return done(e.receivePacket()) }

// receiveEarlier is receive after work that may have taken longer than the server. It returns how long ago the answer came;
// known is false if it came before the call, and nobody knows when.
func (e *exchange) receiveEarlier() (ago time.Duration, known bool, err error) {
	observer, ok := e.conn.(arrivalObserver)
	if !ok {
		return 0, false, e.receive()
	}
	have, ago, known, err := observer.readArrival(e.answer[:])
	return ago, known, done(e.restOfPacket(have, err))
}

// arrivalObserver is a connection that notices when something comes while nobody reads.
type arrivalObserver interface {
	// readArrival is Read, and returns how long ago came what is read; known is as receiveEarlier's.
	readArrival(p []byte) (n int, ago time.Duration, known bool, err error)
}

// done is the error of an answer to a statement, if there is one.
func done(payload []byte, err error) error {
	if err != nil {
		return err
	}
	if payload[0] == answerOK {
		return nil
	}
	return unexpected(payload, "as to a query")
}

// unexpected is the error of an answer that is not what the statement should get, and how so if it is none of the server's.
func unexpected(payload []byte, how string) error {
	if payload[0] == answerError {
		return serverError(payload[1:])
	}
	return fmt.Errorf("the server answers with a packet of kind %#x, %s", payload[0], how)
}

// receivePacket waits for a packet of at least one byte. It is overwritten by the next one.
func (e *exchange) receivePacket() ([]byte, error) {
	have, err := e.conn.Read(e.answer[:])
	return e.restOfPacket(have, err)
}

// restOfPacket waits for what is missing of a packet whose beginning was read, with this error.
func (e *exchange) restOfPacket(have int, err error) ([]byte, error) {
	for {
		if errors.Is(err, io.EOF) {
			return nil, mysql.ErrInvalidConn
		}
		if err != nil {
			return nil, err
		}
		need := packetHeader + 1
		if have >= packetHeader {
			need = packetHeader + (int(e.answer[0]) | int(e.answer[1])<<8 | int(e.answer[2])<<16)
		}
		if need > len(e.answer) {
			return nil, fmt.Errorf("the server's answer has %d bytes, which no statement without a result set has", need)
		}
		if have >= need {
			return e.answer[packetHeader:have], nil
		}
		var n int
		n, err = e.conn.Read(e.answer[have:])
		have += n
	}
}

// serverError reads the number, the state and the message of an error.
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
