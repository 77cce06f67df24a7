// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// quiet is a screen that shows nothing.
func quiet(steps []step) *screen {
	return &screen{out: &bytes.Buffer{}, steps: steps, running: map[int]*state{}}
}

func sh(name, script string, needs ...string) step {
	return step{name: name, command: []string{"sh", "-c", script}, needs: needs}
}

func TestEachStepWaitsForThoseThatItNeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	steps := []step{sh("last", "test -e a && test -e b", "a", "b"), sh("b", "test -e a && touch b", "a"), sh("a", "touch a")}

	if _, _, err := run(t.Context(), steps, &bytes.Buffer{}, quiet(steps)); err != nil {
		t.Fatal(err)
	}
}

func TestStepsThatNeedNothingOfEachOtherRunTogether(t *testing.T) {
	t.Chdir(t.TempDir())
	// Each waits for the other: one after the other would never end.
	steps := []step{sh("prepare", "mkfifo pipe"), sh("a", "echo x >pipe", "prepare"), sh("b", "read x <pipe && echo $x", "prepare")}
	steps[2].result = true

	_, result, err := run(t.Context(), steps, &bytes.Buffer{}, quiet(steps))
	if err != nil || string(result) != "x\n" {
		t.Errorf("got %q, %v", result, err)
	}
}

func TestAFailedStepEndsTheOthersAndSaysItsLastLines(t *testing.T) {
	steps := []step{
		sh("other", "sleep 600"),
		sh("broken", "echo before; echo the cause >&2; exit 3"),
		sh("never", "echo ran", "broken"),
	}
	var log bytes.Buffer
	started := time.Now()
	_, _, err := run(t.Context(), steps, &log, quiet(steps))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"broken failed", "exit status 3", "bin/demo.log", "before\nthe cause"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message does not have %q: %s", want, err)
		}
	}
	if took := time.Since(started); took > time.Minute {
		t.Errorf("the other step was left to run for %s", took)
	}
	if log.String() != "[broken] before\n[broken] the cause\n" {
		t.Errorf("log %q", log.String())
	}
}

func TestTheProcessorTimeIsThatOfAllProcessesOfAStep(t *testing.T) {
	steps := []step{sh("busy", `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'`)}

	outcomes, _, err := run(t.Context(), steps, &bytes.Buffer{}, quiet(steps))
	if err != nil {
		t.Fatal(err)
	}
	if cpu := outcomes[0].cpu; cpu < 10*time.Millisecond || cpu > outcomes[0].wall*2 {
		t.Errorf("%s of processor time in %s", cpu, outcomes[0].wall)
	}
}

func TestOnlyTheResultGoesToStandardOutput(t *testing.T) {
	s := sh("measure", "echo progress >&2; echo result")
	s.result = true
	var log bytes.Buffer
	_, result, err := run(t.Context(), []step{s}, &log, quiet([]step{s}))
	if err != nil || string(result) != "result\n" || log.String() != "[measure] progress\n" {
		t.Errorf("result %q, log %q, %v", result, log.String(), err)
	}
}

func TestTheStepsOfTheDemoCanAllStart(t *testing.T) {
	var done []string
	all := steps("hack/demo.sh")
	for range all {
		for _, s := range all {
			ready := !slices.ContainsFunc(s.needs, func(need string) bool { return !slices.Contains(done, need) })
			if ready && !slices.Contains(done, s.name) {
				done = append(done, s.name)
			}
		}
	}
	if len(done) != len(all) {
		t.Errorf("only these can start: %v", done)
	}
}

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
	table(&out, steps, outcomes, time.Second, 2*time.Minute)

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if got := strings.Fields(lines[1]); strings.Join(got, " ") != "a 1m0s 1s 50s 1m20s" {
		t.Errorf("a step: %v", got)
	}
	if got := strings.Fields(lines[len(lines)-1]); strings.Join(got, " ") != "all 2m0s 1m40s" {
		t.Errorf("all: %v", got)
	}
}
