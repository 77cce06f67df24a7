// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

func newWatch(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "watch NAME",
		Short: "Follow a run until it has finished",
		Long: `Follow a run until it has finished: a live display on a terminal. Elsewhere, one line for each trial, or round of
variants, that has been measured, and for what takes ten seconds or longer.

The current rate is read from the loader's log. It is omitted if you are not allowed to read the logs of Pods.

The exit code is 0 for a run that is Complete or, with variants, Decided; 2 for one that is Undecided; and 3 if it Failed.`,
		Example: `  # Progress, current rate and remaining time.
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
			return c.watch(command.Context(), streams, cl, client.ObjectKeyFromObject(run))
		},
	}
}

// watch a run until it has finished.
func (c *cluster) watch(
	ctx context.Context, streams genericiooptions.IOStreams, cl client.Client, key client.ObjectKey,
) error {
	from, err := c.logs()
	if err != nil {
		return err
	}
	w := &watcher{cl: cl, logs: from, screen: newScreen(streams), namespace: key.Namespace, name: key.Name, every: time.Second}
	return w.follow(ctx)
}

// watcher follows one run.
type watcher struct {
	cl              client.Client
	logs            logs
	screen          screen
	namespace, name string
	// every is how often the run is read, and shown.
	every time.Duration

	// now is what is known, or nil before the first answer of the API server.
	now *snapshot
	// loader is the Pod whose log is read; stopReading ends that.
	loader      string
	stopReading context.CancelFunc
	paces       chan string
	logErrors   chan error
	warned      bool
}

// follow reads the run again and again: an API server that restarts, or a network that is gone for a moment, does not end it.
func (w *watcher) follow(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.stopReading, w.paces, w.logErrors = func() {}, make(chan string), make(chan error)
	ticks := time.NewTicker(w.every)
	defer ticks.Stop()
	defer w.screen.clear()
	for {
		if ended, err := w.look(ctx); ended || err != nil {
			return err
		}
		for ticked := false; !ticked; {
			select {
			case <-ctx.Done():
				return errors.New("interrupted: it continues to run")
			case text := <-w.paces:
				w.now.pace = text
			case err := <-w.logErrors:
				w.withoutRate(err)
			case <-ticks.C:
				ticked = true
			}
		}
	}
}

// look at the run, and show it. It returns true when the run has finished.
func (w *watcher) look(ctx context.Context) (bool, error) {
	run := new(v1alpha1.BenchmarkRun)
	err := w.cl.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: w.name}, run)
	switch {
	case apierrors.IsNotFound(err), err == nil && w.now != nil && w.now.run.UID != run.UID:
		return false, fmt.Errorf("%s was deleted", w.name)
	case err != nil && (ctx.Err() != nil || passes(err) || w.now != nil && unreachable(err)):
		return false, nil //nolint:nilerr // it may be over at the next look
	case err != nil:
		return false, err
	}
	pace := ""
	if w.now != nil {
		pace = w.now.pace
	}
	w.now = snapshotOf(run)
	w.now.pace = pace
	if w.now.finished() {
		w.screen.clear()
		return true, w.screen.end(w.now)
	}
	w.read(ctx)
	w.screen.show(w.now, time.Now())
	return false, nil
}

// read the log of the loader that measures now. Of several, the first one speaks for all.
func (w *watcher) read(ctx context.Context) {
	var pods corev1.PodList
	if err := w.cl.List(ctx, &pods, client.InNamespace(w.namespace), labelsOf(w.name),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentLoader}); err != nil {
		if apierrors.IsForbidden(err) {
			w.withoutRate(err)
		}
		return
	}
	running := ""
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase == corev1.PodRunning && pod.Annotations["batch.kubernetes.io/job-completion-index"] <= "0" {
			running = pod.Name
		}
	}
	if running == w.loader {
		return
	}
	w.stopReading()
	w.loader, w.now.pace = running, ""
	if running != "" {
		reading, stop := context.WithCancel(ctx)
		w.stopReading = stop
		go w.reading(reading, running)
	}
}

func (w *watcher) reading(ctx context.Context, pod string) {
	err := readPace(ctx, w.logs, w.namespace, pod, trial.Container, func(text string) {
		select {
		case w.paces <- text:
		case <-ctx.Done():
		}
	})
	if err == nil || ctx.Err() != nil {
		return
	}
	select {
	case w.logErrors <- err:
	case <-ctx.Done():
	}
}

// withoutRate says once why there is no rate.
func (w *watcher) withoutRate(err error) {
	if err == nil || w.warned {
		return
	}
	w.warned = true
	w.screen.note("the rate is not available: " + explained(err))
}

// logs opens the log of a container.
type logs interface {
	open(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)
}

// podLogs are those that the API server gives.
type podLogs struct{ client kubernetes.Interface }

func (l podLogs) open(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	return l.client.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
}

// paceLines are how many lines the rate is computed over.
const paceLines = 6

// pace is what a loader does, by the lines of its log.
type pace struct {
	phase         string
	seconds, rows []float64
	note          string
}

// add reads a line, and says whether it was one about progress.
func (p *pace) add(line string) bool {
	now, is := result.ParseProgress(line)
	if !is {
		return false
	}
	if now.Phase != p.phase {
		*p = pace{phase: now.Phase}
	}
	p.note = now.Note
	if now.Rows != nil {
		p.seconds, p.rows = append(p.seconds, float64(now.Seconds)), append(p.rows, float64(*now.Rows))
		if len(p.rows) > paceLines {
			p.seconds, p.rows = p.seconds[1:], p.rows[1:]
		}
	}
	return true
}

// String is the phase with its rate, or with what the loader says of it.
func (p *pace) String() string {
	if last := len(p.rows) - 1; last > 0 && p.seconds[last] > p.seconds[0] {
		rate := (p.rows[last] - p.rows[0]) / (p.seconds[last] - p.seconds[0])
		if rate > 0 {
			return fmt.Sprintf("%s %s rows/s", p.phase, stats.Grouped(strconv.FormatInt(int64(rate+0.5), 10)))
		}
	}
	if p.note != "" {
		return p.phase + ", " + p.note
	}
	return p.phase
}

// readPace sends the pace after each line of a loader's log, until the log ends.
func readPace(ctx context.Context, from logs, namespace, pod, container string, send func(string)) error {
	tail := int64(paceLines)
	log, err := from.open(ctx, namespace, pod, &corev1.PodLogOptions{Container: container, Follow: true, TailLines: &tail})
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // it was only read
	p := new(pace)
	scanner := bufio.NewScanner(log)
	scanner.Buffer(nil, result.MaxLogLine)
	for scanner.Scan() {
		if p.add(strings.TrimRight(scanner.Text(), "\r")) {
			send(p.String())
		}
	}
	return scanner.Err()
}
