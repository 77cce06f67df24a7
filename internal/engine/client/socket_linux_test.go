// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// socketPair is a socket and the other end of its connection.
func socketPair(t testing.TB) (*Socket, net.Conn) {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	s := must.Get(new(Open).Dial(t.Context(), "tcp", listener.Addr().String()))(t).(*Socket)
	peer := must.Get(listener.Accept())(t)
	t.Cleanup(func() { peer.Close() })
	return s, peer
}

func TestSocketCarriesWhatIsLargerThanItsBuffers(t *testing.T) {
	s, peer := socketPair(t)
	defer s.Close()
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	go func() {
		time.Sleep(3 * patience) // so that the writer waits, longer than it looks for its end
		_, _ = io.Copy(peer, io.LimitReader(peer, int64(len(sent))))
	}()
	go func() {
		if _, err := s.Write(sent); err != nil {
			t.Error(err)
		}
	}()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(s, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("error %v, same %v", err, bytes.Equal(got, sent))
	}
}

func TestSocketIsInterruptedByClosing(t *testing.T) {
	for _, after := range []time.Duration{0, patience / 2, 5 * patience} {
		s, _ := socketPair(t)
		ended := make(chan error, 1)
		go func() {
			_, err := s.Read(make([]byte, 1))
			ended <- err
		}()
		time.Sleep(after) // how long the reader has waited is what differs
		must.Do(t, s.Close())
		select {
		case err := <-ended:
			if err == nil {
				t.Error("reading succeeded")
			}
		case <-time.After(time.Minute):
			t.Fatal("the reader was not woken")
		}
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("reading after closing: %v", err)
		}
		if _, err := s.Write([]byte{1}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("writing after closing: %v", err)
		}
		if err := s.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closing twice: %v", err)
		}
	}
}

func TestSocketEnds(t *testing.T) {
	s, peer := socketPair(t)
	defer s.Close()
	peer.Close()
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
	var err error
	for range 100 {
		if _, err = s.Write([]byte{1}); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("writing to nobody succeeded")
	}
}

// What is not there yet is not late.
func TestReadable(t *testing.T) {
	s, peer := socketPair(t)
	if s.readable() {
		t.Error("there is something to read before anything was sent")
	}
	if _, err := peer.Write([]byte("answer")); err != nil || !s.readable() {
		t.Errorf("there is nothing to read: %v", err)
	}
	if err := s.Close(); err != nil || s.readable() {
		t.Errorf("there is something to read after the end: %v", err)
	}
}

// A driver that gives up sets a deadline that is over: who waits for an answer gets an error.
func TestSocketEndsByADeadline(t *testing.T) {
	s, _ := socketPair(t)
	must.Do(t, s.SetDeadline(time.Now().Add(time.Hour)))
	must.Do(t, s.SetDeadline(time.Time{}))
	must.Do(t, s.SetReadDeadline(time.Now().Add(time.Millisecond)))
	if _, err := s.Read(make([]byte, 1)); err == nil {
		t.Error("something was read")
	}
}
