// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// tape is a connection that keeps what is written and plays answers.
type tape struct {
	net.Conn
	written bytes.Buffer
	answers []string
}

func (t *tape) Write(p []byte) (int, error) { return t.written.Write(p) }

func (t *tape) Read(p []byte) (int, error) {
	if len(t.answers) == 0 {
		return 0, io.EOF
	}
	n := copy(p, t.answers[0])
	t.answers = t.answers[1:]
	return n, nil
}

// TestExchangeSends reads what was sent back as a server does, at the lengths where something changes.
func TestExchangeSends(t *testing.T) {
	for _, length := range []int{
		0, 1, shortStatement, shortStatement + 1, mysqlwire.MaxPayload - 2, mysqlwire.MaxPayload - 1, mysqlwire.MaxPayload, 2*mysqlwire.MaxPayload - 1, 2*mysqlwire.MaxPayload + 5,
	} {
		statement := bytes.Repeat([]byte("0123456789abcdef"), length/16+1)[:length]
		out := &tape{}
		e := newExchange(out, nil)
		must.Do(t, e.send(mysqlwire.CommandQuery, statement))
		var payload []byte
		rest := out.written.Bytes()
		for sequence := byte(0); ; sequence++ {
			size := int(rest[0]) | int(rest[1])<<8 | int(rest[2])<<16
			if rest[3] != sequence {
				t.Fatalf("%d bytes: packet %d has the number %d", length, sequence, rest[3])
			}
			payload = append(payload, rest[mysqlwire.HeaderSize:mysqlwire.HeaderSize+size]...)
			rest = rest[mysqlwire.HeaderSize+size:]
			if size < mysqlwire.MaxPayload {
				break
			}
		}
		if len(rest) > 0 || payload[0] != mysqlwire.CommandQuery || !bytes.Equal(payload[1:], statement) {
			t.Errorf("%d bytes: %d of %d arrive, %d too many", length, len(payload)-1, length, len(rest))
		}
	}
}

func TestExchangeReceives(t *testing.T) {
	const ok = "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00"
	refused := "\x1a\x00\x00\x01\xff\x7a\x04#42S02no such table 'x'"
	for name, tc := range map[string]struct {
		answers []string
		want    string
	}{
		"ok":                    {[]string{ok}, ""},
		"ok in pieces":          {[]string{ok[:2], ok[2:5], ok[5:]}, ""},
		"an error":              {[]string{refused}, "Error 1146 (42S02): no such table 'x'"},
		"an error in pieces":    {[]string{refused[:5], refused[5:]}, "Error 1146 (42S02): no such table 'x'"},
		"an error before login": {[]string{"\x06\x00\x00\x01\xff\x10\x04Too"}, "Error 1040: Too"},
		"rows":                  {[]string{"\x01\x00\x00\x01\x02"}, "as to a query"},
		"nothing":               {nil, mysql.ErrInvalidConn.Error()},
		"an empty packet":       {[]string{"\x00\x00\x00\x01"}, "the server's answer is empty"},
		"half":                  {[]string{ok[:6]}, mysql.ErrInvalidConn.Error()},
		"far too much":          {[]string{"\xff\xff\x00\x01\x00"}, "which no statement without a result set has"},
		"an error without end":  {[]string{"\x02\x00\x00\x01\xff\x01"}, "has no number"},
	} {
		e := newExchange(&tape{answers: tc.answers}, nil)
		err := e.receive()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	e := newExchange(&tape{answers: []string{refused}}, nil)
	if server, ok := errors.AsType[*mysql.MySQLError](e.receive()); !ok || server.Number != 1146 {
		t.Errorf("a refusal is not the server's error: %v", server)
	}
}

func TestExchangeDoesNotAllocate(t *testing.T) {
	const ok = "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00"
	out := &tape{}
	e := newExchange(out, nil)
	statement := make([]byte, 100_000)
	answers := []string{ok}
	allocs := testing.AllocsPerRun(100, func() {
		out.written.Reset()
		out.answers = answers
		if err := errors.Join(e.send(mysqlwire.CommandQuery, statement), e.receive()); err != nil {
			t.Error(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%g allocations for a statement", allocs)
	}
}

func TestExchangeFetchDoesNotAllocate(t *testing.T) {
	const rows = "\x01\x00\x00\x01\x01" + "\x04\x00\x00\x02\x03def" + "\x02\x00\x00\x03\x011" + "\x07\x00\x00\x04\xfe\x00\x00\x02\x00\x00\x00"
	out := &tape{}
	e := newExchange(out, nil)
	answers, statement := []string{rows}, []byte("SELECT 1")
	allocs := testing.AllocsPerRun(100, func() {
		out.written.Reset()
		out.answers = answers
		if err := e.send(mysqlwire.CommandQuery, statement); err != nil {
			t.Error(err)
		}
		if n, err := e.in.Rows(true); n != 1 || err != nil {
			t.Errorf("%d rows, %v", n, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%g allocations for a query", allocs)
	}
}
