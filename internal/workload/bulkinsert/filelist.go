// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package bulkinsert

import (
	"errors"
	"fmt"

	"github.com/benchrun-dev/benchrun/internal/engine/innodb/mysqlwire"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/workload"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
	"github.com/benchrun-dev/benchrun/internal/workload/insert"
)

// fileList is the data of a list of files: row n has a path, a time of modification and a size. Files of one folder follow
// each other, as in a list that was made by walking a tree.
type fileList struct {
	rows    generate.Rows
	folders [folderCount]string
}

const (
	folderCount = 1024
	// Folders have minFolder to maxFolder characters.
	minFolder, maxFolder = 80, 150
	// filesPerFolder rows in a row are in the same folder, as a power of two.
	filesPerFolderLog = 6
	fileSuffix        = ".dat"
	maxSizeDigits     = 13
	timeLength        = len("2010-01-01 00:00:00.000000")
	maxFileRow        = len("('") + maxFolder + len("/") + generate.TextLength + len(fileSuffix) + len("','") + timeLength +
		len("',") + maxSizeDigits + len("),")
)

func newFileList(seed int64) *fileList {
	f := &fileList{rows: generate.NewRows(seed)}
	draws := f.rows.Draws(0)
	for i := range f.folders {
		f.folders[i] = folder(&draws)
	}
	return f
}

func folder(d *generate.Stream) string {
	var path []byte
	for length := minFolder + 1 + d.Below(maxFolder-minFolder); uint64(len(path))+1 < length; {
		path = append(path, '/')
		for range min(6+d.Below(15), length-uint64(len(path))) {
			path = append(path, "abcdefghijklmnopqrstuvwxyz012345"[d.Next()>>59])
		}
	}
	return string(path)
}

func (f *fileList) appendRow(dst []byte, n int64) []byte {
	return append(f.appendFields(append(dst, "('"...), n, "','", "',"), ')')
}

func (f *fileList) appendText(dst []byte, n int64) []byte { return f.appendFields(dst, n, ":", ":") }

func (f *fileList) appendFields(dst []byte, n int64, afterPath, afterTime string) []byte {
	dst = f.appendPath(dst, f.folder(n), n)
	dst = append(dst, afterPath...)
	micros, size := f.numbers(n)
	dst = generate.AppendTime(dst, micros)
	dst = append(dst, afterTime...)
	return generate.AppendNumber(dst, size)
}

func (f *fileList) folder(n int64) string {
	draws := f.rows.Draws(-1 - n>>filesPerFolderLog)
	return f.folders[draws.Below(folderCount)]
}

func (f *fileList) appendPath(dst []byte, folder string, n int64) []byte {
	dst = append(append(dst, folder...), '/')
	return append(f.rows.AppendText(dst, n), fileSuffix...)
}

func (f *fileList) numbers(n int64) (micros, size uint64) {
	draws := f.rows.Draws(n)
	micros = draws.Below(generate.TimeSpan)
	// Sizes of all magnitudes up to 8 TiB, small ones as often as large ones.
	size = draws.Next()
	return micros, size >> (21 + size%40)
}

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

func (p *Parameters) checkProtocol(cfg *result.Config) error {
	err := workload.OneOf("protocol", p.Protocol, "", insert.ProtocolText, insert.ProtocolPrepared, insert.ProtocolBulk)
	switch {
	case err != nil || p.Protocol == "" || p.Protocol == insert.ProtocolText:
		return err
	case cfg.Workload.Data != nil:
		return errors.New("dataFrom goes with protocol Text: rows of a file are sent as text")
	}
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

// sendValues has rows sent as values of these types, so many bytes of a row at most, if statements are to be prepared.
func (w *bulkInsert) sendValues(of func(v mysqlwire.Values) func(dst []byte, n int64) []byte, types []mysqlwire.Type, most int) {
	if bulk := w.params.Protocol == insert.ProtocolBulk; bulk || w.params.Protocol == insert.ProtocolPrepared {
		w.AppendRow = of(mysqlwire.Values{Indicated: bulk})
		w.Load.Prepare(bulk, types, int64(most))
	}
}

func (f *fileList) values(v mysqlwire.Values) func(dst []byte, n int64) []byte {
	return func(dst []byte, n int64) []byte {
		folder := f.folder(n)
		dst = v.AppendLength(dst, uint8(len(folder)+len("/")+generate.TextLength+len(fileSuffix))) //nolint:gosec // at most 175
		dst = f.appendPath(dst, folder, n)
		micros, size := f.numbers(n)
		return v.AppendBigInt(generate.AppendTimeValue(v, dst, micros), size)
	}
}

func (d narrow) values(v mysqlwire.Values) func(dst []byte, n int64) []byte {
	return func(dst []byte, n int64) []byte {
		//nolint:gosec // rows are at most a billion, and k is smaller
		return v.AppendInt(v.AppendInt(dst, uint32(n)), uint32(d.number(n)))
	}
}
