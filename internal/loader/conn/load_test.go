// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

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

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
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
