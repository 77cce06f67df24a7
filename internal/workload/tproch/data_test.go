// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	"bytes"
	"io"
	"math"
	"strconv"
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

// orderFacts is what ORDERS says of an order, and what its items add up to.
type orderFacts struct {
	date, status         string
	total, price         float64
	items, shippedByThen int
}

// What ORDERS says of an order is what LINEITEM says of its items.
func TestOrdersAgreeWithTheirItems(t *testing.T) {
	d := New(9, 1)
	orders := map[string]*orderFacts{}
	for _, row := range lines(t, d, Orders) {
		orders[row[1]] = &orderFacts{date: row[0], status: row[6], total: number(t, row[7])}
	}
	today := day(t, "1995-06-17")
	for _, row := range lines(t, d, LineItem) {
		o := orders[row[1]]
		discount, price, tax := number(t, row[2]), number(t, row[3]), number(t, row[9])
		o.price += price * (1 - discount) * (1 + tax)
		o.items++
		ordered, shipped, commit, receipt := day(t, o.date), day(t, row[0]), day(t, row[10]), day(t, row[11])
		if n := shipped - ordered; n < 1 || n > 121 {
			t.Fatalf("shipped %d days after the order: %v", n, row)
		}
		if n := receipt - shipped; n < 1 || n > 30 {
			t.Fatalf("received %d days after it was shipped: %v", n, row)
		}
		if n := commit - ordered; n < 30 || n > 90 {
			t.Fatalf("promised for %d days after the order: %v", n, row)
		}
		if returned := row[6] != "N"; returned != (receipt <= today) {
			t.Fatalf("received %s, flag %s", row[11], row[6])
		}
		if final := row[8] == "F"; final != (shipped <= today) {
			t.Fatalf("shipped %s, status %s", row[0], row[8])
		} else if final {
			o.shippedByThen++
		}
		if row[13] != strconv.Itoa(o.items) {
			t.Fatalf("item %d has the number %s", o.items, row[13])
		}
	}
	statuses := map[string]int{}
	for key, o := range orders {
		want := "P"
		switch o.shippedByThen {
		case 0:
			want = "O"
		case o.items:
			want = "F"
		}
		statuses[want]++
		if o.items < 1 || o.items > 7 || o.status != want || math.Abs(o.total-o.price) > 0.006 {
			t.Fatalf("order %s: %+v, want status %s", key, o, want)
		}
	}
	if len(statuses) != 3 {
		t.Errorf("orders by status: %v", statuses)
	}
}

// One customer in three never orders; of the others nearly all do.
func TestCustomersWhoOrder(t *testing.T) {
	d := New(9, 1)
	ordered := map[string]bool{}
	for _, key := range column(t, d, Orders, "O_CUSTKEY") {
		if int(number(t, key))%3 == 0 {
			t.Fatalf("customer %s orders", key)
		}
		ordered[key] = true
	}
	if len(ordered) < 990 {
		t.Errorf("%d of 1000 customers order", len(ordered))
	}
}

// Eight order keys of each 32 are used.
func TestOrderKeysAreSparse(t *testing.T) {
	var got []int64
	for n := int64(1); n <= 17; n++ {
		got = append(got, orderKey(n))
	}
	want := []int64{1, 2, 3, 4, 5, 6, 7, 32, 33, 34, 35, 36, 37, 38, 39, 64, 65}
	must.Same(t, "keys", want, got)
}
