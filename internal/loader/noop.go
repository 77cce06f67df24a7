// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package loader

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// NoopReport is what a workload costs the loader without a server: everything but the network.
type NoopReport struct {
	Rows       int64 `json:"rows"`
	Statements int64 `json:"statements"`
	// Bytes that would have been sent.
	Bytes         int64   `json:"bytes"`
	Seconds       float64 `json:"seconds"`
	RowsPerSecond float64 `json:"rowsPerSecond"`
	// CPUMicrosPerRow is user and system time.
	CPUMicrosPerRow float64 `json:"cpuMicrosPerRow"`
	MaxRSSBytes     int64   `json:"maxRSSBytes"`
}

// Noop measures the loader itself: the workload, as JSON of a result.Workload, runs with its sessions and its recorder
// against a sink that swallows what it is sent and answers at once. limit ends it; 0 is when all rows are sent.
func Noop(ctx context.Context, workloadJSON string, seed int64, limit time.Duration) (*NoopReport, error) {
	cfg := &result.Config{Seed: seed}
	dec := json.NewDecoder(bytes.NewReader([]byte(workloadJSON)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&cfg.Workload); err != nil {
		return nil, fmt.Errorf("reading the workload: %w", err)
	}
	w, err := workload.New(cfg)
	if err != nil {
		return nil, err
	}
	planned, ok := w.(workload.Planned)
	if !ok {
		return nil, fmt.Errorf("workload %s needs a server to know its plan", cfg.Workload.Type)
	}
	plan := planned.Plan()
	if plan.Stage != nil {
		if err := plan.Stage(ctx); err != nil {
			return nil, err
		}
	}
	c := &clients{interrupt: func() {}}
	defer c.close()
	var sinks []*sink
	dial := func(context.Context, string, string) (net.Conn, error) {
		sinks = append(sinks, newSink())
		return sinks[len(sinks)-1], nil
	}
	connections, err := newConnectionsBy(mysql.NewConfig(), dial)
	if err != nil {
		return nil, err
	}
	for range plan.Clients {
		s, err := newSession(ctx, connections, "noop", plan.Setup)
		if err != nil {
			return nil, err
		}
		c.sessions = append(c.sessions, s)
	}
	out := startProgress(io.Discard)
	defer out.finish()
	var measured *recorder
	facts, err := timed(ctx, len(c.sessions), nil, func(start time.Time) error {
		measured, _, err = c.run(ctx, w, start, limit, out)
		return err
	})
	if err != nil {
		return nil, err
	}
	return noopReport(measured, facts, sinks), nil
}

func noopReport(measured *recorder, facts result.ClientFacts, sinks []*sink) *NoopReport {
	t := measured.totals
	r := &NoopReport{
		Rows: t.Rows, Statements: t.Statements, Seconds: max(measured.ended, time.Microsecond).Seconds(),
		CPUMicrosPerRow: float64(facts.UserMicros+facts.SystemMicros) / float64(max(t.Rows, 1)), MaxRSSBytes: facts.MaxRSSBytes,
	}
	r.RowsPerSecond = float64(t.Rows) / r.Seconds
	for _, s := range sinks {
		r.Bytes += s.bytes
	}
	return r
}

// sink is a connection to nobody: it greets as a server does, swallows each packet and answers that all is well.
type sink struct {
	bytes int64
	// left of the packet that is being written, and its number in its statement.
	left     int
	sequence byte
	// size of that packet; more packets of the same statement follow one of the largest size.
	size int
	more bool
	// loading is when the packets of a file come, the last of which is empty.
	loading bool
	// file says that the statement asks for one.
	file bool
	// answer is what is still to be read.
	answer []byte
}

func newSink() *sink { return &sink{answer: greeting()} }

// greeting is a server's first packet: protocol 10, a password is asked for by a challenge of 20 bytes.
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
	p = append(append(p, make([]byte, 10)...), "123456789012\x00mysql_native_password\x00"...)
	return append(appendHeader(nil, len(p), 0), p...)
}

// Write implements net.Conn. Headers are written in one piece.
func (s *sink) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	for rest := p; len(rest) > 0 || s.left == 0; {
		if s.left == 0 {
			if len(rest) < packetHeader {
				return 0, errors.New("a packet without its header")
			}
			s.left = int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
			s.size, s.more, s.sequence = s.left, s.left == maxPacketSize, rest[3]
			rest = rest[packetHeader:]
			s.file = !s.loading && bytes.HasPrefix(rest, loadStatement)
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
func (s *sink) reply() {
	switch {
	case s.more || s.loading && s.size > 0:
		return
	case s.file:
		// The file of no name.
		s.answer = append(s.answer, 1, 0, 0, s.sequence+1, answerFile)
	default:
		// OK: nothing changed, no id, autocommit, no warning.
		s.answer = append(s.answer, 7, 0, 0, s.sequence+1, 0, 0, 0, 2, 0, 0, 0)
	}
	s.loading = s.file
}

// Read implements net.Conn.
func (s *sink) Read(p []byte) (int, error) {
	if len(s.answer) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.answer)
	s.answer = append(s.answer[:0], s.answer[n:]...)
	return n, nil
}

// Close implements net.Conn.
func (s *sink) Close() error { return nil }

// LocalAddr implements net.Conn.
func (s *sink) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (s *sink) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetDeadline implements net.Conn.
func (s *sink) SetDeadline(time.Time) error { return os.ErrNoDeadline }

// SetReadDeadline implements net.Conn.
func (s *sink) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }

// SetWriteDeadline implements net.Conn.
func (s *sink) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
