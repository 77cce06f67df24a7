// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestPlainLinesWhereThereIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	steps := []step{{name: "node image", why: "build it", first: 12 * time.Minute, again: time.Second}, {name: "cluster"}}
	s := &screen{out: &out, steps: steps, running: map[int]*state{}}

	s.start(0)
	s.running[0].since = time.Unix(1000, 0)
	s.say(0, "k8s.io/api")
	s.progress(time.Unix(1130, 0))
	s.end(0, outcome{wall: 200 * time.Second, cpu: 350 * time.Second})
	s.progress(time.Unix(1300, 0))

	want := `1/2 node image: build it (the first time 12m0s, then 1s)
  … 1/2 node image 2m10s k8s.io/api
1/2 node image: done in 3m20s, 5m50s of CPU
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestOnATerminalTheProgressIsOneLineThatFits(t *testing.T) {
	var out bytes.Buffer
	steps := []step{{name: "operator"}, {name: "sources"}}
	s := &screen{out: &out, terminal: true, steps: steps, running: map[int]*state{}}
	s.start(0)
	s.start(1)
	s.say(0, strings.Repeat("ü", 300))
	s.say(1, "other")
	out.Reset()
	s.progress(time.Now())

	line, found := strings.CutPrefix(out.String(), rewrite)
	if !found || strings.Contains(line, "\n") || len([]rune(line)) > width || !strings.Contains(line, "2/2 sources 0s other") {
		t.Errorf("got %q", out.String())
	}
}

func TestTheTableAddsUp(t *testing.T) {
	var out bytes.Buffer
	steps := []step{{name: "a", first: time.Minute, again: time.Second}, {name: "b", first: 2 * time.Minute, again: time.Second}}
	outcomes := []outcome{{wall: 50 * time.Second, cpu: 80 * time.Second}, {wall: 100 * time.Second, cpu: 20 * time.Second}}
	table(&out, steps, outcomes, outcome{wall: time.Second, cpu: 2 * time.Second}, outcome{cpu: 30 * time.Second}, 2*time.Minute)

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if got := strings.Fields(lines[1]); strings.Join(got, " ") != "a 1m0s 1s 50s 1m20s" {
		t.Errorf("a step: %v", got)
	}
	if got := strings.Fields(lines[len(lines)-1]); strings.Join(got, " ") != "all 2m0s 2m12s" {
		t.Errorf("all: %v", got)
	}
}
