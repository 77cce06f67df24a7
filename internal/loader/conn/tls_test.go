// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"crypto/tls"
	"database/sql/driver"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// encryptingServer is a MariaDB that asks for a password, encrypts, and answers that all is well.
type encryptingServer struct {
	net.Listener
	certificates []tls.Certificate
	// request for encryption, with its header.
	request []byte
	// commands that came encrypted, but for the login.
	commands []string
	// answered gets an element when a statement was answered that begins with W.
	answered, ended chan struct{}
}

func newEncryptingServer(t *testing.T) (*encryptingServer, result.Server) {
	t.Helper()
	web := httptest.NewTLSServer(nil)
	t.Cleanup(web.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s := &encryptingServer{
		Listener: listener, certificates: web.TLS.Certificates, answered: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.serve(t)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("root"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s, result.Server{
		Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, UserFile: secret, PasswordFile: secret, TLS: result.TLSRequired,
	}
}

func (s *encryptingServer) serve(t *testing.T) {
	defer close(s.ended)
	raw, err := s.Accept()
	if err != nil {
		t.Error(err)
		return
	}
	defer raw.Close()
	const encrypts = 1 << 11
	g := mysqlwire.Greeting{
		Version: "11.8.3-MariaDB", Capabilities: mysqlwire.Plain | encrypts | mysqlwire.CapabilityEndless, Own: mysqlwire.OwnBulk,
	}
	_, _ = raw.Write(g.AppendPacket(nil))
	s.request, _ = wholePacket(raw)
	conn := tls.Server(raw, &tls.Config{Certificates: s.certificates, MinVersion: tls.VersionTLS13})
	if _, err := wholePacket(conn); err != nil {
		t.Error("login:", err)
		return
	}
	_, _ = conn.Write(mysqlwire.AppendOK(nil, 3))
	for {
		packet, err := wholePacket(conn)
		if err != nil {
			return
		}
		s.commands = append(s.commands, string(packet[mysqlwire.HeaderSize:]))
		answer := mysqlwire.AppendOK(nil, 1)
		if packet[mysqlwire.HeaderSize] == mysqlwire.CommandPrepare {
			answer = mysqlwire.AppendPrepared(nil, 1)
		}
		_, _ = conn.Write(answer)
		if strings.HasPrefix(string(packet[mysqlwire.HeaderSize:]), "\x03W") {
			s.answered <- struct{}{}
		}
	}
}

// wholePacket reads a packet with its header.
func wholePacket(from io.Reader) ([]byte, error) {
	header := make([]byte, mysqlwire.HeaderSize)
	if _, err := io.ReadFull(from, header); err != nil {
		return nil, err
	}
	size, _ := mysqlwire.ReadHeader(header)
	payload := make([]byte, size)
	_, err := io.ReadFull(from, payload)
	return slices.Concat(header, payload), err
}

// An encrypted session sends what a plain one sends, works while the server does, and knows when the answer came. That it finds
// the connection which the driver has encrypted is what another version of the driver may break.
func TestEncryptedSession(t *testing.T) {
	server, address := newEncryptingServer(t)
	c, err := New(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Session(t.Context(), "", []string{"SET x = 1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prepare(workload.Prepared{SQL: "INSERT", Types: []mysqlwire.Type{mysqlwire.TypeInt}}); err != nil {
		t.Error(err)
	}
	if _, err := s.ExecuteWhile([]byte{mysqlwire.CommandBulk, 'v'}, func() {}); err != nil {
		t.Error(err)
	}
	if n, err := s.ExecAffected([]byte("DELETE")); n != 0 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	observer := s.below.arrivals.(*socket)
	for range 100 {
		ago, err := s.ExecWhile([]byte("WORK"), func() {
			<-server.answered
			time.Sleep(work)
		})
		if err != nil {
			t.Fatal(err)
		}
		if observer.arrivals.noted {
			if ago < work {
				t.Errorf("the answer came %s ago, after it had been sent %s before", ago, work)
			}
			break
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-server.ended
	if own := server.request[mysqlwire.HeaderSize+28]; own&byte(mysqlwire.OwnBulk) == 0 {
		t.Errorf("the client asks for %#x of MariaDB's capabilities", own)
	}
	for _, want := range []string{"\x03SET x = 1", "\x16INSERT", "\xfav", "\x03DELETE", "\x03WORK"} {
		if !slices.Contains(server.commands, want) {
			t.Errorf("%q was not sent, but %q", want, server.commands)
		}
	}
}

// A driver that keeps its connection elsewhere, or has none, is an error and no panic.
func TestEncryptedConnectionNotFound(t *testing.T) {
	type otherwise struct {
		driver.Conn
		_ net.Conn
	}
	type another struct {
		driver.Conn
		netConn net.Conn
	}
	for _, conn := range []driver.Conn{nil, &otherwise{}, &another{}, &another{netConn: &net.TCPConn{}}} {
		if _, err := encrypted(conn); err == nil {
			t.Errorf("%T: no error", conn)
		}
	}
}
