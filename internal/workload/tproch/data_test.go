// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

// The data of a seed never changes: results of different releases would not be comparable.
func TestGolden(t *testing.T) {
	for _, tc := range []struct {
		seed  int64
		scale Scale
		want  map[Table]Checksum
	}{
		{seed: 42, scale: 1, want: map[Table]Checksum{
			Region:   {Rows: 5, Xor: 428801859, Sum: 15675214009},
			Nation:   {Rows: 25, Xor: 3267937780, Sum: 51003782326},
			Supplier: {Rows: 100, Xor: 2770644703, Sum: 234493128447},
			Customer: {Rows: 1500, Xor: 2162755442, Sum: 3309313090940},
			Part:     {Rows: 2000, Xor: 2459113311, Sum: 4254779744031},
			PartSupp: {Rows: 8000, Xor: 3874794822, Sum: 17049063862898},
			Orders:   {Rows: 15000, Xor: 525907968, Sum: 32239956411690},
			LineItem: {Rows: 59630, Xor: 2604872098, Sum: 128256073971952},
		}},
	} {
		d := New(tc.seed, tc.scale)
		for table, want := range tc.want {
			if got := d.Checksum(table); got != want {
				t.Errorf("seed %d, scale %d, %s: %+v, want %+v", tc.seed, tc.scale, table, got, want)
			}
		}
	}
}

// whole is a table's text.
func whole(t testing.TB, d *Data, table Table) []byte {
	t.Helper()
	data := must.Get(io.ReadAll(d.Reader(table, 0, d.Units(table))))(t)
	return data
}

func TestReaderReadsWhatAppendMakes(t *testing.T) {
	d := New(7, 1)
	for _, table := range Tables() {
		end := min(20, d.Units(table))
		if err := iotest.TestReader(d.Reader(table, 0, end), appended(d, table, end)); err != nil {
			t.Errorf("%s: %v", table, err)
		}
	}
	if got, want := whole(t, d, Orders), appended(d, Orders, d.Units(Orders)); !bytes.Equal(got, want) {
		t.Error("the reader of ORDERS reads something else")
	}
}

func appended(d *Data, table Table, units int64) []byte {
	var all []byte
	for unit := range units {
		all = d.Append(all, table, unit)
	}
	return all
}

// A short read would become a short packet on the wire.
func TestReaderFillsTheBuffer(t *testing.T) {
	d := New(7, 1)
	r, p := d.Reader(LineItem, 0, d.Units(LineItem)), make([]byte, 16<<10)
	want := int64(len(whole(t, d, LineItem)))
	for got := int64(0); got < want; {
		n, err := r.Read(p)
		if err != nil || (n < len(p) && got+int64(n) != want) {
			t.Fatalf("%d bytes after %d of %d, %v", n, got, want, err)
		}
		got += int64(n)
	}
}

func TestPartsMadeAloneAreTheWhole(t *testing.T) {
	for _, table := range Tables() {
		var parts []byte
		d := New(3, 2)
		for first, step := int64(0), d.Units(table)/7+1; first < d.Units(table); first += step {
			// Another Data: nothing is remembered between parts.
			part := must.Get(io.ReadAll(New(3, 2).Reader(table, first, min(first+step, d.Units(table)))))(t)
			parts = append(parts, part...)
		}
		if !bytes.Equal(parts, whole(t, d, table)) {
			t.Errorf("%s: parts made alone differ from the whole", table)
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	for _, table := range Tables() {
		if bytes.Equal(whole(t, New(1, 1), table), whole(t, New(2, 1), table)) {
			t.Errorf("%s is the same for two seeds", table)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	d, buf := New(1, 1), make([]byte, 0, 4<<10)
	for _, table := range Tables() {
		unit := int64(0)
		if allocs := testing.AllocsPerRun(1000, func() {
			buf = d.Append(buf[:0], table, unit%d.Units(table))
			unit++
		}); allocs != 0 {
			t.Errorf("%s: %g allocations per unit", table, allocs)
		}
	}
}

func TestChecksumNoticesDuplicates(t *testing.T) {
	var once, thrice Checksum
	once.add([]byte("a|1\nb|2\n"))
	thrice.add([]byte("a|1\nb|2\nb|2\nb|2\n"))
	if once.Xor != thrice.Xor || once.Sum == thrice.Sum || once.Rows != 2 || thrice.Rows != 4 {
		t.Errorf("%+v and %+v", once, thrice)
	}
}

func TestParseScale(t *testing.T) {
	for text, want := range map[string]Scale{
		"0.01": 1, "0.1": 10, "0.10": 10, "0.99": 99, "1": 100, "1.5": 150, "2.05": 205, "30": 3000, "1000": 100000,
		"": 0, "0": 0, "0.0": 0, "0.00": 0, "0.001": 0, ".1": 0, "1.": 0, "1,5": 0, "-1": 0, "+1": 0, "01": 0, "1e1": 0,
		"1 0": 0, "1000.01": 0, "1001": 0, "99999999999999999999": 0, "x": 0,
	} {
		got, err := ParseScale(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), "must be 0.01 to 1000") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
