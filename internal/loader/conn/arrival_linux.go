// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arrivals are when the kernel received what is read from a socket: it notes the time for each segment, which recvmsg(2) has
// beside the data. The next statement is made while the server works on the one before: without the kernel's time, an answer
// that comes meanwhile would have come when the statement was made.
//
// The kernel's time is the wall clock's. Only how long ago it was by the same clock is used, which is right unless somebody sets
// the clock within these microseconds.
type arrivals struct {
	// noted is true from the first segment on whose time the kernel had noted. Some kernels do not, those of sandboxes for
	// example.
	noted bool
	// expected says that an answer is being read whose time somebody will ask for, and waiting that it, or something before it, had
	// come before, of a kernel that has noted no time yet.
	expected, waiting bool
	// at is when the last of what was read since then came, if that was noted; its zero if not.
	at      time.Time
	message unix.Msghdr
	data    unix.Iovec
	control arrival
}

// arrival is the control message with the time of a segment.
type arrival struct {
	header unix.Cmsghdr
	at     unix.Timespec
}

// measure makes this the socket of a client of the measured phase.
func (s *socket) measure() {
	s.keepsThread = true
	// An error means that there are no times, which is noticed where they are missed.
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// expect implements arrivalObserver.
func (s *socket) expect() {
	a := &s.arrivals
	// A kernel that has noted a time once does so always.
	a.expected, a.waiting, a.at = true, !a.noted && s.readable(), time.Time{}
}

// arrived implements arrivalObserver.
func (s *socket) arrived() (ago time.Duration, known bool) {
	a := &s.arrivals
	a.expected = false
	if a.at.IsZero() {
		return 0, !a.waiting && !a.noted
	}
	return max(time.Since(a.at), 0), true
}

// readExpected is Read, and notes when what it reads came.
func (s *socket) readExpected(p []byte) (int, error) {
	n, err := s.transfer(unix.SYS_RECVMSG, unix.POLLIN, s.arrivals.into(p), 0)
	if err != nil || n == 0 {
		return n, err
	}
	if at, noted := s.arrivals.last(); noted {
		s.arrivals.noted, s.arrivals.at = true, at
	}
	return n, nil
}

// into is the argument of recvmsg(2) that has p filled.
func (a *arrivals) into(p []byte) unsafe.Pointer {
	a.data.Base = &p[0]
	a.data.SetLen(len(p))
	a.message.Iov = &a.data
	a.message.SetIovlen(1)
	a.message.Control = (*byte)(unsafe.Pointer(&a.control)) //nolint:gosec // the kernel takes a pointer
	a.message.SetControllen(int(unsafe.Sizeof(a.control)))
	return unsafe.Pointer(&a.message) //nolint:gosec // the kernel takes a pointer
}

// last is when what recvmsg(2) has read had come, by the wall clock; noted is false if the kernel does not say.
func (a *arrivals) last() (at time.Time, noted bool) {
	h := &a.control.header
	if a.message.Controllen == 0 || h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return time.Time{}, false
	}
	return time.Unix(a.control.at.Unix()), true
}

// readable says whether there is something to read.
func (s *socket) readable() bool {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.closed {
		return false
	}
	polled := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}} //nolint:gosec // descriptors are small
	n, err := unix.Poll(polled, 0)
	return err == nil && n > 0
}
