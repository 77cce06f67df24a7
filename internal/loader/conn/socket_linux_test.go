// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

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
func socketPair(t testing.TB) (*socket, net.Conn) {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	conn := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
	peer := must.Get(listener.Accept())(t)
	t.Cleanup(func() { peer.Close() })
	s := must.Get(newSocket(conn, func(net.Conn) {}))(t)
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
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("reading succeeded")
			}
		case <-time.After(5 * time.Second):
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

// okAnswer says that all is well.
const okAnswer = "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00"

// answering is a session over a socket whose other end answers each statement at once.
type answering struct {
	*Session
	socket *socket
	// answered gets an element when an answer was sent.
	answered chan struct{}
}

func newAnswering(t *testing.T) *answering {
	t.Helper()
	s, peer := socketPair(t)
	a := &answering{Session: &Session{below: newExchange(s, s)}, socket: s, answered: make(chan struct{})}
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
	if err != nil {
		t.Fatal(err)
	}
	return ago, time.Since(began)
}

// An answer comes when the kernel has it, and not when the client has time for it.
func TestArrivalBeforeTheClientHasTime(t *testing.T) {
	a := newAnswering(t)
	a.socket.measure()
	// The kernel begins to note times a moment after it was asked to.
	for range 100 {
		if a.exec(t); a.socket.arrivals.noted {
			break
		}
	}
	late := a.LateAnswers()
	for range 3 {
		if ago, all := a.exec(t); ago < work || ago > all {
			t.Errorf("the answer came %s ago, after it had been sent %s before; the whole took %s", ago, work, all)
		}
	}
	if a.LateAnswers() != late {
		t.Errorf("of %d answers it is not known when they came", a.LateAnswers()-late)
	}
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

// What is not there yet is not late.
func TestReadable(t *testing.T) {
	s, peer := socketPair(t)
	if s.readable() {
		t.Error("there is something to read before anything was sent")
	}
	if _, err := peer.Write([]byte(okAnswer)); err != nil || !s.readable() {
		t.Errorf("there is nothing to read: %v", err)
	}
	if err := s.Close(); err != nil || s.readable() {
		t.Errorf("there is something to read after the end: %v", err)
	}
}
