// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func newValidate(streams genericiooptions.IOStreams) *cobra.Command {
	var names []string
	recursive := false
	command := &cobra.Command{
		Use:   "validate -f FILE|FOLDER|-",
		Short: "Check runs without a cluster",
		Long: `Check runs without a cluster.

The rules are those of this version of Benchrun: what the API server checks (unknown fields, types, bounds and rules), and
then what the operator checks before it creates anything. Each problem is one line. Objects of other kinds are skipped, but
ConfigMaps of the same file must have the keys that runs name.

The exit code is 0 if everything is valid, and 3 if anything is not, or if there are no runs.`,
		Example: `  # One file.
  kubectl benchrun validate -f run.yaml

  # All files of a repository, for example in CI.
  kubectl benchrun validate -R -f benchmarks/

  # What another program prints.
  kustomize build overlays/production | kubectl benchrun validate -f -`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if len(names) == 0 {
				return errNoFile
			}
			return validate(command.Context(), streams, names, recursive)
		},
	}
	command.Flags().StringSliceVarP(&names, "filename", "f", nil, "file or folder with runs; - is the standard input")
	command.Flags().BoolVarP(&recursive, "recursive", "R", false, "also read the folders below a folder")
	return command
}

// validate prints a line for each problem, and for each run that has none.
func validate(ctx context.Context, streams genericiooptions.IOStreams, names []string, recursive bool) error {
	c, err := newChecker()
	if err != nil {
		return err
	}
	report := &tally{out: streams.Out}
	for _, name := range names {
		found, err := files(name, recursive)
		if err != nil {
			return err
		}
		for _, file := range found {
			report.file(ctx, c, file, streams.In)
		}
	}
	return report.end()
}

type tally struct {
	out            io.Writer
	checked, wrong int
}

func (v *tally) file(ctx context.Context, c *checker, file string, stdin io.Reader) {
	all, err := readManifests(file, stdin)
	if err != nil {
		v.checked++
		v.wrong++
		v.say("%v", err)
		return
	}
	c.beside = configMapsOf(all)
	for _, object := range all {
		if !isRun(object) {
			v.say("%s: %s: skipped: not a run", file, title(object))
			continue
		}
		v.checked++
		summary, problems := c.check(ctx, object)
		if len(problems) > 0 {
			v.wrong++
		} else {
			v.say("%s: %s: valid: %s", file, title(object), summary)
		}
		for _, problem := range problems {
			v.say("%s: %s: %s", file, title(object), problem)
		}
	}
}

func (v *tally) say(format string, arguments ...any) {
	say(v.out, strings.Join(strings.Fields(fmt.Sprintf(format, arguments...)), " "))
}

func (v *tally) end() error {
	switch {
	case v.checked == 0:
		return errors.New("there are no runs: nothing was checked")
	case v.wrong > 0:
		return fmt.Errorf("%d of %d runs are not valid", v.wrong, v.checked)
	}
	return nil
}
