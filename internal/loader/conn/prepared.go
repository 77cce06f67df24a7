// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/benchrun-dev/benchrun/internal/workload"
)

const (
	commandPrepare = 0x16
	commandExecute = 0x17
	commandBulk    = 0xfa
)

// Prepare implements workload.Session.
func (s *Session) Prepare(p workload.Prepared) (*workload.PreparedHead, error) {
	switch {
	case s.below == nil:
		return nil, workload.Refused{Reason: "prepared statements are for connections without TLS: database.tls.mode must be Disabled"}
	case p.Rows == 0 && !s.agreed.bulk:
		return nil, workload.Refused{Reason: "protocol Bulk needs MariaDB 10.2 or newer; this server is " + s.agreed.version}
	}
	id, err := s.below.prepare(p.SQL, s.agreed.endless)
	if err != nil {
		return nil, err
	}
	if p.Rows == 0 {
		return bulkExecution(id, p.Types), nil
	}
	return execution(id, p.Types, int(p.Rows)), nil
}

// prepare has a statement prepared that returns no rows, and returns its number.
func (e *exchange) prepare(sql string, endless bool) (id uint32, err error) {
	if err := e.send(commandPrepare, []byte(sql)); err != nil {
		return 0, err
	}
	// The server describes each placeholder in a packet of its own.
	in := bufio.NewReader(e.conn)
	payload, err := nextPacket(in)
	if err != nil {
		return 0, err
	}
	// The kind of answer, the statement's number, the number of columns, that of placeholders.
	const number, columns, placeholders, length = 1, 5, 7, 9
	if payload[0] != answerOK {
		return 0, unexpected(payload, "as to a statement to prepare")
	}
	if len(payload) < length || binary.LittleEndian.Uint16(payload[columns:]) > 0 {
		return 0, errors.New("the server has prepared a statement that returns rows")
	}
	id = binary.LittleEndian.Uint32(payload[number:])
	descriptions := int(binary.LittleEndian.Uint16(payload[placeholders:]))
	if descriptions > 0 && !endless {
		descriptions++
	}
	for range descriptions {
		if _, err := nextPacket(in); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// nextPacket reads a packet of at least one byte, in all its length.
func nextPacket(in *bufio.Reader) ([]byte, error) {
	var header [packetHeader]byte
	if _, err := io.ReadFull(in, header[:]); err != nil {
		return nil, ended(err)
	}
	payload := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
	if _, err := io.ReadFull(in, payload); err != nil {
		return nil, ended(err)
	}
	if len(payload) == 0 {
		return nil, errors.New("the server's answer is empty")
	}
	return payload, nil
}

// ended is the error of a connection that the server has closed.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return mysql.ErrInvalidConn
	}
	return err
}

// execution is what executions begin with that have the values of so many rows.
func execution(id uint32, types []workload.ValueType, rows int) *workload.PreparedHead {
	const noCursor, iterations, typesFollow = 0, 1, 1
	head := binary.LittleEndian.AppendUint32([]byte{commandExecute}, id)
	head = binary.LittleEndian.AppendUint32(append(head, noCursor), iterations)
	// A bit for each NULL, of which there is none.
	head = append(head, make([]byte, (rows*len(types)+7)/8)...)
	x := &workload.PreparedHead{First: append(slices.Clip(head), typesFollow), Later: append(slices.Clip(head), 0)}
	for range rows {
		x.First = appendTypes(x.First, types)
	}
	return x
}

// bulkExecution is what executions begin with that have the values of any number of rows.
func bulkExecution(id uint32, types []workload.ValueType) *workload.PreparedHead {
	const typesFollow = 128
	head := binary.LittleEndian.AppendUint32([]byte{commandBulk}, id)
	return &workload.PreparedHead{
		First: appendTypes(binary.LittleEndian.AppendUint16(slices.Clip(head), typesFollow), types),
		Later: binary.LittleEndian.AppendUint16(slices.Clip(head), 0),
	}
}

func appendTypes(dst []byte, types []workload.ValueType) []byte {
	for _, t := range types {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(t))
	}
	return dst
}

// ExecuteWhile implements workload.Session.
func (s *Session) ExecuteWhile(execution []byte, meanwhile func()) (ago time.Duration, err error) {
	return s.while(execution[0], execution[1:], meanwhile)
}
