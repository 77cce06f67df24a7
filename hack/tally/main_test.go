// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/benchrun-dev/benchrun/internal/testutil/must"
)

const gotestsum = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="0" time="0.1">
	<testsuite tests="3" failures="1" time="0.1" name="example/a">
		<properties><property name="go.version" value="go1.26"></property></properties>
		<testcase classname="example/a" name="TestA" time="0.1"></testcase>
		<testcase classname="example/a" name="TestA/sub" time="0.1"></testcase>
		<testcase classname="example/a" name="TestB" time="0"><failure message="Failed" type="">b</failure></testcase>
	</testsuite>
	<testsuite tests="1" failures="0" time="0" name="example/c">
		<testcase classname="example/c" name="TestC" time="0"><skipped message="no"></skipped></testcase>
	</testsuite>
</testsuites>`

const ginkgo = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" disabled="1" errors="1" failures="0" time="1">
	<testsuite name="e2e" package="/test/e2e" tests="4" skipped="0" errors="1" failures="0" time="1">
		<properties><property name="SuiteSucceeded" value="false"></property></properties>
		<testcase name="[BeforeSuite]" classname="e2e" status="passed" time="1"></testcase>
		<testcase name="[It] runs" classname="e2e" status="passed" time="1"><system-err>x</system-err></testcase>
		<testcase name="[It] waits" classname="e2e" status="pending" time="0"><skipped message="pending"></skipped></testcase>
		<testcase name="[It] panics" classname="e2e" status="panicked" time="0"><error message="x" type="panicked">x</error></testcase>
		<testcase name="[AfterSuite]" classname="e2e" status="failed" time="0"><failure message="x" type="failed">x</failure></testcase>
	</testsuite>
</testsuites>`

func TestAddCountsEachTestOnce(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    count
	}{
		"gotestsum": {gotestsum, count{passed: 2, failed: 1, skipped: 1}},
		"Ginkgo":    {ginkgo, count{passed: 1, failed: 2, skipped: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var got count
			must.Do(t, got.add([]byte(test.content)))
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestAddRefusesAFileThatWasNotWrittenToItsEnd(t *testing.T) {
	if err := new(count).add([]byte(gotestsum[:200])); err == nil {
		t.Error("half a file was counted")
	}
}

func TestGoodOnlyIfEverythingRanAndPassed(t *testing.T) {
	for name, test := range map[string]struct {
		count  count
		status string
		want   bool
	}{
		"all passed":       {count{passed: 3}, "0", true},
		"nothing ran":      {count{}, "0", false},
		"one failed":       {count{passed: 3, failed: 1}, "0", false},
		"one was skipped":  {count{passed: 3, skipped: 1}, "0", false},
		"the program died": {count{passed: 3}, "2", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.count.good(test.status); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
