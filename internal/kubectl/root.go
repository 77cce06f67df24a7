// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
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

// NewCommand is `kubectl benchrun`.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	streams = safe(streams)
	cluster := &cluster{flags: genericclioptions.NewConfigFlags(true)}
	command := &cobra.Command{
		Use:   "kubectl-benchrun",
		Short: "Run, watch, compare and share database benchmarks on Kubernetes",
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
	command.AddCommand(
		newExport(cluster, streams),
		newList(cluster, streams),
		newReport(cluster, streams),
		newCompare(cluster, streams),
		newCompareImages(cluster, streams),
		newReproduce(cluster, streams),
		newRun(cluster, streams),
		newRerun(cluster, streams),
		newWatch(cluster, streams),
		newLogs(cluster, streams),
		newExplain(cluster, streams),
		newValidate(streams),
	)
	addCompletion(command, streams)
	return command
}
