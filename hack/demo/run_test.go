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
