// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
)

const (
	okPacket    = "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00"
	errorPacket = "\x1a\x00\x00\x01\xff\x7a\x04#42S02no such table 'x'"
)

func TestHeader(t *testing.T) {
	for _, size := range []int{0, 1, 0x1234, 0xabcdef, MaxPayload} {
		p := AppendHeader(nil, size, 7)
		if got, sequence := ReadHeader(p); got != size || sequence != 7 || len(p) != HeaderSize {
			t.Errorf("%d bytes of packet 7 are read as %d of %d from %x", size, got, sequence, p)
		}
	}
}

// Packets come apart as they were sent, however they arrive: together, or a byte at a time.
func TestReader(t *testing.T) {
	long := string(AppendHeader(nil, 3000, 2)) + strings.Repeat("l", 3000)
	sent := okPacket + errorPacket + strings.Repeat(long, 3) + okPacket
	want := []string{okPacket, errorPacket, long, long, long, okPacket}
	for name, from := range map[string]io.Reader{
		"together": strings.NewReader(sent), "a byte at a time": iotest.OneByteReader(strings.NewReader(sent)),
		"with the end": iotest.DataErrReader(strings.NewReader(sent)), "in halves": iotest.HalfReader(strings.NewReader(sent)),
	} {
		r := NewReader(from)
		for i, packet := range want {
			if got, err := r.Packet(); err != nil || string(got) != packet[HeaderSize:] {
				t.Errorf("%s: packet %d is %q, %v", name, i, got, err)
			}
		}
		if _, err := r.Packet(); !errors.Is(err, mysql.ErrInvalidConn) {
			t.Errorf("%s: after the end: %v", name, err)
		}
	}
}

// An empty packet is an error and not one to read a kind from.
func TestReaderRefuses(t *testing.T) {
	broken := errors.New("the network is gone")
	for name, tc := range map[string]struct {
		from io.Reader
		want string
	}{
		"nothing":          {strings.NewReader(""), mysql.ErrInvalidConn.Error()},
		"half a header":    {strings.NewReader(okPacket[:2]), mysql.ErrInvalidConn.Error()},
		"half a packet":    {strings.NewReader(okPacket[:6]), mysql.ErrInvalidConn.Error()},
		"an empty packet":  {strings.NewReader("\x00\x00\x00\x01"), "the server's answer is empty"},
		"far too much":     {strings.NewReader("\xff\xff\x00\x01\x00"), "65535 bytes, which no statement without a result set has"},
		"a broken network": {iotest.ErrReader(broken), broken.Error()},
	} {
		if _, err := NewReader(tc.from).Packet(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// FuzzReader reads whatever a server may send, as every kind of answer.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		okPacket, errorPacket, okPacket + errorPacket, "\x00\x00\x00\x01", "\x01\x00\x00\x01\xfb", "\x03\x00\x00\x01\xff\x01\x02",
		string(AppendPrepared(nil, 1)), string(Greeting{Version: "11.8", Capabilities: Plain, Own: OwnBulk}.AppendPacket(nil)),
		"\x0b\x00\x00\x01\x00\xfe\x01\x02\x03\x04\x05\x06\x07\x08\x00", "\x05\x00\x00\x01\x00\xfd\x01\x02\x03",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		whole, halves := NewReader(bytes.NewReader(sent)), NewReader(iotest.HalfReader(bytes.NewReader(sent)))
		for {
			payload, err := whole.Packet()
			same, sameErr := halves.Packet()
			if !bytes.Equal(payload, same) || (err == nil) != (sameErr == nil) {
				t.Fatalf("%q and %q, %v and %v", payload, same, err, sameErr)
			}
			if err != nil {
				return
			}
			if len(payload) == 0 {
				t.Fatal("an empty packet")
			}
			if rows, warnings, err := ReadChanged(payload); err == nil && (payload[0] != KindOK || warnings < 0) {
				t.Errorf("%d rows and %d warnings of %q", rows, warnings, payload)
			}
			if p, err := ReadPrepared(payload); err == nil && p.Placeholders > MaxPlaceholders {
				t.Errorf("%d placeholders of %q", p.Placeholders, payload)
			}
			if g, greeted := ReadGreeting(payload); !greeted && g.Version != "" {
				t.Errorf("no greeting has version %q", g.Version)
			}
			if (Done(payload) == nil) != (payload[0] == KindOK) {
				t.Errorf("%q: %v", payload, Done(payload))
			}
		}
	})
}

// packetOf is a payload with its header.
func packetOf(payload string) string {
	return string(AppendHeader(nil, len(payload), 1)) + payload
}

const (
	// description of a column; its content does not matter.
	description = "\x03def\x00\x00\x00\x01n"
	// endOfList, and what ends the rows of a session that has no such packets.
	endOfList = "\xfe\x00\x00\x02\x00"
	endless   = "\xfe\x00\x00\x02\x00\x00\x00"
)

// TestRows reads one answer, and the OK of the next statement behind it, however they arrive.
func TestRows(t *testing.T) {
	long := packetOf("\xfd" + strings.Repeat("l", 70_000))
	// A row goes on in the next packet if a packet is full, whatever that begins with, and even if nothing is left.
	full, ends := packetOf("\xfe"+strings.Repeat("v", MaxPayload-1)), packetOf(endOfList)
	for name, tc := range map[string]struct {
		sent    []string
		endless bool
		rows    int64
		err     string
	}{
		"no rows":               {[]string{"\x01", description, endOfList, endOfList}, false, 0, ""},
		"two rows":              {[]string{"\x02", description, description, endOfList, "\x011\x012", "\x013\xfb", endOfList}, false, 2, ""},
		"a list without an end": {[]string{"\x01", description, "\x011", endless}, true, 1, ""},
		"MariaDB says that the descriptions follow":     {[]string{"\x01\x01", description, "\x011", endless}, true, 1, ""},
		"MariaDB leaves out what it has sent before":    {[]string{"\x01\x00", endOfList, "\x011", endOfList}, false, 1, ""},
		"a value that is empty, one that is NULL":       {[]string{"\x01", description, endOfList, "\x00", "\xfb", endOfList}, false, 2, ""},
		"more columns than a byte counts":               {append(append([]string{"\xfc\x2c\x01"}, slices.Repeat([]string{description}, 300)...), endOfList, "\x011", endOfList), false, 1, ""},
		"an error in place of rows":                     {[]string{errorPacket[HeaderSize:]}, false, 0, "no such table 'x'"},
		"an error after a row":                          {[]string{"\x01", description, endOfList, "\x011", errorPacket[HeaderSize:]}, false, 1, "no such table 'x'"},
		"an answer to a statement that returns no rows": {[]string{okPacket[HeaderSize:]}, false, 0, "kind 0x0, and sends no rows"},
		"a request for a file":                          {[]string{"\xfbx"}, false, 0, "kind 0xfb, and sends no rows"},
		"a list that does not end":                      {[]string{"\x01", description, description, endOfList}, false, 0, "does not end the list of columns"},
		"an empty packet":                               {[]string{"\x01", description, endOfList, ""}, false, 0, "the server's answer is empty"},
		"the connection ends":                           {[]string{"\x01", description, endOfList, "\x011"}, false, 1, mysql.ErrInvalidConn.Error()},
		"rows of many sizes": {
			[]string{"\x01", description, endOfList, "raw:" + long, "\x011", "raw:" + full + packetOf(""), "raw:" + full + ends, endOfList},
			false, 4, "",
		},
	} {
		var sent strings.Builder
		for _, payload := range tc.sent {
			if raw, is := strings.CutPrefix(payload, "raw:"); is {
				sent.WriteString(raw)
			} else {
				sent.WriteString(packetOf(payload))
			}
		}
		if tc.err == "" {
			sent.WriteString(okPacket)
		}
		for how, from := range map[string]io.Reader{
			"together": strings.NewReader(sent.String()), "in halves": iotest.HalfReader(strings.NewReader(sent.String())),
		} {
			r := NewReader(from)
			rows, err := r.Rows(tc.endless)
			if rows != tc.rows || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s, %s: %d rows, %v; want %d, %q", name, how, rows, err, tc.rows, tc.err)
			}
			if tc.err != "" {
				continue
			}
			if next, err := r.Packet(); err != nil || Done(next) != nil {
				t.Errorf("%s, %s: the next answer is %q, %v", name, how, next, err)
			}
		}
	}
}

// A refusal is the server's own error: what is tried again is decided by its number.
func TestRowsRefused(t *testing.T) {
	_, err := NewReader(strings.NewReader(errorPacket)).Rows(false)
	if server, ok := errors.AsType[*mysql.MySQLError](err); !ok || server.Number != 1146 {
		t.Errorf("%v is not the server's error", err)
	}
}

// FuzzRows: rows come to the same number and end, however they arrive.
func FuzzRows(f *testing.F) {
	for _, payloads := range [][]string{
		{"\x01", description, endOfList, "\x011", endOfList}, {"\x01\x00", endOfList, endOfList}, {"\x01", description, "\x011", endless},
	} {
		sent := ""
		for _, p := range payloads {
			sent += packetOf(p)
		}
		f.Add([]byte(sent), false)
		f.Add([]byte(sent), true)
	}
	f.Fuzz(func(t *testing.T, sent []byte, endless bool) {
		n, err := NewReader(bytes.NewReader(sent)).Rows(endless)
		same, sameErr := NewReader(iotest.OneByteReader(bytes.NewReader(sent))).Rows(endless)
		if n != same || (err == nil) != (sameErr == nil) || n < 0 || n > int64(len(sent)) {
			t.Errorf("%d rows, %v, and %d, %v", n, err, same, sameErr)
		}
	})
}

func TestReadInteger(t *testing.T) {
	for _, tc := range []struct {
		p     string
		n     int64
		rest  string
		whole bool
	}{
		{"\x00", 0, "", true},
		{"\xfax", 250, "x", true},
		{"\xfc\x34\x12x", 0x1234, "x", true},
		{"\xfd\x01\x02\x03", 0x030201, "", true},
		{"\xfe\x01\x02\x03\x04\x05\x00\x00\x00x", 0x0504030201, "x", true},
		{"", 0, "", false},
		{"\xfb", 0xfb, "", false},
		{"\xff", 0xff, "", false},
		{"\xfc\x34", 0, "", false},
		{"\xfe\x01\x02\x03\x04\x05\x00\x00", 0, "", false},
	} {
		if n, rest, whole := ReadInteger([]byte(tc.p)); n != tc.n || string(rest) != tc.rest || whole != tc.whole {
			t.Errorf("%q is read as %d, %q, %v", tc.p, n, rest, whole)
		}
	}
}

// Values are those of the protocol's documents, for a prepared statement and for MariaDB's bulk executions.
func TestValues(t *testing.T) {
	for _, indicated := range []bool{false, true} {
		v, indicator := Values{Indicated: indicated}, ""
		if indicated {
			indicator = "\x00"
		}
		for want, got := range map[string][]byte{
			"\x04\x03\x02\x01":                 v.AppendInt(nil, 0x01020304),
			"\x08\x07\x06\x05\x04\x03\x02\x01": v.AppendBigInt(nil, 0x0102030405060708),
			"\x02":                             v.AppendLength(nil, 2),
			"\x0b\xe7\x07\x02\x1c\x17\x3b\x3a\x40\xe2\x01\x00": v.AppendDatetime(nil, NewDate(2023, 2, 28), 23*3600+59*60+58, 123456),
		} {
			if string(got) != indicator+want {
				t.Errorf("%x, want %x", got, indicator+want)
			}
		}
	}
}

func TestGreeting(t *testing.T) {
	const mysqlBit = CapabilityMySQL
	for name, g := range map[string]Greeting{
		"a MariaDB": {Version: "11.8.3-MariaDB", Capabilities: Plain | CapabilityEndless, Own: OwnBulk},
		"a MySQL":   {Version: "8.4.3", Capabilities: Plain | mysqlBit},
	} {
		packet := g.AppendPacket(nil)
		size, sequence := ReadHeader(packet)
		got, greeted := ReadGreeting(packet[HeaderSize:])
		if diff := cmp.Diff(g, got); diff != "" || !greeted || size != len(packet)-HeaderSize || sequence != 0 {
			t.Errorf("%s: %v (-want +got):\n%s", name, greeted, diff)
		}
	}
	for _, no := range []string{"", "\xff\x10\x04Too many connections", "\x0a", "\x098.4\x00"} {
		if g, greeted := ReadGreeting([]byte(no)); greeted {
			t.Errorf("%q is a greeting: %+v", no, g)
		}
	}
}

// A login is changed in a copy.
func TestLogin(t *testing.T) {
	login := Login(AppendHeader(nil, 32, 1))
	login = append(login, make([]byte, 32)...)
	login[HeaderSize+3] = 1
	before := slices.Clone(login)
	if !login.Whole() || login[:len(login)-1].Whole() || login.Capabilities() != CapabilityEndless {
		t.Errorf("capabilities %#x", login.Capabilities())
	}
	if changed := login.WithOwn(OwnBulk); !bytes.Equal(login, before) || changed[32] != 4 {
		t.Errorf("%x becomes %x", login, changed)
	}
}
