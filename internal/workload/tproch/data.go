// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
	"github.com/benchrun-dev/benchrun/internal/workload/generate"
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
	key := generate.Mix(uint64(seed)) //nolint:gosec // a seed may wrap
	d := &Data{scale: scale, text: newText(key)}
	for t := range d.keys {
		d.keys[t] = generate.Mix(key + uint64(t) + 1)
	}
	return d
}

// Units is the number of a table's units, which count from 0.
func (d *Data) Units(t Table) int64 {
	if tables[t].fixed {
		return tables[t].units
	}
	return tables[t].units * int64(d.scale)
}

var appending = [...]func(*Data, []byte, int64) []byte{
	Region: (*Data).region, Nation: (*Data).nation, Supplier: (*Data).supplier, Customer: (*Data).customer, Part: (*Data).part,
	PartSupp: (*Data).partSupp, Orders: (*Data).order, LineItem: (*Data).lineItems,
}

// Append appends a unit's lines to dst. It does not allocate if dst has room.
func (d *Data) Append(dst []byte, t Table, unit int64) []byte { return appending[t](d, dst, unit) }

// Checksum makes the whole table. A server computes the same from its rows' lines without the line feed.
func (d *Data) Checksum(t Table) checksum.Checksum {
	var sum checksum.Checksum
	var buf []byte
	for unit := range d.Units(t) {
		buf = d.Append(buf[:0], t, unit)
		for line := range bytes.Lines(buf) {
			sum.Add(line[:len(line)-1])
		}
	}
	return sum
}

// readerBytes are made at once. The first row waits for so many, and they stay in the CPU's cache until they are sent.
const readerBytes = 32 << 10

// Reader reads a table's lines while they are made.
type Reader struct {
	data      *Data
	table     Table
	next, end int64
	buf       []byte
	consumed  int
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

// Scale is a scale factor in hundredths: 100 is about a gigabyte of text. Steps are hundredths because the number of
// suppliers must be divisible by four for a part's four suppliers to be different ones.
type Scale int64

var scaleText = regexp.MustCompile(`^(0|[1-9][0-9]{0,3})(\.[0-9]{1,2})?$`)

// ParseScale reads a scale factor: from 0.01 to 1000, with at most two decimal places.
func ParseScale(text string) (Scale, error) {
	const most = 1000_00 // keeps all keys but those of orders within 32 bits
	whole, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if !scaleText.MatchString(text) || err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("scaleFactor is %q but must be 0.01 to 1000 with at most two decimal places", text)
	}
	return Scale(n), nil
}

// Days count from 1992-01-01. Orders are of 1992-01-02 to 1998-08-02, and what belongs to them happens within 151 days.
const (
	firstOrderDay = 1
	lastOrderDay  = 2405
	lastDay       = lastOrderDay + 121 + 30
)

// currentDay is what the rules take for today, 1995-06-17: what was received or shipped until then is done.
const currentDay = 1263

var dates = func() (all [lastDay + 1][len(time.DateOnly)]byte) {
	origin := time.Date(1992, time.January, 1, 0, 0, 0, 0, time.UTC)
	for day := range all {
		copy(all[day][:], origin.AddDate(0, 0, day).Format(time.DateOnly))
	}
	return all
}()

func appendDate(dst []byte, day int64) []byte {
	return append(append(dst, dates[day][:]...), separator)
}
