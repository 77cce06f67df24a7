// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"crypto/tls"
	"database/sql/driver"
	"encoding/binary"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/engine/client"
	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload"
)

// greetingOf is a server's first packet.
func greetingOf(version string, capabilities uint32, own byte) string {
	p := append(append([]byte{10}, version...), 0)
	p = append(append(p, 1, 0, 0, 0), "12345678\x00"...)
	p = binary.LittleEndian.AppendUint16(p, uint16(capabilities))
	p = binary.LittleEndian.AppendUint16(append(p, 45, 2, 0), uint16(capabilities>>16))
	p = append(append(p, 21), make([]byte, 6)...)
	p = append(append(p, own, 0, 0, 0), "123456789012\x00mysql_native_password\x00"...)
	return string(append(mysqlwire.AppendHeader(nil, len(p), 0), p...))
}

// loginOf is the driver's first packet.
func loginOf(capabilities uint32, own byte) []byte {
	p := binary.LittleEndian.AppendUint32(nil, capabilities)
	p = append(append(p, 0, 0, 0, 0, 45), make([]byte, 19)...)
	p = append(append(p, own, 0, 0, 0), "root\x00\x00"...)
	return append(mysqlwire.AppendHeader(nil, len(p), 1), p...)
}

// The driver's first packet asks for the bulk protocol where a MariaDB offers it, and is otherwise what the driver made of it.
func TestHandshake(t *testing.T) {
	const mysqlBit, cache = 1, 1 << 4
	for name, tc := range map[string]struct {
		version               string
		server, client        uint32
		own, requested, wants byte
		want                  agreement
	}{
		"a MariaDB with all of it": {
			"11.8.3-MariaDB-log", 1<<24 | 1<<15, 1<<24 | 1<<15, 0x1d, cache, cache | byte(mysqlwire.OwnBulk),
			agreement{version: "11.8.3-MariaDB-log", bulk: true, endless: true},
		},
		"one that ends lists": {
			"5.5.5-10.3.39-MariaDB", 1 << 15, 1 << 15, 0x04, 0, byte(mysqlwire.OwnBulk), agreement{version: "10.3.39-MariaDB", bulk: true},
		},
		"an old one": {"5.5.5-10.1.48-MariaDB", 1 << 15, 1 << 15, 0, 0, 0, agreement{version: "10.1.48-MariaDB"}},
		"a MySQL":    {"8.4.3", 1<<24 | mysqlBit, 1<<24 | mysqlBit, 0x04, 0, 0, agreement{version: "8.4.3", endless: true}},
		"a MySQL, where the same bytes mean nothing": {"8.4.3", 1<<15 | mysqlBit, 1 << 15, 0x04, 0, 0, agreement{version: "8.4.3"}},
		"a client that has no room for it":           {"11.8.3-MariaDB", 1 << 15, 1<<15 | mysqlBit, 0x04, 0, 0, agreement{version: "11.8.3-MariaDB"}},
	} {
		greeting := greetingOf(tc.version, tc.server, tc.own)
		out := &tape{answers: []string{greeting[:3], greeting[3:20], greeting[20:], "more"}}
		h := &handshake{Conn: out}
		read := make([]byte, 0, len(greeting))
		for len(read) < len(greeting) {
			n := must.Get(h.Read(read[len(read):cap(read)]))(t)
			read = read[:len(read)+n]
		}
		login := loginOf(tc.client, tc.requested)
		before := bytes.Clone(login)
		if n, err := h.Write(login); err != nil || n != len(login) || !bytes.Equal(login, before) {
			t.Errorf("%s: %d bytes written, %v; the driver's buffer is %x", name, n, err, login)
		}
		if got := out.written.Bytes(); !bytes.Equal(got, loginOf(tc.client, tc.wants)) || string(read) != greeting {
			t.Errorf("%s: sent %x", name, got)
		}
		if h.agreement != tc.want {
			t.Errorf("%s: %+v", name, h.agreement)
		}
		// Nothing is changed afterwards.
		out.written.Reset()
		if _, err := h.Write(login); err != nil || !bytes.Equal(out.written.Bytes(), login) {
			t.Errorf("%s: the second packet is sent as %x", name, out.written.Bytes())
		}
	}
}

// Whatever a server says, the driver gets to see it.
func TestHandshakeWithoutAGreeting(t *testing.T) {
	for _, answer := range []string{
		"\x17\x00\x00\x00\xff\x10\x04Too many connections", "\x01\x00\x00\x00\x0a", "\x00\x00\x00\x00", "\x05\x00\x00\x00\x0a8.4\x00", "HTTP",
	} {
		h := &handshake{Conn: &tape{answers: []string{answer}}}
		got := make([]byte, 100)
		n, err := h.Read(got)
		if err != nil || string(got[:n]) != answer || h.bulk {
			t.Errorf("%q is read as %q, %v", answer, got[:n], err)
		}
		if _, err := h.Read(got); err != io.EOF { //nolint:errorlint // as io.Reader says
			t.Errorf("%q: %v", answer, err)
		}
	}
}

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
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	s := &encryptingServer{
		Listener: listener, certificates: web.TLS.Certificates, answered: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.serve(t)
	return s, result.Server{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, TLS: result.TLSRequired}
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
	c := must.Get(New(address, "u", "p"))(t)
	s := must.Get(c.Session(t.Context(), "", []string{"SET x = 1"}))(t).(*mySession)
	if _, err := s.Prepare(workload.Prepared{SQL: "INSERT", Types: []mysqlwire.Type{mysqlwire.TypeInt}}); err != nil {
		t.Error(err)
	}
	if _, err := s.ExecuteWhile([]byte{mysqlwire.CommandBulk, 'v'}, func() {}); err != nil {
		t.Error(err)
	}
	if n, err := s.ExecAffected([]byte("DELETE")); n != 0 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	observer := s.below.arrivals
	for range 100 {
		ago, err := s.ExecWhile([]byte("WORK"), func() {
			<-server.answered
			time.Sleep(work)
		})
		must.Do(t, err)
		if observer.Noted() {
			if ago < work {
				t.Errorf("the answer came %s ago, after it had been sent %s before", ago, work)
			}
			break
		}
	}
	must.Do(t, s.Close())
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

// socketPair is a socket and the other end of its connection.
func socketPair(t testing.TB) (*client.Socket, net.Conn) {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	s := must.Get(new(client.Open).Dial(t.Context(), "tcp", listener.Addr().String()))(t).(*client.Socket)
	peer := must.Get(listener.Accept())(t)
	t.Cleanup(func() { peer.Close() })
	return s, peer
}

// okAnswer says that all is well.
const okAnswer = "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00"

// answering is a session over a socket whose other end answers each statement at once.
type answering struct {
	*mySession
	socket *client.Socket
	// answered gets an element when an answer was sent.
	answered chan struct{}
}

func newAnswering(t *testing.T) *answering {
	t.Helper()
	s, peer := socketPair(t)
	a := &answering{mySession: &mySession{below: newExchange(s, s)}, socket: s, answered: make(chan struct{})}
	go a.answer(peer)
	t.Cleanup(func() { _ = s.Close() })
	return a
}

func (a *answering) answer(peer net.Conn) {
	statement := make([]byte, 100)
	for {
		if _, err := peer.Read(statement); err != nil {
			return
		}
		if _, err := peer.Write([]byte(okAnswer)); err != nil {
			return
		}
		a.answered <- struct{}{}
	}
}

// work is how long the client does something else after the answer was sent.
const work = 5 * time.Millisecond

// exec executes a statement and works on for a while after its answer was sent. It returns how long ago that is said to have
// come, and how long the whole took.
func (a *answering) exec(t *testing.T) (ago, all time.Duration) {
	t.Helper()
	began := time.Now()
	ago, err := a.ExecWhile([]byte("INSERT"), func() {
		<-a.answered
		time.Sleep(work)
	})
	must.Do(t, err)
	return ago, time.Since(began)
}

// An answer comes when the kernel has it, and not when the client has time for it.
func TestArrivalBeforeTheClientHasTime(t *testing.T) {
	a := newAnswering(t)
	a.socket.Measure()
	// The kernel begins to note times a moment after it was asked to.
	for range 100 {
		if a.exec(t); a.socket.Noted() {
			break
		}
	}
	late := a.LateAnswers()
	for range 3 {
		if ago, all := a.exec(t); ago < work || ago > all {
			t.Errorf("the answer came %s ago, after it had been sent %s before; the whole took %s", ago, work, all)
		}
	}
	must.Same(t, "answers of which it is not known when they came", late, a.LateAnswers())
}

// Where the kernel notes no times, answers that came while the client worked are counted.
func TestArrivalUnknown(t *testing.T) {
	a := newAnswering(t)
	for n := range int64(3) {
		if ago, _ := a.exec(t); ago != 0 || a.LateAnswers() != n+1 {
			t.Errorf("the answer came %s ago; %d of %d are late", ago, a.LateAnswers(), n+1)
		}
	}
}
