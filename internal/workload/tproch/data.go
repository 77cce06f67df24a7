// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/benchrun-dev/benchrun/internal/workload/random"
)

// Data is the content of all tables of a seed and a scale. It holds no rows, only the text that comments are cut out
// of, and may be used by several goroutines.
type Data struct {
	scale Scale
	// keys are of the tables' streams.
	keys [LineItem + 1]uint64
	text []byte
}

// New returns the data of a seed. It takes some milliseconds.
func New(seed int64, scale Scale) *Data {
	d := &Data{scale: scale}
	key := random.Mix(uint64(seed)) //nolint:gosec // a seed may wrap
	for t := range d.keys {
		d.keys[t] = random.Mix(key + uint64(t) + 1)
	}
	d.text = newText(key)
	return d
}

// Units is the number of a table's units, which count from 0.
func (d *Data) Units(t Table) int64 {
	if tables[t].fixed {
		return tables[t].units
	}
	return tables[t].units * int64(d.scale)
}

// Rows is the number of a table's rows. For LINEITEM it looks at every order, which takes milliseconds per million.
func (d *Data) Rows(t Table) int64 {
	units := d.Units(t)
	if t != LineItem {
		return units
	}
	rows := int64(0)
	for n := range units {
		o := d.orderAt(n)
		rows += o.items
	}
	return rows
}

// Append appends a unit's lines to dst. It does not allocate if dst has room.
func (d *Data) Append(dst []byte, t Table, unit int64) []byte {
	switch t {
	case Region:
		return d.region(dst, unit)
	case Nation:
		return d.nation(dst, unit)
	case Supplier:
		return d.supplier(dst, unit)
	case Customer:
		return d.customer(dst, unit)
	case Part:
		return d.part(dst, unit)
	case PartSupp:
		return d.partSupp(dst, unit)
	case Orders:
		return d.order(dst, unit)
	default:
		return d.lineItems(dst, unit)
	}
}

// Checksum of a table's rows, whatever their order. A server computes the same from the CRC32 of its rows' lines
// without the line feed.
type Checksum struct {
	Rows int64
	// Xor of the rows' CRC-32 notices a changed row, Sum also pairs of equal rows.
	Xor uint32
	Sum uint64
}

// String is the same for the same rows.
func (c Checksum) String() string {
	return fmt.Sprintf("rows=%d xor=%08x sum=%d", c.Rows, c.Xor, c.Sum)
}

// Checksum makes the whole table.
func (d *Data) Checksum(t Table) Checksum {
	var sum Checksum
	var buf []byte
	for unit := range d.Units(t) {
		buf = d.Append(buf[:0], t, unit)
		sum.add(buf)
	}
	return sum
}

var lineEnd = []byte{'\n'}

// add adds whole lines.
func (c *Checksum) add(lines []byte) {
	for len(lines) > 0 {
		line, rest, _ := bytes.Cut(lines, lineEnd)
		crc := crc32.ChecksumIEEE(line)
		c.Rows++
		c.Xor ^= crc
		c.Sum += uint64(crc)
		lines = rest
	}
}

// readerBytes are made at once. The first row waits for so many, and they stay in the CPU's cache until they are sent.
const readerBytes = 32 << 10

// Reader reads a table's lines while they are made.
type Reader struct {
	data     *Data
	table    Table
	next     int64
	end      int64
	buf      []byte
	consumed int
}

// Reader reads the units from first to end-1 of a table.
func (d *Data) Reader(t Table, first, end int64) *Reader {
	return &Reader{data: d, table: t, next: first, end: end, buf: make([]byte, 0, 2*readerBytes)}
}

// Read implements io.Reader. It fills p as long as there are rows.
func (r *Reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.more() {
		copied := copy(p[n:], r.buf[r.consumed:])
		r.consumed += copied
		n += copied
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// more makes the next rows if all others were read, and is false if there are none.
func (r *Reader) more() bool {
	if r.consumed < len(r.buf) {
		return true
	}
	r.buf, r.consumed = r.buf[:0], 0
	for len(r.buf) < readerBytes && r.next < r.end {
		r.buf = r.data.Append(r.buf, r.table, r.next)
		r.next++
	}
	return len(r.buf) > 0
}
