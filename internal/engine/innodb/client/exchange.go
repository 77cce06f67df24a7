// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"errors"
	"io"
	"net"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
)

// exchange sends commands over a connection that the driver has opened, and reads their answers, as far as loading needs
// it: statements without a result set, and how many rows others return. The driver would copy each statement twice, into a new
// buffer if it is longer than 256 KiB, could not work while the server does, and would make a value of each column of each row.
type exchange struct {
	conn net.Conn
	// arrivals is the socket below, which notices when an answer comes while nothing is read; nil if there is none.
	arrivals *client.Socket
	// packet is for statements that are short enough to be sent together with their header, and for headers.
	packet []byte
	in     *mysqlwire.Reader
	// file is for the packets of LOAD DATA LOCAL, made when the first is sent.
	file []byte
}

// shortStatement is copied behind its header: that costs less than a second system call.
const shortStatement = 16 << 10

func newExchange(conn net.Conn, arrivals *client.Socket) *exchange {
	return &exchange{conn: conn, arrivals: arrivals, in: mysqlwire.NewReader(conn)}
}

// send sends a command with what belongs to it, a statement for example. These bytes may be reused afterwards.
func (e *exchange) send(command byte, statement []byte) error {
	size := min(1+len(statement), mysqlwire.MaxPayload)
	e.packet = append(mysqlwire.AppendHeader(e.packet[:0], size, 0), command)
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
		if size < mysqlwire.MaxPayload {
			return nil
		}
		size = min(len(statement), mysqlwire.MaxPayload)
		left = size
		e.packet = mysqlwire.AppendHeader(e.packet[:0], size, sequence)
		if _, err := e.conn.Write(e.packet); err != nil {
			return err
		}
	}
}

// ask sends a command, and waits for the first packet of its answer.
func (e *exchange) ask(command byte, statement []byte) ([]byte, error) {
	if err := e.send(command, statement); err != nil {
		return nil, err
	}
	return e.in.Packet()
}

func (e *exchange) receive() error {
	answer, err := e.in.Packet()
	if err != nil {
		return err
	}
	return mysqlwire.Done(answer)
}

// receiveEarlier is receive after work that may have taken longer than the server. It returns how long ago the answer came;
// known is false if it came before the call, at an unknown time.
func (e *exchange) receiveEarlier() (ago time.Duration, known bool, err error) {
	if e.arrivals == nil {
		return 0, false, e.receive()
	}
	e.arrivals.Expect()
	err = e.receive()
	ago, known = e.arrivals.Arrived()
	return ago, known, err
}

// prepare has a statement prepared. The server describes each placeholder, and each column of the rows that it returns, and ends
// either list unless it is endless.
func (e *exchange) prepare(sql string, endless bool) (mysqlwire.Prepared, error) {
	answer, err := e.ask(mysqlwire.CommandPrepare, []byte(sql))
	if err != nil {
		return mysqlwire.Prepared{}, err
	}
	prepared, err := mysqlwire.ReadPrepared(answer)
	if err != nil {
		return mysqlwire.Prepared{}, err
	}
	for _, descriptions := range []int{prepared.Placeholders, prepared.Columns} {
		if descriptions > 0 && !endless {
			descriptions++
		}
		for range descriptions {
			if _, err := e.in.Packet(); err != nil {
				return mysqlwire.Prepared{}, err
			}
		}
	}
	return prepared, nil
}

// load sends a statement, the file that the server then asks for, and returns what the server says about it.
func (e *exchange) load(statement []byte, data io.Reader) (rows, warnings int64, err error) {
	request, err := e.ask(mysqlwire.CommandQuery, statement)
	if err != nil {
		return 0, 0, err
	}
	if request[0] != mysqlwire.KindFile {
		return 0, 0, mysqlwire.Unexpected(request, "and asks for no file")
	}
	// The server goes on when the file's end has come, also if it is too early.
	readErr, err := e.sendFile(data)
	if err != nil {
		return 0, 0, err
	}
	answer, err := e.in.Packet()
	if err != nil {
		return 0, 0, err
	}
	if readErr != nil {
		return 0, 0, readErr
	}
	return mysqlwire.ReadChanged(answer)
}

// filePacket is how much of a file is sent at once: a quarter of the system calls that the driver and the server's own
// client make, and far below any max_allowed_packet in use.
const filePacket = 64 << 10

// sendFile sends data in packets, and an empty one as its end. The reader's error is apart from the connection's.
func (e *exchange) sendFile(data io.Reader) (readErr, err error) {
	if e.file == nil {
		e.file = make([]byte, mysqlwire.HeaderSize+filePacket)
	}
	// The statement's packet was number 0, the server's request number 1.
	for sequence := byte(2); ; sequence++ {
		n, readErr := io.ReadAtLeast(data, e.file[mysqlwire.HeaderSize:], 1)
		mysqlwire.AppendHeader(e.file[:0], n, sequence)
		if _, err := e.conn.Write(e.file[:mysqlwire.HeaderSize+n]); err != nil {
			return nil, err
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return nil, nil
		case readErr != nil:
			return readErr, nil
		}
	}
}

// Sink is a connection to no server: it greets as a server does, swallows each packet and answers that all is well.
type Sink struct {
	net.Conn // none: its deadlines, which nobody sets
	// Bytes that it was sent.
	Bytes int64
	// left of the packet that is being written, and its number in its statement.
	left     int
	sequence byte
	// size of that packet; more packets of the same statement follow one of the largest size.
	size int
	more bool
	// loading is when the packets of a file come, the last of which is empty.
	loading bool
	// file says that the statement asks for one, prepares that it is one to prepare.
	file, prepares bool
	// answer is what is still to be read.
	answer []byte
}

// NewSink returns a connection over which the server has greeted: one that executes prepared statements for many rows at once.
func NewSink() *Sink {
	g := mysqlwire.Greeting{Version: "11.8.0-noop", Capabilities: mysqlwire.Plain, Own: mysqlwire.OwnBulk}
	return &Sink{answer: g.AppendPacket(nil)}
}

// Write implements net.Conn. Headers are written in one piece.
func (s *Sink) Write(p []byte) (int, error) {
	s.Bytes += int64(len(p))
	for rest := p; len(rest) > 0 || s.left == 0; {
		if s.left == 0 {
			if len(rest) < mysqlwire.HeaderSize {
				return 0, errors.New("a packet without its header")
			}
			s.left, s.sequence = mysqlwire.ReadHeader(rest)
			s.size, s.more = s.left, s.left == mysqlwire.MaxPayload
			rest = rest[mysqlwire.HeaderSize:]
			s.file = !s.loading && bytes.HasPrefix(rest, loadStatement)
			s.prepares = !s.loading && len(rest) > 0 && rest[0] == mysqlwire.CommandPrepare
		}
		n := min(s.left, len(rest))
		s.left, rest = s.left-n, rest[n:]
		if s.left > 0 {
			break
		}
		s.reply()
		if len(rest) == 0 {
			break
		}
	}
	return len(p), nil
}

var loadStatement = append([]byte{mysqlwire.CommandQuery}, "LOAD DATA LOCAL"...)

// reply answers the packet that has come in whole, if an answer is due.
func (s *Sink) reply() {
	switch {
	case s.more || s.loading && s.size > 0:
		return
	case s.file:
		// The file of no name.
		s.answer = append(mysqlwire.AppendHeader(s.answer, 1, s.sequence+1), mysqlwire.KindFile)
	case s.prepares:
		s.answer = mysqlwire.AppendPrepared(s.answer, s.sequence+1)
	default:
		s.answer = mysqlwire.AppendOK(s.answer, s.sequence+1)
	}
	s.loading = s.file
}

func (s *Sink) Read(p []byte) (int, error) {
	if len(s.answer) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.answer)
	s.answer = append(s.answer[:0], s.answer[n:]...)
	return n, nil
}

// Close implements net.Conn.
func (s *Sink) Close() error { return nil }

// LocalAddr implements net.Conn.
func (s *Sink) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (s *Sink) RemoteAddr() net.Addr { return &net.TCPAddr{} }
