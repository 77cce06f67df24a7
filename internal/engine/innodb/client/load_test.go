// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// fileServer asks for the file of one LOAD DATA and answers, over a pipe.
type fileServer struct {
	conn net.Conn
	// statement and file are what it was sent.
	statement, file []byte
	// packets of the file, its end included.
	packets int
	err     error
}

// packet reads a packet and checks its number.
func (s *fileServer) packet(sequence byte) []byte {
	var header [mysqlwire.HeaderSize]byte
	if _, err := io.ReadFull(s.conn, header[:]); err != nil {
		s.err = errors.Join(s.err, err)
		return nil
	}
	payload := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	_, err := io.ReadFull(s.conn, payload)
	if header[3] != sequence {
		err = errors.Join(err, fmt.Errorf("packet %d has the number %d", sequence, header[3]))
	}
	s.err = errors.Join(s.err, err)
	return payload
}

func (s *fileServer) answer(sequence byte, payload []byte) {
	_, err := s.conn.Write(append([]byte{byte(len(payload)), byte(len(payload) >> 8), 0, sequence}, payload...))
	s.err = errors.Join(s.err, err)
}

// serve answers the statement with request, and the file with end.
func (s *fileServer) serve(request, end []byte) {
	s.statement = s.packet(0)
	s.answer(1, request)
	if request[0] != mysqlwire.KindFile {
		return
	}
	for sequence := byte(2); s.err == nil; sequence++ {
		part := s.packet(sequence)
		s.packets++
		s.file = append(s.file, part...)
		if len(part) == 0 {
			s.answer(sequence+1, end)
			return
		}
	}
}

func TestLoad(t *testing.T) {
	request := append([]byte{mysqlwire.KindFile}, "benchrun"...)
	refusal := append([]byte{mysqlwire.KindError, 0x26, 0x04, '#'}, "42000no such table"...)
	broken := errors.New("the disk is gone")
	long := strings.Repeat("0123456789abcdef", 10<<10) // two and a half packets
	for name, tc := range map[string]struct {
		request, end   []byte
		data           io.Reader
		file           string
		packets        int
		rows, warnings int64
		err            string
	}{
		"a file":        {request, []byte{mysqlwire.KindOK, 2, 0, 2, 0, 0, 0}, strings.NewReader("a\nb\n"), "a\nb\n", 2, 2, 0, ""},
		"an empty file": {request, []byte{mysqlwire.KindOK, 0, 0, 2, 0, 0, 0}, strings.NewReader(""), "", 1, 0, 0, ""},
		"three packets": {request, []byte{mysqlwire.KindOK, 1, 0, 2, 0, 0, 0}, strings.NewReader(long), long, 4, 1, 0, ""},
		"more packets than there are numbers": {
			request, []byte{mysqlwire.KindOK, 1, 0, 2, 0, 0, 0}, iotest.OneByteReader(strings.NewReader(long[:600])), long[:600], 601, 1, 0, "",
		},
		"the last bytes come with the end": {
			request, []byte{mysqlwire.KindOK, 1, 0, 2, 0, 0, 0}, iotest.DataErrReader(strings.NewReader("ab")), "ab", 2, 1, 0, "",
		},
		"many rows, with warnings": {
			request, []byte{mysqlwire.KindOK, 0xfc, 0x34, 0x12, 0, 2, 0, 0x01, 0x02}, strings.NewReader("a"), "a", 2, 0x1234, 0x0201, "",
		},
		"very many rows": {
			request,
			[]byte{mysqlwire.KindOK, 0xfe, 1, 2, 3, 4, 5, 0, 0, 0, 0xfd, 1, 1, 1, 2, 0, 7, 0},
			strings.NewReader("a"), "a", 2,
			0x0504030201, 7, "",
		},
		"the server refuses the statement": {refusal, nil, strings.NewReader("a"), "", 0, 0, 0, "no such table"},
		"the server refuses the file":      {request, refusal, strings.NewReader("a"), "a", 2, 0, 0, "no such table"},
		"the server wants no file":         {[]byte{mysqlwire.KindOK, 0, 0, 0, 0, 0, 0}, nil, strings.NewReader("a"), "", 0, 0, 0, "asks for no file"},
		"the answer is cut":                {request, []byte{mysqlwire.KindOK, 0xfd, 1}, strings.NewReader("a"), "a", 2, 0, 0, "too short"},
		"the file breaks": {
			request,
			[]byte{mysqlwire.KindOK, 1, 0, 2, 0, 0, 0},
			io.MultiReader(strings.NewReader("a"), iotest.ErrReader(broken)), "a", 2, 0, 0,
			broken.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			server := &fileServer{conn: theirs}
			done := make(chan struct{})
			go func() {
				defer close(done)
				server.serve(tc.request, tc.end)
			}()
			e := newExchange(ours, nil)
			rows, warnings, err := e.load([]byte("LOAD"), tc.data)
			<-done
			if server.err != nil {
				t.Fatal(server.err)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if rows != tc.rows || warnings != tc.warnings || server.packets != tc.packets {
				t.Errorf("%d rows, %d warnings, %d packets", rows, warnings, server.packets)
			}
			if string(server.statement) != "\x03LOAD" || !bytes.Equal(server.file, []byte(tc.file)) {
				t.Errorf("the server got %q and %d bytes, want %d", server.statement, len(server.file), len(tc.file))
			}
		})
	}
}

// A connection that ends while a file is sent ends the load.
func TestLoadOverALostConnection(t *testing.T) {
	ours, theirs := net.Pipe()
	server := &fileServer{conn: theirs}
	go func() {
		server.packet(0)
		server.answer(1, []byte{mysqlwire.KindFile})
		server.packet(2)
		_ = theirs.Close()
	}()
	e := newExchange(ours, nil)
	if _, _, err := e.load([]byte("LOAD"), iotest.OneByteReader(strings.NewReader("abc"))); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
	ours, theirs = net.Pipe()
	go func() {
		server := &fileServer{conn: theirs}
		server.packet(0)
		_ = theirs.Close()
	}()
	e = newExchange(ours, nil)
	if _, _, err := e.load([]byte("LOAD"), strings.NewReader("a")); !errors.Is(err, mysql.ErrInvalidConn) {
		t.Errorf("error %v", err)
	}
}

const (
	// statement 0x01020304 has two placeholders and no columns.
	preparedTwo = "\x0c\x00\x00\x01\x00\x04\x03\x02\x01\x00\x00\x02\x00\x00\x00\x00"
	description = "\x04\x00\x00\x02\x03def"
	end         = "\x05\x00\x00\x04\xfe\x00\x00\x02\x00"
	allWell     = "\x07\x00\x00\x01\x00\x02\x00\x02\x00\x00\x00"
)

func TestPrepare(t *testing.T) {
	types := []mysqlwire.Type{mysqlwire.TypeInt, mysqlwire.TypeUnsignedBigInt}
	for name, tc := range map[string]struct {
		agreed  agreement
		rows    int64
		answers []string
		want    *mysqlwire.Execution
		err     string
	}{
		"for one row": {
			agreement{},
			1,
			[]string{preparedTwo, description, description, end},
			&mysqlwire.Execution{
				First: []byte("\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x00\x01\x03\x00\x08\x80"),
				Later: []byte("\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x00\x00"),
			}, "",
		},
		"for five rows, whose placeholders take two bytes, and without an end": {
			agreement{endless: true},
			5,
			[]string{preparedTwo[:7], preparedTwo[7:] + description + description[:2], description[2:]},
			&mysqlwire.Execution{
				First: []byte("\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x00\x00\x01" + strings.Repeat("\x03\x00\x08\x80", 5)),
				Later: []byte("\x17\x04\x03\x02\x01\x00\x01\x00\x00\x00\x00\x00\x00"),
			}, "",
		},
		"for any number of rows": {
			agreement{bulk: true},
			0,
			[]string{preparedTwo, description, description, end},
			&mysqlwire.Execution{
				First: []byte("\xfa\x04\x03\x02\x01\x80\x00\x03\x00\x08\x80"), Later: []byte("\xfa\x04\x03\x02\x01\x00\x00"),
			}, "",
		},
		"without the bulk protocol": {agreement{version: "8.4.3"}, 0, nil, nil, "protocol Bulk needs MariaDB 10.2 or newer; this server is 8.4.3"},
		"a statement that is wrong": {
			agreement{}, 1, []string{"\x1a\x00\x00\x01\xff\x7a\x04#42S02no such table 'x'"}, nil, "Error 1146 (42S02): no such table 'x'",
		},
		"a query": {
			agreement{}, 1, []string{
				strings.Replace(preparedTwo, "\x01\x00\x00", "\x01\x01\x00", 1), description, description, end, description, end,
			}, nil, "that returns rows",
		},
		"half an answer":            {agreement{}, 1, []string{preparedTwo[:9]}, nil, mysql.ErrInvalidConn.Error()},
		"an answer without its end": {agreement{}, 1, []string{preparedTwo, description, description}, nil, mysql.ErrInvalidConn.Error()},
		"nothing":                   {agreement{}, 1, []string{"\x00\x00\x00\x01"}, nil, "the server's answer is empty"},
	} {
		out := &tape{answers: tc.answers}
		s := &mySession{below: newExchange(out, nil), agreed: tc.agreed}
		got, err := s.Prepare(workload.Prepared{SQL: "INSERT …", Types: types, Rows: tc.rows})
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%s: error %v, want %q", name, err, tc.err)
		}
		must.Same(t, name, tc.want, got)
		if sent := out.written.String(); tc.answers != nil && sent != "\x0b\x00\x00\x00\x16INSERT …" {
			t.Errorf("%s: sent %q", name, sent)
		}
		if tc.err == "" && len(out.answers) > 0 {
			t.Errorf("%s: %q is left of the answer", name, out.answers)
		}
	}
}

// An execution is sent as a command of its own, and the client works meanwhile.
func TestExecuteWhile(t *testing.T) {
	out := &tape{answers: []string{allWell}}
	s := &mySession{below: newExchange(out, nil)}
	execution := []byte("\xfa\x04\x03\x02\x01\x00\x00values")
	worked := false
	_, err := s.ExecuteWhile(execution, func() {
		worked = len(out.answers) == 1
		clear(execution)
	})
	if err != nil || !worked {
		t.Errorf("%v, worked %v", err, worked)
	}
	must.Same(t, "sent", "\x0d\x00\x00\x00\xfa\x04\x03\x02\x01\x00\x00values", out.written.String())
}

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
	refused := "\x1a\x00\x00\x01\xff\x7a\x04#42S02no such table 'x'"
	for name, tc := range map[string]struct {
		answers []string
		want    string
	}{
		"ok":                    {[]string{allWell}, ""},
		"an error":              {[]string{refused}, "Error 1146 (42S02): no such table 'x'"},
		"an error before login": {[]string{"\x06\x00\x00\x01\xff\x10\x04Too"}, "Error 1040: Too"},
		"rows":                  {[]string{"\x01\x00\x00\x01\x02"}, "as to a query"},
		"nothing":               {nil, mysql.ErrInvalidConn.Error()},
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

func TestNothingIsAllocatedForAStatement(t *testing.T) {
	const rows = "\x01\x00\x00\x01\x01" + "\x04\x00\x00\x02\x03def" + "\x02\x00\x00\x03\x011" + "\x07\x00\x00\x04\xfe\x00\x00\x02\x00\x00\x00"
	out := &tape{}
	s := &mySession{below: newExchange(out, nil), agreed: agreement{endless: true}}
	statement, nothing := make([]byte, 100_000), func() {}
	for name, tc := range map[string]struct {
		answers []string
		do      func() error
	}{
		"a statement": {[]string{allWell}, func() error { return s.Exec(statement) }},
		"an execution": {[]string{allWell}, func() error {
			_, err := s.ExecuteWhile(statement, nothing)
			return err
		}},
		"a query": {[]string{rows}, func() error {
			n, err := s.Fetch(statement)
			if n != 1 {
				t.Errorf("%d rows", n)
			}
			return err
		}},
	} {
		if allocs := testing.AllocsPerRun(100, func() {
			out.written.Reset()
			out.answers = tc.answers
			if err := tc.do(); err != nil {
				t.Error(err)
			}
		}); allocs != 0 {
			t.Errorf("%g allocations for %s", allocs, name)
		}
	}
}
