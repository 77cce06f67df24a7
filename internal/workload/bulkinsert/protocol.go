// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"errors"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// Types of the values of a row, and their length: a byte says how long a path or a time is.
var (
	fileTypes   = []mysqlwire.Type{mysqlwire.TypeBytes, mysqlwire.TypeDatetime, mysqlwire.TypeUnsignedBigInt}
	narrowTypes = []mysqlwire.Type{mysqlwire.TypeInt, mysqlwire.TypeInt}
)

const (
	// With an indicator for each value.
	maxFileValues   = 3 + 1 + maxFolder + len("/") + generate.TextLength + len(fileSuffix) + 1 + 11 + 8
	maxNarrowValues = 2 + 4 + 4
)

// checkProtocol finds what a protocol cannot do.
func (p *Parameters) checkProtocol(cfg *result.Config) error {
	switch p.Protocol {
	case "", insert.ProtocolText:
		return nil
	case insert.ProtocolPrepared, insert.ProtocolBulk:
	default:
		return fmt.Errorf("protocol is %q but must be %s, %s or %s", p.Protocol,
			insert.ProtocolText, insert.ProtocolPrepared, insert.ProtocolBulk)
	}
	if cfg.Workload.Data != nil {
		return errors.New("dataFrom goes with protocol Text: rows of a file are sent as text")
	}
	return p.checkPlaceholders()
}

// checkPlaceholders checks that a prepared statement does not have too many.
func (p *Parameters) checkPlaceholders() error {
	columns := len(fileTypes)
	if p.Table == tableNarrow {
		columns = len(narrowTypes)
	}
	most, rows := int64(mysqlwire.MaxPlaceholders/columns), p.RowsPerStatement
	if whole, _ := p.Before(); whole == 0 {
		rows = min(rows, p.Rows) // a warm-up sends whole statements
	}
	if p.Protocol == insert.ProtocolPrepared && rows > most {
		return fmt.Errorf("rowsPerStatement is %d: a prepared statement has at most %d placeholders, which are %d rows of %s (Bulk "+
			"has no such limit)", p.RowsPerStatement, mysqlwire.MaxPlaceholders, most, p.Table)
	}
	return nil
}

// prepares says whether statements are prepared.
func (w *bulkInsert) prepares() bool {
	return w.params.Protocol == insert.ProtocolPrepared || w.params.Protocol == insert.ProtocolBulk
}

// values makes rows' values for prepared statements.
type values struct{ mysqlwire.Values }

func (w *bulkInsert) values() values {
	return values{mysqlwire.Values{Indicated: w.params.Protocol == insert.ProtocolBulk}}
}

// ofFiles appends path, modification_time and file_size of row n.
func (v values) ofFiles(data *fileList) func(dst []byte, n int64) []byte {
	return func(dst []byte, n int64) []byte {
		folder := data.folder(n)
		dst = v.AppendLength(dst, uint8(len(folder)+len("/")+generate.TextLength+len(fileSuffix))) //nolint:gosec // at most 175
		dst = data.appendPath(dst, folder, n)
		micros, size := data.numbers(n)
		return v.AppendBigInt(generate.AppendTimeValue(v.Values, dst, micros), size)
	}
}

// ofNarrow appends id and k of row n.
func (v values) ofNarrow(data narrow) func(dst []byte, n int64) []byte {
	return func(dst []byte, n int64) []byte {
		//nolint:gosec // rows are at most a billion, and k is smaller
		return v.AppendInt(v.AppendInt(dst, uint32(n)), uint32(data.number(n)))
	}
}
