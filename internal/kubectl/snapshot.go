// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"fmt"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// snapshot is a run at one time.
type snapshot struct {
	kind            *kind
	namespace, name string
	// unit is what is counted: trials or rounds.
	unit                       string
	conditions                 []metav1.Condition
	done, planned, invalidated int
	// mayEndEarly: not all that is planned has to be measured.
	mayEndEarly bool
	// needsDecision: one that is Complete without being Decided has no answer.
	needsDecision                         bool
	started, completed, deadline, expires *metav1.Time
	retention                             v1alpha1.Retention
	elapsed                               string
	suspended                             time.Duration
	// answer is what was found, and soFar the answers of a comparison up to now.
	answer, soFar string
	// hints are what could give an answer if there is none.
	hints []string
	// pace is what the loader does, if that is known.
	pace    string
	results v1alpha1.ResultsReference
	// records is the newest record of a run.
	records v1alpha1.RecordReference
}

func seconds(n *int64) time.Duration { return time.Duration(ptr.Deref(n, 0)) * time.Second }

// maxAnswers is how many pairs are listed while a comparison is under way.
const maxAnswers = 4

// soFar lists the pairs of a comparison with their ratios.
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
		parts = append(parts, of+", "+verdicts[c.Verdict])
	}
	if more := len(parts) - maxAnswers; more > 0 {
		parts = append(parts[:maxAnswers], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// verdicts in words.
var verdicts = map[v1alpha1.Verdict]string{
	v1alpha1.VerdictFaster: "faster", v1alpha1.VerdictSlower: "slower", v1alpha1.VerdictEqual: "equal",
	v1alpha1.VerdictNoDifferenceShown: "no difference shown", v1alpha1.VerdictCannotSay: "undecided",
}

// notSeen is the state of an object without conditions.
const notSeen = "New"

// ready is the condition that says what is happening; its reason is notSeen before the operator has seen the object.
func (m *snapshot) ready() metav1.Condition {
	of := v1alpha1.ConditionReady
	if m.is(v1alpha1.ConditionFailed) {
		of = v1alpha1.ConditionFailed // it alone has the message
	}
	if c := apimeta.FindStatusCondition(m.conditions, of); c != nil {
		return *c
	}
	return metav1.Condition{Reason: notSeen, Message: "the operator has not seen it yet"}
}

func (m *snapshot) is(condition string) bool {
	return apimeta.IsStatusConditionTrue(m.conditions, condition)
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

// answerSoFar is what was found, and whether that may change.
func (m *snapshot) answerSoFar() string {
	if m.finished() {
		return "Answer: " + m.answer
	}
	return "So far: " + m.answer
}

// left is how much longer it takes, at the pace up to now; empty if that is unknown.
func (m *snapshot) left(now time.Time) string {
	elapsed, err := time.ParseDuration(m.elapsed)
	if err != nil || m.done == 0 || m.started == nil || m.ready().Reason != v1alpha1.ReasonMeasuring {
		return ""
	}
	each := max(0, elapsed-m.suspended) / time.Duration(m.done)
	since := now.Sub(m.started.Add(elapsed))
	left := max(each*time.Duration(m.planned-m.done)-since, 0).Round(time.Second)
	if left > time.Minute {
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
	return fmt.Errorf("%s %s failed: %s: %s", m.kind.name, m.name, ready.Reason, ready.Message)
}

// end is the line that stays when it has finished, or the error that says how it failed. The code of a comparison without an
// answer is one of its own.
func (m *snapshot) end() (string, error) {
	if err := m.failure(); err != nil {
		return "", err
	}
	words := fmt.Sprintf("%s: %s, %d/%d %s in %s: %s", m.name, m.ready().Reason, m.done, m.planned, m.unit, m.elapsed, m.answer)
	if m.needsDecision && m.ready().Reason != v1alpha1.ReasonDecided {
		return words, verdictError{ExitCannotSay}
	}
	return words, nil
}
