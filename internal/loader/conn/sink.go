// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
)

// Sink is a connection to nobody: it greets as a server does, swallows each packet and answers that all is well.
type Sink struct {
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

// loadStatement is how a statement begins that comes with a file.
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

// Read implements net.Conn.
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

// SetDeadline implements net.Conn.
func (s *Sink) SetDeadline(time.Time) error { return os.ErrNoDeadline }

// SetReadDeadline implements net.Conn.
func (s *Sink) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }

// SetWriteDeadline implements net.Conn.
func (s *Sink) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
