// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
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
		"a MySQL, where the same bytes mean nothing": {
			"8.4.3", 1<<15 | mysqlBit, 1 << 15, 0x04, 0, 0, agreement{version: "8.4.3"},
		},
		"a client that has no room for it": {
			"11.8.3-MariaDB", 1 << 15, 1<<15 | mysqlBit, 0x04, 0, 0, agreement{version: "11.8.3-MariaDB"},
		},
	} {
		greeting := greetingOf(tc.version, tc.server, tc.own)
		out := &tape{answers: []string{greeting[:3], greeting[3:20], greeting[20:], "more"}}
		h := &handshake{Conn: out}
		read := make([]byte, 0, len(greeting))
		for len(read) < len(greeting) {
			n, err := h.Read(read[len(read):cap(read)])
			if err != nil {
				t.Fatal(err)
			}
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
