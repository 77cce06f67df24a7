// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command tally counts the tests in the JUnit files of one layer and prints them in one line:
//
//	tally LAYER STATUS FILE…
//
// STATUS is the exit status of the program that ran them. It fails if anything did, or if nothing ran. A skipped test counts as a
// failure: what cannot run must say so.
package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// count of the tests that ended so.
type count struct {
	passed, failed, skipped int
}

// suites is what gotestsum and Ginkgo write, as far as it matters here.
type suites struct {
	Suites []struct {
		Cases []testCase `xml:"testcase"`
	} `xml:"testsuite"`
}

type testCase struct {
	Name    string    `xml:"name,attr"`
	Failure *struct{} `xml:"failure"`
	Error   *struct{} `xml:"error"`
	Skipped *struct{} `xml:"skipped"`
}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: tally LAYER STATUS FILE…")
		os.Exit(2)
	}
	layer, status, files := os.Args[1], os.Args[2], os.Args[3:]

	var all count
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil {
			err = all.add(content)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "tally:", err) // a program that died before it could write it
			status = "no result"
		}
	}

	fmt.Printf("%s: %d passed, %d failed, %d skipped\n", layer, all.passed, all.failed, all.skipped)
	if !all.good(status) {
		os.Exit(1)
	}
}

// add counts the tests of a file. What Ginkgo does before and after the specs is no test, unless it fails.
func (c *count) add(content []byte) error {
	var found suites
	if err := xml.Unmarshal(content, &found); err != nil {
		return err
	}
	for _, suite := range found.Suites {
		for _, test := range suite.Cases {
			switch {
			case test.Failure != nil || test.Error != nil:
				c.failed++
			case strings.HasPrefix(test.Name, "[") && !strings.HasPrefix(test.Name, "[It]"):
			case test.Skipped != nil:
				c.skipped++
			default:
				c.passed++
			}
		}
	}
	return nil
}

func (c *count) good(status string) bool {
	return status == "0" && c.passed > 0 && c.failed == 0 && c.skipped == 0
}
