// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"net"
	"testing"
	"time"
)

// making is how long a client works while the server does.
const making = 20 * time.Millisecond

// okAnswer says that all is well.
const okAnswer = "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00"

// overlapped is a session over a socket whose other end answers each statement.
type overlapped struct {
	*Session
	socket *socket
	// asked has room for a moment before which the other end does not answer; answered gets one for each answer.
	asked, answered chan struct{}
}

func newOverlapped(t *testing.T) *overlapped {
	t.Helper()
	s, peer := socketPair(t)
	o := &overlapped{
		Session: &Session{below: &exchange{conn: s}}, socket: s,
		asked: make(chan struct{}, 1), answered: make(chan struct{}, 1),
	}
	go o.answer(peer)
	t.Cleanup(func() { _ = s.Close() })
	return o
}

func (o *overlapped) answer(peer net.Conn) {
	statement := make([]byte, 100)
	for {
		if _, err := peer.Read(statement); err != nil {
			return
		}
		<-o.asked
		if _, err := peer.Write([]byte(okAnswer)); err != nil {
			return
		}
		o.answered <- struct{}{}
	}
}

// early has the answer come before the client has done its work. It returns how long that took until the answer was known to
// have been sent, and what is said to be the server's time.
func (o *overlapped) early(t *testing.T) (sent, took time.Duration) {
	t.Helper()
	began := time.Now()
	o.asked <- struct{}{}
	took, err := o.ExecWhile([]byte("INSERT"), func() {
		<-o.answered
		sent = time.Since(began)
		time.Sleep(making) // the client's work
	})
	if err != nil {
		t.Fatal(err)
	}
	return sent, took
}

// What the client does while the server works is not the server's time.
func TestArrivalBeforeTheClientIsDone(t *testing.T) {
	o := newOverlapped(t)
	o.socket.measure()
	// The kernel begins to note times a moment after it was asked to.
	for range 100 {
		if o.early(t); o.socket.arrivals.noted {
			break
		}
	}
	late := o.LateAnswers()
	for range 3 {
		if sent, took := o.early(t); took <= 0 || took > sent {
			t.Errorf("the server took %s, its answer was sent after %s", took, sent)
		}
	}
	if o.LateAnswers() != late {
		t.Errorf("of %d answers it is not known when they came", o.LateAnswers()-late)
	}
}

// Where the kernel notes no times, answers that came while the client worked are counted, and no others.
func TestArrivalUnknown(t *testing.T) {
	o := newOverlapped(t)
	if sent, took := o.early(t); took < sent+making || o.LateAnswers() != 1 {
		t.Errorf("the answer was sent after %s and took %s; %d are late", sent, took, o.LateAnswers())
	}
	took, err := o.ExecWhile([]byte("INSERT"), func() {
		time.Sleep(making) // the client's work
		o.asked <- struct{}{}
	})
	if err != nil || took < making || o.LateAnswers() != 1 {
		t.Errorf("the answer took %s, error %v; %d are late", took, err, o.LateAnswers())
	}
}

// clock is a connection that says when its answer came.
type clock struct {
	tape
	came time.Time
}

func (c *clock) readArrival(p []byte) (int, time.Time, bool, error) {
	n, err := c.Read(p)
	return n, c.came, true, err
}

// A clock that was set meanwhile is not believed.
func TestArrivalBeforeTheStatement(t *testing.T) {
	s := &Session{below: &exchange{conn: &clock{tape: tape{answers: []string{okAnswer}}, came: time.Now().Add(-time.Hour)}}}
	if took, err := s.ExecWhile([]byte("INSERT"), func() {}); err != nil || took <= 0 || took > time.Minute || s.LateAnswers() != 1 {
		t.Errorf("the answer took %s, error %v; %d are late", took, err, s.LateAnswers())
	}
}
