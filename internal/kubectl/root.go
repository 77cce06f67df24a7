// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/version"
)

// Exit codes. A script can tell a regression from a comparison without an answer, and both from a command that did not work.
const (
	ExitFine       = 0
	ExitRegression = 1
	ExitCannotSay  = 2
	ExitError      = 3
)

// verdictError ends a command that did its work with an exit code that is an answer. Nothing more is printed.
type verdictError struct{ code int }

func (e verdictError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Main runs the plugin with these arguments and returns its exit code.
func Main(ctx context.Context, streams genericiooptions.IOStreams, arguments []string) int {
	streams = safe(streams)
	command := NewCommand(streams)
	command.SetArgs(arguments)
	err := command.ExecuteContext(ctx)
	answer := verdictError{}
	switch {
	case err == nil:
		return ExitFine
	case errors.As(err, &answer):
		return answer.code
	}
	fmt.Fprintln(streams.ErrOut, "error:", explained(err)) //nolint:errcheck // there is nowhere else to say it
	return ExitError
}

// shownFlags are those of kubectl's own flags that its help shows. The others work, too, and `kubectl options` describes them.
var shownFlags = []string{"namespace", "context", "kubeconfig"}

// NewCommand is `kubectl benchrun`.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	streams = safe(streams)
	cluster := &cluster{flags: genericclioptions.NewConfigFlags(true)}
	command := &cobra.Command{
		Use:   "kubectl-benchrun",
		Short: "Run, watch, compare and share database benchmarks on Kubernetes",
		Long: `Run, watch, compare and share database benchmarks on Kubernetes.

Begin with a file: validate it, run it, read its report. If something does not go on, explain says what it waits for, or why it
failed, and what to do.`,
		Example: `  kubectl benchrun run -f config/samples/commit-size.yaml --watch
  kubectl benchrun report commit-size
  kubectl benchrun report commit-size --open    # the page, in the browser
  kubectl benchrun explain commit-size`,
		Annotations: map[string]string{
			cobra.CommandDisplayNameAnnotation: "kubectl benchrun",
		},
		Version:       version.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.SetIn(streams.In)
	command.SetOut(streams.Out)
	command.SetErr(streams.ErrOut)
	cluster.flags.AddFlags(command.PersistentFlags())
	command.PersistentFlags().VisitAll(func(flag *pflag.Flag) {
		flag.Hidden = !slices.Contains(shownFlags, flag.Name)
	})
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Measure:", []*cobra.Command{
			newValidate(streams), newRun(cluster, streams), newCompareImages(cluster, streams),
		}},
		{"Follow and understand:", []*cobra.Command{
			newWatch(cluster, streams), newExplain(cluster, streams), newLogs(cluster, streams),
		}},
		{"Read and hand on:", []*cobra.Command{
			newReport(cluster, streams), newCompare(cluster, streams), newExport(cluster, streams), newReproduce(cluster, streams),
		}},
	} {
		command.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			command.AddCommand(c)
		}
	}
	addCompletion(command, streams)
	return command
}
