// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package result

import (
	"reflect"
	"testing"
)

// Every count is added, also one that comes later. How long it took, and why it ended, is no count.
func TestTotalsAdd(t *testing.T) {
	filled := func(n int64) Totals {
		var totals Totals
		v := reflect.ValueOf(&totals).Elem()
		for _, f := range v.Fields() {
			if f.Kind() == reflect.Int64 {
				f.SetInt(n)
			}
		}
		return totals
	}
	sum, other := filled(1), filled(2)
	sum.Add(&other)
	want := filled(3)
	want.Micros = 1
	if sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
}

// What is unknown of one is unknown of the sum, whichever comes first.
func TestConsumed(t *testing.T) {
	known := ClientFacts{UserMicros: 1, SystemMicros: 2, ThrottledMicros: 3, MaxRSSBytes: 4, LateAnswers: 5, CPUs: 2, CPULimitMillis: 500}
	unknown := known
	unknown.ThrottledMicros = -1
	for _, pair := range [][2]ClientFacts{{known, unknown}, {unknown, known}} {
		sum := pair[0]
		sum.Consumed(&pair[1])
		want := ClientFacts{UserMicros: 2, SystemMicros: 4, ThrottledMicros: -1, MaxRSSBytes: 4, LateAnswers: 10, CPUs: 2, CPULimitMillis: 500}
		if sum != want {
			t.Errorf("%+v, want %+v", sum, want)
		}
	}
	sum := known
	if sum.Consumed(&known); sum.ThrottledMicros != 6 {
		t.Errorf("%+v", sum)
	}
}
