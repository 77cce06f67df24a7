// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/workload/checksum"
)

// lines are a table's rows, split.
func lines(t *testing.T, d *Data, table Table) [][]string {
	t.Helper()
	var rows [][]string
	for line := range strings.Lines(string(whole(t, d, table))) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(cells) != len(table.Columns()) {
			t.Fatalf("%s has %d columns, this row %d: %s", table, len(table.Columns()), len(cells), line)
		}
		rows = append(rows, cells)
	}
	return rows
}

// column are a table's values of some columns, joined.
func column(t *testing.T, d *Data, table Table, names ...string) []string {
	t.Helper()
	var values []string
	for _, row := range lines(t, d, table) {
		var cells []string
		for _, name := range names {
			cells = append(cells, row[position(t, table, name)])
		}
		values = append(values, strings.Join(cells, "|"))
	}
	return values
}

func position(t *testing.T, table Table, name string) int {
	t.Helper()
	for i, column := range table.Columns() {
		if column == name {
			return i
		}
	}
	t.Fatalf("%s has no column %s", table, name)
	return 0
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	value := must.Get(strconv.ParseFloat(text, 64))(t)
	return value
}

func TestRows(t *testing.T) {
	for scale, want := range map[Scale][]int64{
		1:   {5, 25, 100, 1500, 2000, 8000, 15000},
		100: {5, 25, 10000, 150000, 200000, 800000, 1500000},
	} {
		d := New(1, scale)
		var got []int64
		for _, table := range Tables()[:LineItem] {
			got = append(got, d.Units(table))
		}
		must.Same(t, fmt.Sprintf("scale %d", scale), want, got)
		orders, items := float64(d.Units(Orders)), float64(itemsOf(d))
		// One to seven, each as likely: mean 4, standard deviation 2.
		if math.Abs(items/orders-4) > 4*2/math.Sqrt(orders) {
			t.Errorf("scale %d: %g items per order", scale, items/orders)
		}
	}
	d := New(5, 3)
	must.Same(t, "LINEITEM", itemsOf(d), int64(len(lines(t, d, LineItem))))
}

func itemsOf(d *Data) int64 {
	items := int64(0)
	for n := range d.Units(Orders) {
		items += d.orderAt(n).items
	}
	return items
}

// Every key exists once, every reference refers to a key.
func TestKeys(t *testing.T) {
	for _, scale := range []Scale{1, 2} {
		d := New(int64(scale), scale)
		keys := map[string]map[string]bool{}
		for _, key := range []struct {
			table   Table
			columns []string
		}{
			{Region, []string{"R_REGIONKEY"}},
			{Nation, []string{"N_NATIONKEY"}},
			{Supplier, []string{"S_SUPPKEY"}},
			{Customer, []string{"C_CUSTKEY"}},
			{Part, []string{"P_PARTKEY"}},
			{PartSupp, []string{"PS_PARTKEY", "PS_SUPPKEY"}},
			{Orders, []string{"O_ORDERKEY"}},
			{LineItem, []string{"L_ORDERKEY", "L_LINENUMBER"}},
		} {
			found := map[string]bool{}
			for _, value := range column(t, d, key.table, key.columns...) {
				if found[value] {
					t.Fatalf("scale %d: %s has the key %s twice", scale, key.table, value)
				}
				found[value] = true
			}
			keys[key.table.String()] = found
		}
		for _, reference := range []struct {
			from    Table
			columns []string
			to      Table
		}{
			{Nation, []string{"N_REGIONKEY"}, Region},
			{Supplier, []string{"S_NATIONKEY"}, Nation},
			{Customer, []string{"C_NATIONKEY"}, Nation},
			{PartSupp, []string{"PS_PARTKEY"}, Part},
			{PartSupp, []string{"PS_SUPPKEY"}, Supplier},
			{Orders, []string{"O_CUSTKEY"}, Customer},
			{LineItem, []string{"L_ORDERKEY"}, Orders},
			{LineItem, []string{"L_PARTKEY", "L_SUPPKEY"}, PartSupp},
		} {
			for _, value := range column(t, d, reference.from, reference.columns...) {
				if !keys[reference.to.String()][value] {
					t.Fatalf("scale %d: %s refers to %s of %s, which is not there", scale, reference.from, value, reference.to)
				}
			}
		}
	}
}

// A part has four suppliers at every scale.
func TestSuppliersOfAPartDiffer(t *testing.T) {
	for scale := Scale(1); scale <= 400; scale++ {
		d := &Data{scale: scale}
		for part := int64(1); part <= d.Units(Part); part += 1 + int64(scale)/7 {
			seen := map[int64]bool{}
			for i := range int64(suppliersPerPart) {
				key := d.supplierOf(part, i)
				if seen[key] || key < 1 || key > d.Units(Supplier) {
					t.Fatalf("scale %d: part %d has supplier %d of %d twice, or he does not exist", scale, part, key, d.Units(Supplier))
				}
				seen[key] = true
			}
		}
	}
}

func TestForm(t *testing.T) {
	const date, cents, text = `199[2-8]-[01][0-9]-[0-3][0-9]`, `-?(0|[1-9][0-9]*)\.[0-9]{2}`, `[a-z. ]`
	comment := func(low, high int) string { return fmt.Sprintf("%s{%d,%d}", text, low, high) }
	const key, address, phone = `(0|[1-9][0-9]*)`, `[0-9A-Za-z, ]{10,40}`, `[1-3][0-9]-[1-9][0-9]{2}-[1-9][0-9]{2}-[1-9][0-9]{3}`
	d := New(11, 1)
	for table, columns := range map[Table][]string{
		Region:   {"[0-4]", "[A-Z ]{1,25}", comment(31, 115)},
		Nation:   {"1?[0-9]|2[0-4]", "[A-Z ]{1,25}", "[0-4]", comment(31, 114)},
		Supplier: {key, key, comment(25, 100), "Supplier#[0-9]{9}", address, phone, cents},
		Customer: {key, "[A-Z]{1,10}", key, "Customer#[0-9]{9}", address, phone, cents, comment(29, 116)},
		Part: {
			key, "[A-Z ]{1,25}", "[1-9]|[1-4][0-9]|50", "Brand#[1-5][1-5]", "[a-z ]{1,55}", "[A-Z ]{1,10}", "Manufacturer#[1-5]",
			cents, comment(5, 22),
		},
		PartSupp: {key, key, "[1-9][0-9]{0,2}|1000", "[1-9][0-9]{0,3}", comment(49, 198)},
		Orders: {
			date, key, key, "[1-5]-[A-Z ]{1,13}", "0", "Clerk#0{7}[01][0-9]", "[FOP]", cents, comment(19, 78),
		},
		LineItem: {
			date, key, `0\.(0[0-9]|10)`, cents, key, "[1-9]|[1-4][0-9]|50", "[RAN]", key, "[FO]", `0\.0[0-8]`, date, date,
			"[A-Z ]{1,10}", "[1-7]", "[A-Z ]{1,25}", comment(10, 43),
		},
	} {
		var patterns []string
		for _, c := range columns {
			patterns = append(patterns, "("+c+")")
		}
		form := regexp.MustCompile("^" + strings.Join(patterns, `\|`) + "$")
		for _, row := range lines(t, d, table) {
			if line := strings.Join(row, "|"); !form.MatchString(line) {
				t.Fatalf("%s: %q is not like %s", table, line, form)
			}
		}
	}
}

func day(t *testing.T, text string) int {
	t.Helper()
	at := must.Get(time.Parse(time.DateOnly, text))(t)
	return int(at.Unix() / (24 * 3600))
}

func TestRetailPrices(t *testing.T) {
	d := New(9, 1)
	price := map[string]float64{}
	for _, row := range lines(t, d, Part) {
		price[row[0]] = number(t, row[7])
	}
	// (90000 + floor(p/10) mod 20001 + 100 (p mod 1000)) / 100
	for part, want := range map[string]float64{"1": 901.00, "10": 910.01, "1000": 901.00, "1999": 1900.99} {
		must.Same(t, fmt.Sprintf("part %s costs", part), want, price[part])
	}
	for _, row := range lines(t, d, LineItem) {
		if got, want := number(t, row[3]), number(t, row[5])*price[row[7]]; math.Abs(got-want) > 0.001 {
			t.Fatalf("%s pieces of part %s cost %g, want %g", row[5], row[7], got, want)
		}
	}
}

// Every value of a column is as likely as another: chi-squared with k degrees of freedom is below k + 5√(2k) but for one
// in a million tables.
func TestValuesAreEquallyLikely(t *testing.T) {
	d := New(21, 2)
	for _, tc := range []struct {
		table  Table
		column string
		values int
	}{
		{Supplier, "S_NATIONKEY", 25},
		{Customer, "C_NATIONKEY", 25},
		{Customer, "C_MKTSEGMENT", 5},
		{Part, "P_TYPE", 150},
		{Part, "P_BRAND", 25},
		{Part, "P_CONTAINER", 40},
		{Part, "P_SIZE", 50},
		{PartSupp, "PS_SUPPLYCOST", 1000},
		{Orders, "O_ORDERPRIORITY", 5},
		{Orders, "O_CLERK", 20},
		{Orders, "O_ORDERDATE", 2405},
		{LineItem, "L_QUANTITY", 50},
		{LineItem, "L_DISCOUNT", 11},
		{LineItem, "L_TAX", 9},
		{LineItem, "L_SHIPMODE", 7},
		{LineItem, "L_SHIPINSTRUCT", 4},
		{LineItem, "L_PARTKEY", 4000},
		{LineItem, "L_SUPPKEY", 200},
	} {
		counts := map[string]float64{}
		all := column(t, d, tc.table, tc.column)
		for _, value := range all {
			counts[value]++
		}
		expected, chi := float64(len(all))/float64(tc.values), 0.0
		for _, n := range counts {
			chi += (n - expected) * (n - expected) / expected
		}
		chi += float64(tc.values-len(counts)) * expected
		freedom := float64(tc.values - 1)
		if limit := freedom + 5*math.Sqrt(2*freedom); chi > limit || len(counts) > tc.values {
			t.Errorf("%s: %d values, want %d; chi-squared %.0f is above %.0f", tc.column, len(counts), tc.values, chi, limit)
		}
	}
}

// Rows are as wide on average as those of the public generator at scale 1, without the separator at
// their end, and without the decimals of PS_SUPPLYCOST.
func TestWidths(t *testing.T) {
	d := New(1, 100)
	for table, want := range map[Table]float64{
		Supplier: 139.9, Customer: 161.3, Part: 119.7, PartSupp: 147.7 - 3, Orders: 113.6, LineItem: 125.6,
	} {
		bytes, rows := 0, 0
		var buf []byte
		for unit := int64(0); unit < d.Units(table); unit += 1 + d.Units(table)/20000 {
			buf = d.Append(buf[:0], table, unit)
			bytes += len(buf)
			rows += strings.Count(string(buf), "\n")
		}
		if got := float64(bytes) / float64(rows); math.Abs(got/want-1) > 0.02 {
			t.Errorf("%s: %.1f bytes per row, want %.1f", table, got, want)
		}
	}
}

// The data of a seed never changes: results of different releases would not be comparable.
func TestGolden(t *testing.T) {
	for _, tc := range []struct {
		seed  int64
		scale Scale
		want  map[Table]checksum.Checksum
	}{
		{seed: 42, scale: 1, want: map[Table]checksum.Checksum{
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
			must.Same(t, fmt.Sprintf("seed %d, scale %d, %s", tc.seed, tc.scale, table), want, d.Checksum(table))
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
	must.Same(t, fmt.Sprintf("orders by status: %v", statuses), 3, len(statuses))
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
