// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command promql reads PromQL expressions from standard input, one on a line, and says which of them Prometheus' own parser refuses.
// It has a module of its own, so that nothing else depends on Prometheus.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/prometheus/prometheus/promql/parser"
)

func main() {
	lines, refused := bufio.NewScanner(os.Stdin), 0
	p := parser.NewParser(parser.Options{})
	for lines.Scan() {
		if _, err := p.ParseExpr(lines.Text()); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", lines.Text(), err)
			refused++
		}
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "reading the expressions:", err)
		os.Exit(1)
	}
	if refused > 0 {
		os.Exit(1)
	}
}
