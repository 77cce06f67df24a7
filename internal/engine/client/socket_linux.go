// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// patience is how long a thread waits in the kernel for an answer before it tells the scheduler that it does.
const patience = 10 * time.Millisecond

// Socket is a connection for a closed loop, by TCP or a Unix socket: send a statement, wait for the answer, a hundred
// microseconds later.
//
// Go's own connection asks the kernel (in vain), parks the goroutine, sleeps in epoll, wakes and asks again; and while
// one of its threads is in a system call, another one watches it. For one round trip after the other that costs more
// CPU than the statements do. A Socket instead waits in read(2) itself, without telling the scheduler. It does so for
// patience at most, or until the runtime sends a signal because it wants the thread, for a garbage collection say. Then the
// scheduler has its turn. It is not in the runtime's epoll set at all: a thread that sleeps there for another reason would be
// woken with each answer.
type Socket struct {
	fd            int
	local, remote net.Addr
	onClose       func(net.Conn)

	// keepsThread is for a client of the measured phase, which has a thread to itself (see timed): while it waits, for an answer or
	// for room to send, it lets the scheduler have it for a moment every now and then, but does not tell it that it waits. Each time
	// a thread comes back from such a wait, the runtime looks around for a millisecond whether there is something to do, at the cost
	// of many a statement.
	keepsThread bool
	// arrivals are when answers came, of a client of the measured phase.
	arrivals arrivals

	// using is held for reading by every user of fd, and for writing to close it: the number may be another file's then.
	using    sync.RWMutex
	ending   atomic.Bool
	closed   bool
	deadline atomic.Pointer[time.Timer]
}

// newSocket takes over a connection, whose options stay. conn is closed in any case.
func newSocket(conn net.Conn, onClose func(net.Conn)) (_ *Socket, err error) {
	defer func() { err = errors.Join(err, conn.Close()) }()
	source, ok := conn.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("a connection of type %T has no descriptor", conn)
	}
	raw, err := source.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("getting the descriptor: %w", err)
	}
	s := &Socket{fd: -1, local: conn.LocalAddr(), remote: conn.RemoteAddr(), onClose: onClose}
	var dupErr error
	err = raw.Control(func(fd uintptr) { s.fd, dupErr = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, dupErr); err != nil {
		return nil, fmt.Errorf("duplicating the descriptor: %w", err)
	}
	if err := setPatience(s.fd); err != nil {
		return nil, errors.Join(fmt.Errorf("setting socket options: %w", err), unix.Close(s.fd))
	}
	return s, nil
}

func setPatience(fd int) error {
	timeout := unix.NsecToTimeval(patience.Nanoseconds())
	for _, option := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, option, &timeout); err != nil {
			return err
		}
	}
	return unix.SetNonblock(fd, false)
}

// Read implements net.Conn.
func (s *Socket) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	var n int
	var err error
	if s.arrivals.expected {
		n, err = s.readExpected(p)
	} else {
		//nolint:gosec // as the syscall package does
		n, err = s.transfer(unix.SYS_READ, unix.POLLIN, unsafe.Pointer(&p[0]), uintptr(len(p)))
	}
	if err == nil && n == 0 {
		return 0, io.EOF
	}
	return n, err
}

// Write implements net.Conn.
func (s *Socket) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		rest := p[written:]
		//nolint:gosec // as the syscall package does
		n, err := s.transfer(unix.SYS_WRITE, unix.POLLOUT, unsafe.Pointer(&rest[0]), uintptr(len(rest)))
		if err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

// transfer makes a system call with these arguments behind the scheduler's back. If that takes long, it waits with its
// knowledge until the connection is ready for another one.
func (s *Socket) transfer(number uintptr, ready int16, p unsafe.Pointer, last uintptr) (int, error) {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.closed {
		return 0, net.ErrClosed
	}
	for {
		n, _, errno := syscall.RawSyscall(number, uintptr(s.fd), uintptr(p), last)
		switch {
		case errno == 0:
			return int(n), nil
		case s.ending.Load():
			return 0, net.ErrClosed
		case errno != unix.EAGAIN && errno != unix.EINTR:
			return 0, os.NewSyscallError("talking to the server", errno)
		}
		// The patience is at an end, or a signal came.
		if s.keepsThread {
			runtime.Gosched()
			continue
		}
		waiting := []unix.PollFd{{Fd: int32(s.fd), Events: ready}} //nolint:gosec // descriptors are small
		if _, err := unix.Poll(waiting, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return 0, os.NewSyscallError("waiting for the server", err)
		}
	}
}

// Close implements net.Conn. It may be called while another goroutine reads or writes, which then gets an error at once.
func (s *Socket) Close() error {
	if s.ending.Swap(true) {
		return net.ErrClosed
	}
	s.onClose(s)
	// This wakes a goroutine that waits in a system call. Its error would say that the other side was faster.
	_ = unix.Shutdown(s.fd, unix.SHUT_RDWR)
	s.using.Lock()
	defer s.using.Unlock()
	s.closed = true
	return os.NewSyscallError("close", unix.Close(s.fd))
}

// LocalAddr implements net.Conn.
func (s *Socket) LocalAddr() net.Addr { return s.local }

// RemoteAddr implements net.Conn.
func (s *Socket) RemoteAddr() net.Addr { return s.remote }

// SetDeadline ends the connection at a time, as a driver sets it that gives up then; its zero is never.
func (s *Socket) SetDeadline(t time.Time) error {
	var timer *time.Timer
	if !t.IsZero() {
		timer = time.AfterFunc(time.Until(t), func() { _ = s.Close() })
	}
	if before := s.deadline.Swap(timer); before != nil {
		before.Stop()
	}
	return nil
}

// SetReadDeadline is SetDeadline.
func (s *Socket) SetReadDeadline(t time.Time) error { return s.SetDeadline(t) }

// SetWriteDeadline is SetDeadline.
func (s *Socket) SetWriteDeadline(t time.Time) error { return s.SetDeadline(t) }

// arrivals are when the kernel received what is read from a socket: it notes the time for each segment, which recvmsg(2) has
// beside the data. The next statement is made while the server works on the one before: without the kernel's time, an answer
// that comes meanwhile would have come when the statement was made.
//
// The kernel's time is the wall clock's. Only how long ago it was by the same clock is used, which is right unless the clock is
// set within these microseconds.
type arrivals struct {
	// noted is true from the first segment on whose time the kernel had noted. Some kernels do not, those of sandboxes for example.
	noted bool
	// expected says that an answer is being read whose time will be asked for, and waiting that it, or something before it, had
	// come before, of a kernel that has noted no time yet.
	expected, waiting bool
	// at is when the last of what was read since then came, if that was noted; its zero if not.
	at      time.Time
	message unix.Msghdr
	data    unix.Iovec
	control arrival
}

type arrival struct {
	header unix.Cmsghdr
	at     unix.Timespec
}

// Measure is for a client of the measured phase, which has a thread to itself.
func (s *Socket) Measure() {
	s.keepsThread = true
	// An error means that there are no times, which is noticed where they are missed.
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// Noted says whether the kernel notes when answers come.
func (s *Socket) Noted() bool { return s.arrivals.noted }

// Expect is called before an answer is read.
func (s *Socket) Expect() {
	a := &s.arrivals
	// A kernel that has noted a time once does so always.
	a.expected, a.waiting, a.at = true, !a.noted && s.readable(), time.Time{}
}

// Arrived returns how long ago the answer came that was read since Expect; known is false if it came before, at an unknown time.
func (s *Socket) Arrived() (ago time.Duration, known bool) {
	a := &s.arrivals
	a.expected = false
	if a.at.IsZero() {
		return 0, !a.waiting && !a.noted
	}
	return max(time.Since(a.at), 0), true
}

// readExpected is Read, and notes when what it reads came.
func (s *Socket) readExpected(p []byte) (int, error) {
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

func (a *arrivals) last() (at time.Time, noted bool) {
	h := &a.control.header
	if a.message.Controllen == 0 || h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS {
		return time.Time{}, false
	}
	return time.Unix(a.control.at.Unix()), true
}

func (s *Socket) readable() bool {
	s.using.RLock()
	defer s.using.RUnlock()
	if s.closed {
		return false
	}
	polled := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}} //nolint:gosec // descriptors are small
	n, err := unix.Poll(polled, 0)
	return err == nil && n > 0
}
