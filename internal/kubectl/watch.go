// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

func newWatch(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "watch NAME",
		Short: "Follow a run until it has finished",
		Long: `Follow a run until it has finished: a line for each trial, or round of variants, that has been measured, with how much
longer it takes, and for what takes ten seconds or longer. The log of a loader has its current rate: see logs.

The exit code is 0 for a run that is Complete or, with variants, Decided; 2 for one that is Undecided; and 3 if it Failed.`,
		Example: `  # Progress and remaining time.
  kubectl benchrun watch commit-size

  # In a script: continue when there is an answer.
  kubectl benchrun watch durable-or-not && kubectl benchrun report durable-or-not`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: c.onRun(func(ctx context.Context, cl client.Client, run *v1alpha1.BenchmarkRun) error {
			return watch(ctx, streams.Out, cl, client.ObjectKeyFromObject(run))
		}),
	}
}

func watch(ctx context.Context, out io.Writer, cl client.Client, key client.ObjectKey) error {
	return (&watcher{cl: cl, key: key, every: time.Second, out: out}).follow(ctx)
}

// watcher follows one run: a line for more that is measured, for another phase, and for what is done or waited for if that lasts.
type watcher struct {
	cl  client.Client
	key client.ObjectKey
	// every is how often the run is read.
	every time.Duration
	out   io.Writer

	// now is what is known, or nil before the first answer of the API server.
	now *snapshot
	// state is what was seen last, since when; written is the state of the line that was written last, and progress how far it was.
	state, written, progress, soFar string
	since                           time.Time
}

// settled is how long a state lasts before it is a line of its own: the steps of a round that pass by in a moment are no news.
const settled = 10 * time.Second

// follow reads the run again and again: an API server that restarts, or a network that is gone for a moment, does not end it.
func (w *watcher) follow(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, w.every, true, w.look)
	if err != nil && errors.Is(err, ctx.Err()) {
		return errors.New("interrupted: it continues to run")
	}
	return err
}

// look at the run, and show it. It returns true when the run has finished.
func (w *watcher) look(ctx context.Context) (bool, error) {
	run := new(v1alpha1.BenchmarkRun)
	err := w.cl.Get(ctx, w.key, run)
	switch {
	case apierrors.IsNotFound(err), err == nil && w.now != nil && w.now.run.UID != run.UID:
		return false, fmt.Errorf("%s was deleted", w.key.Name)
	case err != nil && (ctx.Err() != nil || passes(err) || w.now != nil && unreachable(err) != nil):
		return false, nil //nolint:nilerr // it may be over at the next look
	case err != nil:
		return false, err
	}
	w.now = snapshotOf(run)
	if !w.now.finished() {
		w.show(time.Now())
		return false, nil
	}
	words, err := w.now.end()
	if words != "" {
		say(w.out, words)
		say(w.out, "kubectl benchrun report "+w.key.Name+" prints the report.")
	}
	return true, err
}

func (w *watcher) show(now time.Time) {
	state, progress := w.now.state(), w.now.progress()
	if state != w.state {
		w.state, w.since = state, now
	}
	if progress != w.progress || state != w.written && now.Sub(w.since) >= settled {
		w.written, w.progress = state, progress
		line := w.key.Name + ": " + state
		if left := w.now.left(now); left != "" {
			line += "; " + left
		}
		say(w.out, line)
	}
	if w.now.soFar != "" && w.now.soFar != w.soFar {
		w.soFar = w.now.soFar
		say(w.out, w.key.Name+": so far: "+w.soFar)
	}
}

func say(w io.Writer, line string) {
	fmt.Fprintln(w, line) //nolint:errcheck // a terminal that is gone is no reason to stop watching
}

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
