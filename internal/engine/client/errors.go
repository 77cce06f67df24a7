// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
)

// Errors say what an error means. No error is none of them.
type Errors struct {
	// Code is the server's own of an error that it has answered with.
	Code func(err error) (code string, answered bool)
	// Codes of each meaning.
	Codes Codes
	// NoTLS says whether the server offers no encryption.
	NoTLS func(err error) bool
	// Lost is the driver's own error for a connection that broke, whose text is for programmers; nil if it has none.
	Lost error
}

// Codes are a server's by what they mean.
type Codes struct {
	ConnectionEnded, TryAgain, Starting, TooManySessions, DuplicateKey, NoSuchTable, NoSuchSession []string
}

func (e *Errors) oneOf(err error, codes []string) bool {
	code, answered := e.Code(err)
	return answered && slices.Contains(codes, code)
}

// Answered says whether the server has answered with an error.
func (e *Errors) Answered(err error) bool {
	_, answered := e.Code(err)
	return answered
}

// ConnectionEnded says whether the server ended the connection, so that the statement was not wrong.
func (e *Errors) ConnectionEnded(err error) bool { return e.oneOf(err, e.Codes.ConnectionEnded) }

// TryAgain says whether a client is expected to roll its transaction back and begin it anew.
func (e *Errors) TryAgain(err error) bool { return e.oneOf(err, e.Codes.TryAgain) }

// TooManySessions says whether the server has no connection left: for any user, or for this one.
func (e *Errors) TooManySessions(err error) bool { return e.oneOf(err, e.Codes.TooManySessions) }

// DuplicateKey says whether there is a row with this key.
func (e *Errors) DuplicateKey(err error) bool { return e.oneOf(err, e.Codes.DuplicateKey) }

// NoSuchTable says whether a table, or its schema, does not exist.
func (e *Errors) NoSuchTable(err error) bool { return e.oneOf(err, e.Codes.NoSuchTable) }

// NoSuchSession says whether a session that was to be ended does not exist.
func (e *Errors) NoSuchSession(err error) bool { return e.oneOf(err, e.Codes.NoSuchSession) }

// WorthAnotherTry tells a server that cannot be connected to yet from one that refuses.
func (e *Errors) WorthAnotherTry(err error) bool {
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted || e.NoTLS(err) {
		return false
	}
	// Nothing listens, the name is not known yet, the server broke off: all of it is what starting looks like.
	return !e.Answered(err) || e.oneOf(err, e.Codes.Starting) || e.TooManySessions(err)
}

// Broken says whether a connection broke, or could not be made again.
func (e *Errors) Broken(err error) bool {
	_, dialing := errors.AsType[*net.OpError](err)
	_, talking := errors.AsType[*os.SyscallError](err)
	lost := []error{driver.ErrBadConn, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF}
	return dialing || talking || e.isLost(err) || slices.ContainsFunc(lost, func(lost error) bool { return errors.Is(err, lost) })
}

// InWords is the error with another text where the driver's is for programmers only.
func (e *Errors) InWords(err error) error {
	if !e.isLost(err) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	text := err.Error()
	if e.Lost != nil {
		text = strings.ReplaceAll(text, e.Lost.Error(), "the server closed the connection")
	}
	return inWords{err, text}
}

func (e *Errors) isLost(err error) bool { return e.Lost != nil && errors.Is(err, e.Lost) }

type inWords struct {
	error
	text string
}

func (w inWords) Error() string { return w.text }

func (w inWords) Unwrap() error { return w.error }
