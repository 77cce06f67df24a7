// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Command promql reads PromQL expressions, a JSON list of texts on standard input, by Prometheus' own parser, and writes what
// they select: a JSON list of metrics with the conditions on their labels. It fails if an expression is refused. It has a module
// of its own, so that nothing else depends on Prometheus.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// selector of series.
type selector struct {
	Metric string `json:"metric"`
	// Labels are the conditions, by the label's name.
	Labels map[string]string `json:"labels"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "promql:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var expressions []string
	if err := json.NewDecoder(in).Decode(&expressions); err != nil {
		return fmt.Errorf("reading the expressions: %w", err)
	}
	list, p := []selector{}, parser.NewParser(parser.Options{})
	for _, text := range expressions {
		parsed, err := p.ParseExpr(text)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		for _, matchers := range parser.ExtractSelectors(parsed) {
			list = append(list, selectorOf(matchers))
		}
	}
	return json.NewEncoder(out).Encode(list)
}

func selectorOf(matchers []*labels.Matcher) selector {
	s := selector{Labels: map[string]string{}}
	for _, m := range matchers {
		if m.Name == labels.MetricName {
			s.Metric = m.Value
		} else {
			s.Labels[m.Name] = m.Value
		}
	}
	return s
}
