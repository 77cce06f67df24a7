// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
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
		RunE: func(command *cobra.Command, arguments []string) error {
			cl, run, err := c.run(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			return watch(command.Context(), streams.Out, cl, client.ObjectKeyFromObject(run))
		},
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
	ticks := time.NewTicker(w.every)
	defer ticks.Stop()
	for {
		if ended, err := w.look(ctx); ended || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("interrupted: it continues to run")
		case <-ticks.C:
		}
	}
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
	if w.now.finished() {
		return true, w.end()
	}
	w.show(time.Now())
	return false, nil
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

func (w *watcher) end() error {
	words, err := w.now.end()
	if words != "" {
		say(w.out, words)
		say(w.out, "kubectl benchrun report "+w.key.Name+" prints the report.")
	}
	return err
}

func say(w io.Writer, line string) {
	fmt.Fprintln(w, line) //nolint:errcheck // a terminal that is gone is no reason to stop watching
}
