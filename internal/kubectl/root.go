// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kubectl is `kubectl benchrun`. Each command is a file: it reads from the cluster with the user's own rights, or
// from a file that was exported, and prints what the packages below it have computed.
package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/version"
)

// Exit codes. A script can tell a regression from variants without an answer, and both from a command that did not work.
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
	fmt.Fprintln(command.ErrOrStderr(), "error:", explained(err)) //nolint:errcheck // there is nowhere else to say it
	return ExitError
}

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
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl benchrun"},
		Version:       version.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.SetIn(streams.In)
	command.SetOut(streams.Out)
	command.SetErr(streams.ErrOut)
	cluster.flags.AddFlags(command.PersistentFlags())
	command.PersistentFlags().VisitAll(func(flag *pflag.Flag) {
		// The others of kubectl's own flags work, too, and `kubectl options` describes them.
		flag.Hidden = !slices.Contains([]string{"namespace", "context", "kubeconfig"}, flag.Name)
	})
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Measure:", []*cobra.Command{newValidate(streams), newRun(cluster, streams)}},
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

// names offers the runs of the namespace, the newest first, for one argument.
func (c *cluster) names() cobra.CompletionFunc {
	return func(command *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		const done = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(given) > 0 {
			return nil, done
		}
		cl, namespace, err := c.connect()
		if err != nil {
			return nil, done
		}
		return named(command, cl, namespace), done
	}
}

// named are the names. What cannot be read is not offered.
func named(command *cobra.Command, cl client.Reader, namespace string) []string {
	var runs v1alpha1.BenchmarkRunList
	if cl.List(command.Context(), &runs, client.InNamespace(namespace)) != nil {
		return nil
	}
	slices.SortStableFunc(runs.Items, func(a, b v1alpha1.BenchmarkRun) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	var all []string
	for i := range runs.Items {
		all = append(all, runs.Items[i].Name)
	}
	return all
}

// kubectlScript is what kubectl looks for in the PATH when it completes the arguments of a plugin.
const kubectlScript = `#!/bin/sh
# Put this file into a folder of the PATH as kubectl_complete-benchrun, and make it executable.
exec kubectl benchrun __complete "$@"
`

// addCompletion adds the command `completion`, with a script for kubectl itself.
func addCompletion(root *cobra.Command, streams genericiooptions.IOStreams) {
	root.InitDefaultCompletionCmd()
	commands := root.Commands()
	command := commands[slices.IndexFunc(commands, func(c *cobra.Command) bool { return c.Name() == "completion" })]
	command.Short = "Print a shell completion script for commands, flags and names"
	command.Long = "Print a script that completes commands, flags and names of runs in a shell.\n\n" +
		"kubectl completes the arguments of a plugin by calling a program in the PATH: use `completion kubectl` if you type\n" +
		"`kubectl benchrun`. The scripts of the other commands are for `kubectl-benchrun` when you call it directly."
	command.Example = `  # kubectl benchrun watch <TAB>
  kubectl benchrun completion kubectl >~/.local/bin/kubectl_complete-benchrun
  chmod +x ~/.local/bin/kubectl_complete-benchrun`
	command.AddCommand(&cobra.Command{
		Use: "kubectl", Short: "Print the program kubectl_complete-benchrun, which kubectl calls", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := streams.Out.Write([]byte(kubectlScript))
			return err
		},
	})
}

// safeWriter shows texts from a cluster, a file or a bundle as texts: what a terminal would obey is replaced. A line that
// returns to its beginning goes on in a new line, so that nothing hides what was before.
type safeWriter struct {
	to io.Writer
	// part of a character that the last write ended with; returned says that it ended with a carriage return.
	part     []byte
	returned bool
}

// safe are streams whose outputs are safe to show.
func safe(streams genericiooptions.IOStreams) genericiooptions.IOStreams {
	streams.Out, streams.ErrOut = &safeWriter{to: streams.Out}, &safeWriter{to: streams.ErrOut}
	return streams
}

func (w *safeWriter) Write(text []byte) (int, error) {
	rest := append(w.part, text...) //nolint:gocritic // what remains of it is kept in the end
	shown := make([]byte, 0, len(rest))
	for len(rest) > 0 && utf8.FullRune(rest) {
		c, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		switch {
		case c == '\n' && w.returned: // the line is ended already
		case c == '\r':
			shown = append(shown, '\n')
		case report.Command(c):
			shown = utf8.AppendRune(shown, utf8.RuneError)
		default:
			shown = utf8.AppendRune(shown, c)
		}
		w.returned = c == '\r'
	}
	w.part = append([]byte(nil), rest...)
	if _, err := w.to.Write(shown); err != nil {
		return 0, err
	}
	return len(text), nil
}
