// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package mysqlwire

import "errors"

// Rows reads the answer to a query to its end, which is one result set, and returns how many rows the server has sent, also
// beside an error. It does not look at their values. endless says that no packet ends the list of columns.
func (r *Reader) Rows(endless bool) (n int64, err error) {
	columns, err := r.columns()
	if err != nil {
		return 0, err
	}
	for range columns {
		if _, err := r.skip(); err != nil {
			return 0, err
		}
	}
	if !endless {
		switch end, err := r.skip(); {
		case err != nil:
			return 0, err
		case !end:
			return 0, errors.New("the server does not end the list of columns")
		}
	}
	for {
		end, err := r.skip()
		if err != nil || end {
			return n, err
		}
		n++
	}
}

// columns reads how many descriptions of columns a result set begins with.
func (r *Reader) columns() (int64, error) {
	payload, err := r.Packet()
	if err != nil {
		return 0, err
	}
	n, rest, whole := ReadInteger(payload)
	switch {
	case payload[0] == KindOK || !whole || len(rest) > 1:
		return 0, Unexpected(payload, "and sends no rows")
	case len(rest) == 1 && rest[0] == withoutColumns:
		return 0, nil
	default:
		return n, nil
	}
}

// withoutColumns stands behind the number of columns if MariaDB leaves out their descriptions, which it has sent before.
const withoutColumns = 0

// skip reads a packet of a result set, and those that go on with its payload. The server's error is returned as one; end is true
// for what ends a list.
func (r *Reader) skip() (end bool, err error) {
	size, kind, err := r.begun()
	if err != nil {
		return false, err
	}
	if kind == KindError {
		payload, err := r.Packet()
		if err != nil {
			return false, err
		}
		return false, serverError(payload[1:])
	}
	for {
		if err := r.discard(HeaderSize + size); err != nil {
			return false, err
		}
		if size < MaxPayload {
			return kind == KindEnd, nil
		}
		// What follows is not the end of a list, however it begins.
		kind = KindOK
		if err := r.have(HeaderSize); err != nil {
			return false, err
		}
		size, _ = ReadHeader(r.buffer[r.next:])
	}
}

// discard reads so many bytes.
func (r *Reader) discard(n int) error {
	for {
		here := min(n, r.end-r.next)
		r.next += here
		if n -= here; n == 0 {
			return nil
		}
		if err := r.have(1); err != nil {
			return err
		}
	}
}
