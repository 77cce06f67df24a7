// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
