// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/benchrun-dev/benchrun/internal/judge/stats"
	"github.com/benchrun-dev/benchrun/internal/report"
)

// betweenRuns is the standard deviation between equal runs, unless the user knows it.
func betweenRuns() percentage { return percentage{fraction: stats.DefaultBetweenRuns, below: 100} }

type comparing struct {
	threshold      percentage
	failOn         string
	betweenRuns    percentage
	metric, output string
	allowUndecided bool
}

func newCompare(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	o := comparing{output: "text", threshold: percentage{below: 100}, failOn: string(report.Probable), betweenRuns: betweenRuns()}
	command := &cobra.Command{
		Use:   "compare (RUN | BASELINE NEW)",
		Short: "Compare two runs, or the variants of one; the exit code reports a regression",
		Long: `Compare two runs, or the variants of one, point by point.

  RUN                the run's own verdicts about its variants
  RUN:base RUN:new   two variants of a run, paired by round
  BASELINE NEW       two runs that were not interleaved: the difference includes all else that changed between them; of runs
                     with variants, whether their ratios agree: exit code 0, or 1 if they do not

A run is a name in the cluster, or a file: results.json, an archive of export, or a folder that report --dir has written. A path
has a /, or ends in .json or .tgz.

Exit codes:
  0   every point has an answer, and there is no regression
  1   regression: with --fail-on-regression P, a point is slower, with its whole interval on the worse side, and by more than P
  2   no regression, but a point has no answer or was measured on one side only; --allow-undecided turns this into 0
  3   error: nothing can be compared, because something is missing, unfinished, failed, truncated or changed

With --fail-on-regression P, a point also has an answer if its interval excludes a loss of more than P. How sure a loss of more
than P must be is what --fail-on says:
  possible   the interval does not exclude it; of changes that lose more than P, at most 2.5% pass
  probable   the stated loss is above P; a change that loses P fails half of the time

Of two runs, trials do not show what differs from run to run: a restart of the server alone moves results by about 3%. The
intervals allow for that, so that two runs show differences of more than about 9%. Say what you have measured with
--between-runs, or use one run with variants, which has no such error.`,
		Example: `  # Is the new run more than 5% slower?
  kubectl benchrun compare main pr-1234 --fail-on-regression 5%

  # Is a loss of more than 5% excluded?
  kubectl benchrun compare pr-1234 --fail-on-regression 5% --fail-on possible

  # The verdicts about the variants of a run.
  kubectl benchrun compare durable-or-not

  # The saved results of an earlier build, and those of this one.
  kubectl benchrun compare ./baseline/ pr-1234 --fail-on-regression 5%`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(command *cobra.Command, arguments []string) (err error) {
			// A program that crashes ends with 2, which is an answer here.
			defer func() {
				if bug := recover(); bug != nil {
					err = fmt.Errorf("this is a bug, please report it: %v\n%s", bug, debug.Stack())
				}
			}()
			return o.run(command, &opener{connect: c.connect, ctx: command.Context()}, streams, arguments)
		},
	}
	flags := command.Flags()
	flags.Var(&o.threshold, "fail-on-regression", "exit with 1 if a point is slower by more than this, for example 5%")
	flags.StringVar(&o.failOn, "fail-on", o.failOn, "how sure a loss above --fail-on-regression must be: "+
		strings.Join(report.Certainties(), ", "))
	flags.Var(&o.betweenRuns, "between-runs",
		"standard deviation between results of equal runs, for example 2%; 0 if a restart of the server changes nothing")
	flags.StringVar(&o.metric, "metric", "", "metric to compare (default: the headline)")
	flags.BoolVar(&o.allowUndecided, "allow-undecided", false, "exit with 0 instead of 2 if a point has no answer")
	flags.StringVarP(&o.output, "output", "o", o.output, comparedForms)
	return command
}

const comparedForms = "one of text, markdown, json, junit"

func comparedFormat(name string) (report.ComparedFormat, error) {
	for _, f := range report.ComparedFormats() {
		if f.Name == name {
			return f, nil
		}
	}
	return report.ComparedFormat{}, fmt.Errorf("-o %s is not known; use %s", name, comparedForms)
}

func (o *comparing) run(command *cobra.Command, from *opener, streams genericiooptions.IOStreams, arguments []string) error {
	threshold := -1.0
	if command.Flags().Changed("fail-on-regression") {
		threshold = o.threshold.fraction
	}
	format, err := comparedFormat(o.output)
	switch {
	case err != nil:
		return err
	case !slices.Contains(report.Certainties(), o.failOn):
		return fmt.Errorf("--fail-on %s is not known; use one of %s", o.failOn, strings.Join(report.Certainties(), ", "))
	case command.Flags().Changed("fail-on") && threshold < 0:
		return errors.New("--fail-on says how sure a loss must be: say with --fail-on-regression how large, for example 5%")
	}
	compared, err := o.compare(from, arguments, threshold >= 0)
	if err != nil {
		return err
	}
	compared.Threshold, compared.FailOn = threshold, report.Certainty(o.failOn)
	if err := answered(streams.Out, compared, format); !o.allowUndecided || !errors.Is(err, verdictError{ExitCannotSay}) {
		return err
	}
	return nil
}

// answered prints a comparison. The error is the exit code that its ruling has.
func answered(out io.Writer, compared *report.Compared, format report.ComparedFormat) error {
	if err := format.Print(out, compared); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	switch compared.Ruling() {
	case report.Regression, report.Different:
		return verdictError{ExitRegression}
	case report.Undecided:
		return verdictError{ExitCannotSay}
	case report.Fine, report.Reproduced:
	}
	return nil
}

// compare what the arguments name; gated says that a regression is looked for.
func (o *comparing) compare(from *opener, arguments []string, gated bool) (*report.Compared, error) {
	opened := make([]*reference, len(arguments))
	for i, a := range arguments {
		ref, err := from.open(a)
		if err != nil {
			return nil, err
		}
		opened[i] = ref
	}
	if len(opened) == 1 {
		if opened[0].variant != "" || !opened[0].HasVariants() {
			return nil, errors.New("name two runs, two variants as RUN:VARIANT, or one run with variants")
		}
		return report.CompareBaseline(opened[0].Report, o.metric)
	}
	a, b := opened[0], opened[1]
	switch {
	case a.UID == b.UID && a.variant != "" && b.variant != "":
		return report.CompareVariants(a.Report, a.variant, b.variant, o.metric)
	case a.variant+b.variant != "" || !a.HasVariants() || !b.HasVariants():
	case o.metric != "" || gated:
		return nil, errors.New("--metric and --fail-on-regression take RUN:VARIANT of runs with variants")
	default:
		return report.Reproduce(a.Report, b.Report, [2]string{a.text, b.text}, 0, o.betweenRuns.fraction)
	}
	x, err := report.SideOf(a.Report, a.variant, o.metric, a.text)
	y, err2 := report.SideOf(b.Report, b.variant, o.metric, b.text)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return report.CompareSides(x, y, o.betweenRuns.fraction)
}

// percentage is a flag: a fraction, written like 5% or 0.5.
type percentage struct {
	fraction float64
	// below is the percentage that is too much.
	below float64
}

var percentText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?%?$`)

// String implements pflag.Value.
func (p *percentage) String() string {
	if p.fraction == 0 {
		return ""
	}
	return strconv.FormatFloat(p.fraction*100, 'g', 6, 64) + "%"
}

// Set implements pflag.Value.
func (p *percentage) Set(text string) error {
	if match := percentText.FindStringSubmatch(text); match != nil {
		if percent, err := strconv.ParseFloat(match[1], 64); err == nil && percent < p.below {
			p.fraction = percent / 100
			return nil
		}
	}
	return fmt.Errorf("use a number from 0 to below %g, for example 5%% or 0.5%%", p.below)
}

// Type implements pflag.Value.
func (*percentage) Type() string { return "percentage" }
