// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrun-dev/benchrun/internal/stats"
)

// The texts are those that the loader, the workloads and this package write.
func TestCondense(t *testing.T) {
	for name, tc := range map[string]struct{ texts, want []string }{
		"none": {nil, nil},
		"a server not at rest": {
			[]string{
				"the server did not come to rest: after 5s it had 1940 dirty pages (the goal is 100), 12 pending reads (the goal is 0)",
				"the server did not come to rest: after 6s it had 2100 dirty pages (the goal is 100), 7 pending reads (the goal is 0)",
				"the server did not come to rest: after 5s it had 900 dirty pages (the goal is 100), 9 pending reads (the goal is 0)",
			},
			[]string{
				"the server did not come to rest: after 5–6s it had 900–2100 dirty pages (the goal is 100), 7–12 pending reads (the goal is 0)",
			},
		},
		"another debt is another text": {
			[]string{
				"the server did not come to rest: after 5s it had 1940 dirty pages (the goal is 100)",
				"the server did not come to rest: after 5s it had 7 pending reads (the goal is 0)",
			},
			[]string{
				"the server did not come to rest: after 5s it had 1940 dirty pages (the goal is 100)",
				"the server did not come to rest: after 5s it had 7 pending reads (the goal is 0)",
			},
		},
		"a busy client": {
			[]string{
				"the client used 85 % of one CPU, and one connection cannot use more: it may be what was measured",
				"the client used 9 % of one CPU, and one connection cannot use more: it may be what was measured",
				"the client used 100 % of one CPU, and one connection cannot use more: it may be what was measured",
			},
			[]string{"the client used 9–100 % of one CPU, and one connection cannot use more: it may be what was measured"},
		},
		"errors": {
			[]string{
				"20 transactions, 1.5 % of all, were rolled back and tried again",
				"3 transactions, 0.2 % of all, were rolled back and tried again",
			},
			[]string{"3–20 transactions, 0.2–1.5 % of all, were rolled back and tried again"},
		},
		"a load that was stopped": {
			[]string{
				"stopped by the limit of 60 s, after 1000 of 20000 rows; at the terminal rate all would take 1200 s",
				"stopped by the limit of 60 s, after 900 of 20000 rows; at the terminal rate all would take 1333 s",
			},
			[]string{"stopped by the limit of 60 s, after 900–1000 of 20000 rows; at the terminal rate all would take 1200–1333 s"},
		},
		"a rate": {
			[]string{
				"the rate of 100 transactions/s was not reached: 90.1 transactions/s, 90.1 % of those that were due; 5 still waited at " +
					"the end, and are in no latency",
				"the rate of 100 transactions/s was not reached: 88 transactions/s, 87.9 % of those that were due; 50 still waited at " +
					"the end, and are in no latency",
			},
			[]string{
				"the rate of 100 transactions/s was not reached: 88–90.1 transactions/s, 87.9–90.1 % of those that were due; 5–50 still " +
					"waited at the end, and are in no latency",
			},
		},
		"connections": {
			[]string{
				"sysbench connected anew 2 times while it measured", "sysbench connected anew 1 times while it measured",
			},
			[]string{"sysbench connected anew 1–2 times while it measured"},
		},
		"of how many trials": {
			[]string{"commits are slow (2 of 3 trials)", "commits are slow (1 of 3 trials)"},
			[]string{"commits are slow (1–2 of 3 trials)"},
		},
		"settings are no measures": {
			[]string{
				"commits are not durable: innodb_flush_log_at_trx_commit is 0", "commits are not durable: innodb_flush_log_at_trx_commit is 2",
			},
			[]string{
				"commits are not durable: innodb_flush_log_at_trx_commit is 0", "commits are not durable: innodb_flush_log_at_trx_commit is 2",
			},
		},
		"nor are roundings of settings": {
			[]string{
				"the server made 8388608 of innodb_log_file_size=8000000, a difference of 4.9 %",
				"the server made 4194304 of innodb_log_file_size=4000000, a difference of 4.9 %",
			},
			[]string{
				"the server made 8388608 of innodb_log_file_size=8000000, a difference of 4.9 %",
				"the server made 4194304 of innodb_log_file_size=4000000, a difference of 4.9 %",
			},
		},
		"nor are Pods": {
			[]string{
				"the client of Pod 0 was held back at its CPU limit for 2.5 % of the time",
				"the client of Pod 3 was held back at its CPU limit for 3.5 % of the time",
				"the client of Pod 0 was held back at its CPU limit for 1.5 % of the time",
				"Pods came to the database's node during the attempt: bench/cron-28 and 2 more",
				"Pods came to the database's node during the attempt: bench/cron-29 and 2 more",
			},
			[]string{
				"the client of Pod 0 was held back at its CPU limit for 1.5–2.5 % of the time",
				"the client of Pod 3 was held back at its CPU limit for 3.5 % of the time",
				"Pods came to the database's node during the attempt: bench/cron-28 and 2 more",
				"Pods came to the database's node during the attempt: bench/cron-29 and 2 more",
			},
		},
		"Pods that are not named": {
			[]string{
				"Pods came to the database's node during the attempt: 3 from Jobs, 1 without an owner",
				"Pods came to the database's node during the attempt: 12 from Jobs, 2 without an owner",
				"Pods came to the database's node during the attempt: 1 from DaemonSets",
			},
			[]string{
				"Pods came to the database's node during the attempt: 3–12 from Jobs, 1–2 without an owner",
				"Pods came to the database's node during the attempt: 1 from DaemonSets",
			},
		},
		"nor are versions": {
			[]string{"the server is 5.1.73, not 5.1.x", "the server is 5.1.72, not 5.1.x"},
			[]string{"the server is 5.1.73, not 5.1.x", "the server is 5.1.72, not 5.1.x"},
		},
		"nor are names of a user's own program": {
			[]string{"file 1 is missing", "file 3 is missing", "lost: row 5, 7", "lost: row 6, 9", "partitions 1, 2 failed", "partitions 1, 4 failed"},
			[]string{"file 1 is missing", "file 3 is missing", "lost: row 5, 7", "lost: row 6, 9", "partitions 1, 2 failed", "partitions 1, 4 failed"},
		},
		"how many rounds it would take": {
			[]string{
				"cannot say whether b1 differs from b2: a difference of 5 % would take about 323 rounds; one of 58 % would probably have been seen",
				"cannot say whether b1 differs from b2: a difference of 5 % would take about 189 rounds; one of 7.5 % would probably have been seen",
				"cannot say whether b3 differs from b2: a difference of 5 % would take about 189 rounds; one of 41 % would probably have been seen",
			},
			[]string{
				"cannot say whether b1 differs from b2: a difference of 5 % would take about 189–323 rounds; one of 7.5–58 % would " +
					"probably have been seen",
				"cannot say whether b3 differs from b2: a difference of 5 % would take about 189 rounds; one of 41 % would probably have been seen",
			},
		},
		"nor are settings with a unit, names that go on with one, and ordinals": {
			[]string{
				"wait_timeout=5 s was not taken", "wait_timeout=6 s was not taken", "bound to CPUs: 3", "bound to CPUs: 5",
				"Pod 0 stopped", "Pod 3 stopped", "the row of 4th disk", "the row of 5th disk",
			},
			[]string{
				"wait_timeout=5 s was not taken", "wait_timeout=6 s was not taken", "bound to CPUs: 3", "bound to CPUs: 5",
				"Pod 0 stopped", "Pod 3 stopped", "the row of 4th disk", "the row of 5th disk",
			},
		},
		"ranges": {
			[]string{"the client used 2–5 % of one CPU", "the client used 1–9 % of one CPU", "the client used 3 % of one CPU"},
			[]string{"the client used 1–9 % of one CPU"},
		},
		"a measure that is missing": {[]string{"up 5 % down", "up   % down"}, []string{"up 5 % down", "up   % down"}},
		"whatever bytes":            {[]string{"\x00", "\x00\x00", "1 a", "\xff 1 %"}, []string{"\x00", "\x00\x00", "1 a", "\xff 1 %"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			from := make([]int, 0, len(tc.texts))
			for _, said := range stats.Condense(tc.texts) {
				got, from = append(got, said.Text), append(from, said.From...)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			slices.Sort(from)
			for i := range from {
				if from[i] != i || len(from) != len(tc.texts) {
					t.Fatalf("it is made of %v", from)
				}
			}
			again := stats.Condense(slices.Concat(got, tc.texts))
			for i := range again {
				if len(again) != len(tc.want) || again[i].Text != tc.want[i] {
					t.Errorf("condensed again with its own texts: %v", again)
				}
			}
		})
	}
}

// Every text is in what was condensed, whatever it says, and what was condensed says the same once it is condensed again.
func FuzzCondense(f *testing.F) {
	f.Add("after 5s it had 3 pages", "after 6s it had 2 pages")
	f.Add("1–2 a", "3 a")
	f.Add("999999999999999999999999999999999999999999.5 %", "0 %")
	f.Fuzz(func(t *testing.T, a, b string) {
		list := stats.Condense([]string{a, b, a})
		n := 0
		for _, said := range list {
			n += len(said.From)
			again := stats.Condense([]string{said.Text, said.Text})
			if len(again) != 1 || again[0].Text != said.Text {
				t.Errorf("%q becomes %v", said.Text, again)
			}
		}
		if n != 3 || list[0].From[0] != 0 || !slices.Contains(list[0].From, 2) {
			t.Errorf("it is made of %v", list)
		}
	})
}
