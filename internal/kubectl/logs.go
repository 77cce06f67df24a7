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

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// logRequest is whose log to print.
type logRequest struct {
	trial, attempt   int
	database, follow bool
}

func newLogs(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	var of logRequest
	command := &cobra.Command{
		Use:   "logs NAME (--trial N | --database)",
		Short: "Print the log of a trial's loader, or of the database",
		Long: `Print the log of a trial's loader, or of the database server.

A loader's Pod exists until its trial is recorded. After that, the record is printed: how the attempt ended and why, and the
output of the program that generated the load. Log lines that carry the result document are omitted.

The servers of several variants may run at the same time: --database prints their logs one after the other.`,
		Example: `  # The loader of the seventh trial, while it runs.
  kubectl benchrun logs commit-size --trial 7 -f

  # Why the first attempt of trial 3 did not count.
  kubectl benchrun logs commit-size --trial 3 --attempt 1

  # The database server.
  kubectl benchrun logs commit-size --database`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			if of.database == (of.trial > 0) {
				return errors.New("use --trial N or --database")
			}
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
	command.Flags().BoolVar(&of.database, "database", false, "print the log of the database server")
	command.Flags().BoolVarP(&of.follow, "follow", "f", false, "follow the log until it ends")
	return command
}

func (r logRequest) print(ctx context.Context, cl client.Reader, from logs, run *v1alpha1.BenchmarkRun, out io.Writer) error {
	if r.database {
		return r.printDatabases(ctx, cl, from, run, out)
	}
	pods, err := podsOf(ctx, cl, run, v1alpha1.ComponentLoader, client.MatchingLabels{v1alpha1.LabelTrial: strconv.Itoa(r.trial)})
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	var newest *corev1.Pod
	for i := range pods {
		n := attemptOf(&pods[i])
		if r.attempt == n || r.attempt == 0 && (newest == nil || n > attemptOf(newest)) {
			newest = &pods[i]
		}
	}
	if newest == nil {
		return r.printRecord(ctx, cl, run, out)
	}
	err = copyLog(ctx, from, newest, trial.Container, r.follow, out)
	if apierrors.IsForbidden(err) {
		return err
	}
	if err != nil { // the Pod may be gone meanwhile
		if recorded := r.printRecord(ctx, cl, run, out); recorded == nil {
			return nil
		}
	}
	return err
}

// attemptOf is the number of a Pod's attempt.
func attemptOf(pod *corev1.Pod) int {
	n, _ := strconv.Atoi(pod.Labels[v1alpha1.LabelAttempt]) // 0 is none
	return n
}

// podsOf are the Pods of a component of a run.
func podsOf(
	ctx context.Context, cl client.Reader, run *v1alpha1.BenchmarkRun, component string, selectors ...client.ListOption,
) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := cl.List(ctx, &pods, append(selectors, client.InNamespace(run.Namespace), labelsOf(run.Name),
		client.MatchingLabels{v1alpha1.LabelComponent: component})...)
	return pods.Items, err
}

// printDatabases prints the log of the server, or those of several, one after the other: variants may have one each.
func (r logRequest) printDatabases(
	ctx context.Context, cl client.Reader, from logs, run *v1alpha1.BenchmarkRun, out io.Writer,
) error {
	pods, err := podsOf(ctx, cl, run, v1alpha1.ComponentDatabase)
	if err != nil {
		return err
	}
	type server struct {
		pod       *corev1.Pod
		container string
	}
	var servers []server
	for i := range pods {
		for _, container := range pods[i].Spec.Containers {
			if container.Name == database.ServerContainer || container.Name == "mariadb" {
				servers = append(servers, server{&pods[i], container.Name})
			}
		}
	}
	switch {
	case len(servers) == 0:
		return fmt.Errorf("%s has no database now: it is removed when a run finishes, unless spec.cleanup keeps it", run.Name)
	case len(servers) > 1 && r.follow:
		return fmt.Errorf("%s has %d databases now, and -f follows one: use kubectl logs -f -n %s %s -c %s", run.Name, len(servers),
			run.Namespace, servers[0].pod.Name, servers[0].container)
	}
	for _, s := range servers {
		if len(servers) > 1 {
			say(out, "--- "+databaseTitle(run, s.pod)+" ---")
		}
		if err := copyLog(ctx, from, s.pod, s.container, r.follow, out); err != nil {
			return err
		}
	}
	return nil
}

// databaseTitle names the Pod of a server, and its variant.
func databaseTitle(run *v1alpha1.BenchmarkRun, pod *corev1.Pod) string {
	instance, _ := strconv.Atoi(pod.Labels[v1alpha1.LabelInstance])
	if len(run.Spec.Variants) == 0 || instance < 1 {
		return pod.Name
	}
	return fmt.Sprintf("%s, variant %s", pod.Name, run.Spec.Variants[plan.VariantOf(run, instance)].Name)
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
func copyLog(ctx context.Context, from logs, pod *corev1.Pod, container string, follow bool, out io.Writer) error {
	log, err := from.open(ctx, pod.Namespace, pod.Name, &corev1.PodLogOptions{Container: container, Follow: follow})
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
