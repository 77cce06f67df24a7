// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// logs opens the log of a container.
type logs func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)

// logRequest is whose log to print.
type logRequest struct {
	trial, attempt int
	follow         bool
}

func newLogs(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	var of logRequest
	command := &cobra.Command{
		Use:   "logs NAME --trial N",
		Short: "Print the log of a trial's loader, or its record",
		Long: `Print the log of a trial's loader.

A loader's Pod exists until its trial is recorded. After that, the record is printed: how the attempt ended and why, and the
output of the program that generated the load. Log lines that carry the result document are omitted.

The log of the database: kubectl logs -l benchrun.dev/run=NAME,benchrun.dev/component=database -c server.`,
		Example: `  # The loader of the seventh trial, while it runs.
  kubectl benchrun logs commit-size --trial 7 -f

  # Why the first attempt of trial 3 did not count.
  kubectl benchrun logs commit-size --trial 3 --attempt 1
`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			cl, run, err := c.run(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			from, err := c.logs()
			if err != nil {
				return err
			}
			return of.print(command.Context(), cl, from, run, streams.Out)
		},
	}
	command.Flags().IntVar(&of.trial, "trial", 0, "number of the trial, from 1, in the order in which they are measured")
	command.Flags().IntVar(&of.attempt, "attempt", 0, "number of the attempt, from 1 (default: the newest)")
	command.Flags().BoolVarP(&of.follow, "follow", "f", false, "follow the log until it ends")
	utilruntime.Must(command.MarkFlagRequired("trial"))
	return command
}

func (r logRequest) print(ctx context.Context, cl client.Reader, from logs, run *v1alpha1.BenchmarkRun, out io.Writer) error {
	var pods corev1.PodList
	err := cl.List(ctx, &pods, client.InNamespace(run.Namespace), client.MatchingLabels{
		v1alpha1.LabelRun: run.Name, v1alpha1.LabelComponent: v1alpha1.ComponentLoader, v1alpha1.LabelTrial: strconv.Itoa(r.trial),
	})
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	var newest *corev1.Pod
	for i := range pods.Items {
		n := attemptOf(&pods.Items[i])
		if r.attempt == n || r.attempt == 0 && (newest == nil || n > attemptOf(newest)) {
			newest = &pods.Items[i]
		}
	}
	if newest == nil {
		return r.printRecord(ctx, cl, run, out)
	}
	err = copyLog(ctx, from, newest, r.follow, out)
	if err != nil && !apierrors.IsForbidden(err) && r.printRecord(ctx, cl, run, out) == nil {
		return nil // the Pod may be gone meanwhile
	}
	return err
}

func attemptOf(pod *corev1.Pod) int {
	n, _ := strconv.Atoi(pod.Labels[v1alpha1.LabelAttempt]) // 0 is none
	return n
}

// forPeople is a line of a log as it is printed; empty if it is not for people.
func forPeople(line string) string {
	text := strings.TrimRight(line, "\r\n")
	if result.IsDocumentLine(text) {
		return ""
	}
	if p, is := result.ParseProgress(text); is {
		return p.String() + line[len(text):]
	}
	return line
}

// copyLog prints a log without the lines of an encoded document, and what a loader does in words.
func copyLog(ctx context.Context, from logs, pod *corev1.Pod, follow bool, out io.Writer) error {
	log, err := from(ctx, pod.Namespace, pod.Name, &corev1.PodLogOptions{Container: trial.Container, Follow: follow})
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // it was only read
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if _, err := io.WriteString(out, forPeople(line)); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
