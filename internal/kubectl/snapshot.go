// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// snapshot is a run at one time, as commands show it.
type snapshot struct {
	run *v1alpha1.BenchmarkRun
	// unit is what is counted: trials or, with variants, rounds.
	unit          string
	done, planned int
	// mayEndEarly: not all that is planned has to be measured.
	mayEndEarly bool
	// answer is what was found, and soFar the answers about variants up to now.
	answer, soFar string
	// hints are what could give an answer if there is none.
	hints []string
}

func snapshotOf(run *v1alpha1.BenchmarkRun) *snapshot {
	status := &run.Status
	m := &snapshot{
		run: run, unit: "trials", answer: status.Answer.Detail, mayEndEarly: run.Spec.Trials.Precision != nil,
		done: int(ptr.Deref(status.Trials.Measured, 0)), planned: int(ptr.Deref(status.Trials.Planned, 0)),
	}
	if len(run.Spec.Variants) > 0 {
		m.unit, m.soFar, m.hints = "rounds", soFar(status.Pairs), closer(run)
		m.mayEndEarly = plan.Rounds(&run.Spec).Until != v1alpha1.RoundsAll
		m.done, m.planned = 0, 0
		_, _ = fmt.Sscanf(status.Progress, "%d/%d", &m.done, &m.planned) // empty before the operator has seen it
	}
	return m
}

// closer says how rounds can be measured closer together, if variants that were measured one server at a time have no answer.
func closer(run *v1alpha1.BenchmarkRun) []string {
	open := slices.ContainsFunc(run.Status.Pairs, func(p v1alpha1.PairStatus) bool { return p.Verdict == v1alpha1.VerdictCannotSay })
	if !open || run.Status.CompletionTime == nil || run.Status.Alternation.Together() {
		return nil
	}
	if why := run.Status.AlternationReason; why != "" {
		return []string{"Why one server at a time was measured: " + why}
	}
	return []string{"What to do: with `alternation: Slices`, or `Trials` where slices are refused, the variants are measured " +
		"some seconds or less apart, not minutes, and an answer usually takes fewer rounds; more rounds (`rounds.atMost`) help, too."}
}

// maxAnswers is how many pairs are listed while a run with variants is in progress.
const maxAnswers = 4

// soFar lists pairs with their ratios.
func soFar(pairs []v1alpha1.PairStatus) string {
	var parts []string
	for i := range pairs {
		c := &pairs[i]
		if c.Ratio == "" {
			continue
		}
		parameters := map[string]string{}
		for name, value := range c.Parameters {
			parameters[name] = string(value)
		}
		ratio := c.Ratio + "×"
		if c.Low != "" {
			ratio += fmt.Sprintf(" (%s–%s)", c.Low, c.High)
		}
		of := strings.TrimSpace(fmt.Sprintf("%s %s %s", stats.Label(parameters), c.Variant, ratio))
		parts = append(parts, of+", "+stats.Words(c.Verdict))
	}
	if more := len(parts) - maxAnswers; more > 0 {
		parts = append(parts[:maxAnswers], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// notSeen is the state of an object without conditions.
const notSeen = "New"

// ready is the condition that says what is happening; its reason is notSeen before the operator has seen the object.
func (m *snapshot) ready() metav1.Condition {
	of := v1alpha1.ConditionReady
	if m.is(v1alpha1.ConditionFailed) {
		of = v1alpha1.ConditionFailed // it alone has the message
	}
	if c := apimeta.FindStatusCondition(m.run.Status.Conditions, of); c != nil {
		return *c
	}
	return metav1.Condition{Reason: notSeen, Message: "the operator has not seen it yet"}
}

func (m *snapshot) is(condition string) bool {
	return apimeta.IsStatusConditionTrue(m.run.Status.Conditions, condition)
}

func (m *snapshot) finished() bool { return m.is(v1alpha1.ConditionFinished) }

// progress is how far it is, and in which phase.
func (m *snapshot) progress() string {
	if m.planned == 0 {
		return m.ready().Reason
	}
	return fmt.Sprintf("%d/%d %s, %s", m.done, m.planned, m.unit, m.ready().Reason)
}

// state is its progress, and what it does or waits for.
func (m *snapshot) state() string { return m.progress() + ": " + m.ready().Message }

// left is how much longer it takes, at the pace up to now; empty if that is unknown, or has passed.
func (m *snapshot) left(now time.Time) string {
	status := &m.run.Status
	elapsed, err := time.ParseDuration(status.Elapsed)
	if err != nil || m.done == 0 || status.StartTime == nil || m.ready().Reason != v1alpha1.ReasonMeasuring {
		return ""
	}
	suspended := time.Duration(ptr.Deref(status.SuspendedSeconds, 0)) * time.Second
	each := max(0, elapsed-suspended) / time.Duration(m.done)
	since := now.Sub(status.StartTime.Add(elapsed))
	left := (each*time.Duration(m.planned-m.done) - since).Round(time.Second)
	switch {
	case left <= 0:
		return ""
	case left > time.Minute:
		left = left.Round(5 * time.Second)
	}
	words := fmt.Sprintf("about %s left", left)
	if m.mayEndEarly {
		words = "at most " + words
	}
	return words
}

// failure says why it failed, if it did.
func (m *snapshot) failure() error {
	if !m.is(v1alpha1.ConditionFailed) {
		return nil
	}
	ready := m.ready()
	return fmt.Errorf("run %s failed: %s: %s", m.run.Name, ready.Reason, ready.Message)
}

// end is the line that stays when it has finished, or the error that says how it failed. The code of a run with variants and
// without an answer is one of its own.
func (m *snapshot) end() (string, error) {
	if err := m.failure(); err != nil {
		return "", err
	}
	words := fmt.Sprintf("%s: %s, %d/%d %s in %s: %s", m.run.Name, m.ready().Reason, m.done, m.planned, m.unit,
		m.run.Status.Elapsed, m.answer)
	if len(m.run.Spec.Variants) > 0 && m.ready().Reason != v1alpha1.ReasonDecided {
		return words, verdictError{ExitCannotSay}
	}
	return words, nil
}
