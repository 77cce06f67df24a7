// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Errors say what an error means. No error is none of them.
type Errors struct {
	// code is the server's own of an error that it has answered with.
	code func(err error) (code string, answered bool)
	// The codes of each meaning.
	connectionEnded, tryAgain, starting, tooManySessions, duplicateKey, noSuchTable, noSuchSession []string
	// noTLS says whether the server offers no encryption.
	noTLS func(err error) bool
}

func (e *Errors) oneOf(err error, codes []string) bool {
	code, answered := e.code(err)
	return answered && slices.Contains(codes, code)
}

// Answered says whether the server has answered with an error.
func (e *Errors) Answered(err error) bool {
	_, answered := e.code(err)
	return answered
}

// ConnectionEnded says whether the server ended the connection, so that the statement was not wrong.
func (e *Errors) ConnectionEnded(err error) bool { return e.oneOf(err, e.connectionEnded) }

// TryAgain says whether a client is expected to roll its transaction back and begin it anew.
func (e *Errors) TryAgain(err error) bool { return e.oneOf(err, e.tryAgain) }

// TooManySessions says whether the server has no connection left: for any user, or for this one.
func (e *Errors) TooManySessions(err error) bool { return e.oneOf(err, e.tooManySessions) }

// DuplicateKey says whether there is a row with this key.
func (e *Errors) DuplicateKey(err error) bool { return e.oneOf(err, e.duplicateKey) }

// NoSuchTable says whether a table, or its schema, does not exist.
func (e *Errors) NoSuchTable(err error) bool { return e.oneOf(err, e.noSuchTable) }

// NoSuchSession says whether a session that was to be ended does not exist.
func (e *Errors) NoSuchSession(err error) bool { return e.oneOf(err, e.noSuchSession) }

// WorthAnotherTry tells a server that cannot be connected to yet from one that refuses.
func (e *Errors) WorthAnotherTry(err error) bool {
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted || e.noTLS(err) {
		return false
	}
	// Nothing listens, the name is not known yet, the server broke off: all of it is what starting looks like.
	return !e.Answered(err) || e.oneOf(err, e.starting) || e.TooManySessions(err)
}

// Broken says whether a connection broke, or could not be made again.
func (*Errors) Broken(err error) bool {
	_, dialing := errors.AsType[*net.OpError](err)
	_, talking := errors.AsType[*os.SyscallError](err)
	lost := []error{mysql.ErrInvalidConn, driver.ErrBadConn, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF}
	return dialing || talking || slices.ContainsFunc(lost, func(lost error) bool { return errors.Is(err, lost) })
}

// InWords is the error with another text where the driver's is for programmers only.
func (*Errors) InWords(err error) error {
	if !errors.Is(err, mysql.ErrInvalidConn) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return inWords{err, strings.ReplaceAll(err.Error(), mysql.ErrInvalidConn.Error(), "the server closed the connection")}
}

type inWords struct {
	error
	text string
}

func (w inWords) Error() string { return w.text }

func (w inWords) Unwrap() error { return w.error }
