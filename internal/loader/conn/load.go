// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"
)

// filePacket is how much of a file is sent at once: a quarter of the system calls that the driver and the server's own
// client make, and far below any max_allowed_packet in use.
const filePacket = 64 << 10

// answerFile is how a server asks for the file of LOAD DATA LOCAL.
const answerFile = 0xfb

// Load implements workload.Session.
func (s *Session) Load(clause string, data io.Reader) (rows, warnings int64, err error) {
	if s.below == nil {
		return s.loadByDriver(clause, data)
	}
	// There is no file of this name: what the server asks for is sent, whatever it is called.
	return s.below.load([]byte("LOAD DATA LOCAL INFILE 'benchrun' "+clause), data)
}

// readers numbers what is loaded by the driver, which finds a reader by a name that the whole process shares.
var readers atomic.Int64

// loadByDriver is for encrypted connections.
func (s *Session) loadByDriver(clause string, data io.Reader) (rows, warnings int64, err error) {
	name := "benchrun-" + strconv.FormatInt(readers.Add(1), 10)
	mysql.RegisterReaderHandler(name, func() io.Reader { return data })
	defer mysql.DeregisterReaderHandler(name)
	if rows, err = s.ExecAffected([]byte("LOAD DATA LOCAL INFILE 'Reader::" + name + "' " + clause)); err != nil {
		return 0, 0, err
	}
	count, err := s.lastOfRow("SHOW COUNT(*) WARNINGS")
	if err != nil {
		return 0, 0, err
	}
	warnings, err = strconv.ParseInt(count, 10, 64)
	return rows, warnings, err
}

// load sends a statement, the file that the server then asks for, and returns what the server says about it.
func (e *exchange) load(statement []byte, data io.Reader) (rows, warnings int64, err error) {
	if err := e.send(commandQuery, statement); err != nil {
		return 0, 0, err
	}
	request, err := e.receivePacket()
	if err != nil {
		return 0, 0, err
	}
	if request[0] != answerFile {
		return 0, 0, unexpected(request, "and asks for no file")
	}
	// The server goes on when the file's end has come, also if it is too early.
	readErr, err := e.sendFile(data)
	if err != nil {
		return 0, 0, err
	}
	answer, err := e.receivePacket()
	if err != nil {
		return 0, 0, err
	}
	if readErr != nil {
		return 0, 0, readErr
	}
	if answer[0] != answerOK {
		return 0, 0, unexpected(answer, "as to a query")
	}
	return loaded(answer[1:])
}

// sendFile sends data in packets, and an empty one as its end. The reader's error is apart from the connection's.
func (e *exchange) sendFile(data io.Reader) (readErr, err error) {
	if e.file == nil {
		e.file = make([]byte, packetHeader+filePacket)
	}
	// The statement's packet was number 0, the server's request number 1.
	for sequence := byte(2); ; sequence++ {
		n, readErr := io.ReadAtLeast(data, e.file[packetHeader:], 1)
		e.file[0], e.file[1], e.file[2], e.file[3] = byte(n), byte(n>>8), byte(n>>16), sequence //nolint:gosec // 64 KiB at most
		if _, err := e.conn.Write(e.file[:packetHeader+n]); err != nil {
			return nil, err
		}
		switch {
		case errors.Is(readErr, io.EOF):
			return nil, nil
		case readErr != nil:
			return readErr, nil
		}
	}
}

// loaded reads the rows and warnings of an OK packet: rows, the last id, two bytes of flags, two of warnings.
func loaded(payload []byte) (rows, warnings int64, err error) {
	n, rest, whole := lengthEncoded(payload)
	_, rest, also := lengthEncoded(rest)
	if !whole || !also || len(rest) < 4 {
		return 0, 0, errors.New("the server's answer is too short")
	}
	return n, int64(binary.LittleEndian.Uint16(rest[2:])), nil
}

// lengthEncoded reads an integer of the protocol's variable length; whole is false if there is none.
func lengthEncoded(p []byte) (n int64, rest []byte, whole bool) {
	if len(p) == 0 {
		return 0, nil, false
	}
	size := map[byte]int{0xfc: 2, 0xfd: 3, 0xfe: 8}[p[0]]
	if size == 0 {
		return int64(p[0]), p[1:], p[0] < 0xfb
	}
	if len(p) <= size {
		return 0, nil, false
	}
	var wide [8]byte
	copy(wide[:], p[1:1+size])
	return int64(binary.LittleEndian.Uint64(wide[:])), p[1+size:], true //nolint:gosec // a number of rows
}

// Warning implements workload.Session.
func (s *Session) Warning() (string, error) {
	// Level, number and text.
	return s.lastOfRow("SHOW WARNINGS LIMIT 1")
}

// lastOfRow is the last column of the first row of a query.
func (s *Session) lastOfRow(query string) (_ string, err error) {
	rows, err := s.query.QueryContext(s.ctx, query, nil)
	if err != nil {
		return "", fmt.Errorf("executing %s: %w", query, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil {
		return "", fmt.Errorf("reading the rows of %s: %w", query, err)
	}
	return text(row[len(row)-1]), nil
}
