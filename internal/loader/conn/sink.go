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

// NewSink returns a connection over which the server has greeted.
func NewSink() *Sink { return &Sink{answer: greeting()} }

// greeting is a server's first packet: protocol 10, a password is asked for by a challenge of 20 bytes, and prepared statements
// can be executed for many rows at once.
func greeting() []byte {
	const (
		longFlag, withSchema, protocol41, transactions = 1 << 2, 1 << 3, 1 << 9, 1 << 13
		challenge, authPlugins                         = 1 << 15, 1 << 19
		capabilities                                   = longFlag | withSchema | protocol41 | transactions | challenge | authPlugins
		utf8mb4, autocommit                            = 45, 2
	)
	p := append([]byte{10}, "11.8.0-noop\x00"...)
	p = append(p, 1, 0, 0, 0)
	p = append(append(p, "12345678"...), 0)
	p = append(p, capabilities&0xff, capabilities>>8&0xff, utf8mb4, autocommit, 0, capabilities>>16, 0, 21)
	p = append(append(p, make([]byte, 6)...), bulkOperations, 0, 0, 0)
	p = append(p, "123456789012\x00mysql_native_password\x00"...)
	return append(appendHeader(nil, len(p), 0), p...)
}

// Write implements net.Conn. Headers are written in one piece.
func (s *Sink) Write(p []byte) (int, error) {
	s.Bytes += int64(len(p))
	for rest := p; len(rest) > 0 || s.left == 0; {
		if s.left == 0 {
			if len(rest) < packetHeader {
				return 0, errors.New("a packet without its header")
			}
			s.left = int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
			s.size, s.more, s.sequence = s.left, s.left == maxPacketSize, rest[3]
			rest = rest[packetHeader:]
			s.file = !s.loading && bytes.HasPrefix(rest, loadStatement)
			s.prepares = !s.loading && len(rest) > 0 && rest[0] == commandPrepare
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
var loadStatement = append([]byte{commandQuery}, "LOAD DATA LOCAL"...)

// reply answers the packet that has come in whole, if an answer is due.
func (s *Sink) reply() {
	switch {
	case s.more || s.loading && s.size > 0:
		return
	case s.file:
		// The file of no name.
		s.answer = append(s.answer, 1, 0, 0, s.sequence+1, answerFile)
	case s.prepares:
		// OK: statement 1, without columns and without placeholders to describe.
		s.answer = append(s.answer, 12, 0, 0, s.sequence+1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	default:
		// OK: nothing changed, no id, autocommit, no warning.
		s.answer = append(s.answer, 7, 0, 0, s.sequence+1, 0, 0, 0, 2, 0, 0, 0)
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
