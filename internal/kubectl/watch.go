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
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
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
	ctx context.Context, streams genericiooptions.IOStreams, cl client.WithWatch, key client.ObjectKey,
) error {
	from, err := c.logs()
	if err != nil {
		return err
	}
	w := &watcher{cl: cl, logs: from, screen: newScreen(streams), namespace: key.Namespace, name: key.Name}
	return w.follow(ctx)
}

// watcher follows one run.
type watcher struct {
	cl              client.WithWatch
	logs            logs
	screen          screen
	namespace, name string

	// now is what is known, or nil before the first answer of the API server.
	now *snapshot
	// loader is the Pod whose log is read; stopReading ends that.
	loader      string
	stopReading context.CancelFunc
	paces       chan string
	logErrors   chan error
	warned      bool
}

// redraw is how often a terminal shows how much time is left.
const redraw = time.Second

func (w *watcher) follow(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.stopReading, w.paces, w.logErrors = func() {}, make(chan string), make(chan error)
	in := client.InNamespace(w.namespace)
	runs := changes[*v1alpha1.BenchmarkRun](ctx, w.cl, new(v1alpha1.BenchmarkRunList), in,
		client.MatchingFields{"metadata.name": w.name})
	pods := changes[*corev1.Pod](ctx, w.cl, new(corev1.PodList), in, labelsOf(w.name),
		client.MatchingLabels{v1alpha1.LabelComponent: v1alpha1.ComponentLoader})
	ticks := time.NewTicker(redraw)
	defer ticks.Stop()
	defer w.screen.clear()
	for {
		select {
		case <-ctx.Done():
			return errors.New("interrupted: it continues to run")
		case c := <-runs:
			if ended, err := w.changed(c); ended || err != nil {
				return err
			}
		case c, open := <-pods:
			if !open || c.err != nil {
				pods = nil
				w.withoutRate(c.err)
				continue
			}
			w.read(ctx, c)
		case text := <-w.paces:
			if w.now != nil {
				w.now.pace = text
			}
		case err := <-w.logErrors:
			w.withoutRate(err)
		case <-ticks.C:
			if w.now != nil {
				w.screen.show(w.now, time.Now())
			}
		}
	}
}

// changed is called with what the API server says of the run. It returns true when the run has finished.
func (w *watcher) changed(c change[*v1alpha1.BenchmarkRun]) (bool, error) {
	switch {
	case c.err != nil:
		return false, c.err
	case c.listed && w.now == nil, c.deleted && c.object.GetName() == w.name:
		return false, fmt.Errorf("%s was deleted", w.name)
	case c.object == nil || c.object.GetName() != w.name:
		return false, nil
	}
	pace := ""
	if w.now != nil {
		pace = w.now.pace
	}
	w.now = snapshotOf(c.object)
	w.now.pace = pace
	if !w.now.finished() {
		w.screen.show(w.now, time.Now())
		return false, nil
	}
	w.screen.clear()
	return true, w.screen.end(w.now)
}

// read the log of the loader that measures now. Of several, the first one speaks for all.
func (w *watcher) read(ctx context.Context, c change[*corev1.Pod]) {
	pod := c.object
	if pod == nil || pod.Annotations["batch.kubernetes.io/job-completion-index"] > "0" {
		return
	}
	running := pod.Status.Phase == corev1.PodRunning && !c.deleted
	switch {
	case !running && pod.Name == w.loader:
		w.stopReading()
		w.loader = ""
		if w.now != nil {
			w.now.pace = ""
		}
	case running && pod.Name != w.loader:
		w.stopReading()
		w.loader = pod.Name
		reading, stop := context.WithCancel(ctx)
		w.stopReading = stop
		go w.reading(reading, pod.Name)
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
			return fmt.Sprintf("%s %s rows/s", p.phase, grouped(int64(rate+0.5)))
		}
	}
	if p.note != "" {
		return p.phase + ", " + p.note
	}
	return p.phase
}

// grouped writes a number with a comma between every three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
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
