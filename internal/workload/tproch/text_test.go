// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package tproch

import (
	"math"
	"strconv"
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

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
