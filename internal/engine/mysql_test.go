// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/engine"
)

// Each engine knows its own servers by their version, and no other's.
func TestEnginesAreDistinguished(t *testing.T) {
	for version, want := range map[string]*engine.Engine{
		"11.8.3-MariaDB-log": &engine.MariaDB, "10.11.14-MariaDB-0+deb12u2": &engine.MariaDB,
		"8.4.6": &engine.MySQL, "9.7.4-2": &engine.MySQL, "8.4.5-5": &engine.MySQL,
	} {
		for _, e := range []*engine.Engine{&engine.MariaDB, &engine.MySQL} {
			if got := e.Variables.Matches(version); got != (e == want) {
				t.Errorf("%s: %s %v", version, e.Name, got)
			}
		}
	}
}

// What is not purged is the distance of two numbers in InnoDB's report.
func TestPurgeLag(t *testing.T) {
	gauge := engine.MySQL.Counters.Debt[1]
	for report, want := range map[string]string{
		"TRANSACTIONS\n------------\nTrx id counter 100246\nPurge done for trx's n:o < 100246 undo n:o < 0 state: running but idle\n": "0",
		"Trx id counter 5300\nPurge done for trx's n:o < 5000 undo n:o < 17 state: running\nHistory list length 17\n":                 "300",
		"Trx id counter 5300\nHistory list length 17\n":                                                                               "",
		"Trx id counter 99999999999999999999\nPurge done for trx's n:o < 5000":                                                        "",
		"": "",
	} {
		if got := gauge.Read(report); got != want {
			t.Errorf("%q: %q, want %q", report, got, want)
		}
	}
}
