// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-sql-driver/mysql"
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
