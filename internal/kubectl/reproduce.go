// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
)

type reproduction struct {
	// wait returns when an object has finished, as watch does.
	wait                func(context.Context, io.Writer, client.Client, client.ObjectKey) error
	streams             genericiooptions.IOStreams
	name, output        string
	within, betweenRuns percentage
	// yes: create what the bundle specifies without asking.
	yes bool
}

func newReproduce(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	o := &reproduction{wait: watch, streams: streams, output: "text", within: percentage{below: 1000}, betweenRuns: betweenRuns()}
	command := &cobra.Command{
		Use:   "reproduce BUNDLE",
		Short: "Measure a bundle again in this cluster, and compare point by point",
		Long: `Verify a bundle that "kubectl benchrun export" has written, create its run in this cluster, wait until it has finished,
and compare.

A point is reproduced if no difference between the two measurements is shown, although a factor of two would have been. With
--within 10%, it is reproduced if a difference of 10% is excluded, and differs if one of more than 10% is shown. Of a run with
variants, the ratios are compared, under the same conditions.

Only the specification of the bundle is created, without labels, annotations and other metadata. Before that, the command shows
all of it, and asks for confirmation; --yes confirms.
Programs of the bundle run with the rights of Pods of the namespace, and can read what the specification mounts.

You can repeat the command: a run with that name and the same specification is used and not created again. The run that the
bundle is of cannot be: use --name where that is.
Exit codes: 0 everything is reproduced, 1 something differs, 2 something cannot be compared, 3 error.`,
		Example: `  # Repeat somebody else's measurement.
  kubectl benchrun reproduce commit-size.tgz

  # In a script, without a terminal for the confirmation.
  kubectl benchrun reproduce commit-size.tgz --yes

  # Under another name. Differences of less than 10% do not count.
  kubectl benchrun reproduce commit-size.tgz --name again --within 10%`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			format, err := comparedFormat(o.output)
			if err != nil {
				return err
			}
			b, err := openBundle(arguments[0])
			if err != nil {
				return err
			}
			cl, namespace, err := c.connect()
			if err != nil {
				return err
			}
			compared, err := o.reproduce(command.Context(), cl, namespace, b)
			if err != nil {
				return err
			}
			return answered(streams.Out, compared, format)
		},
	}
	command.Flags().StringVar(&o.name, "name", "", "name of the run here (default: that in the bundle)")
	command.Flags().StringVarP(&o.output, "output", "o", o.output, comparedForms)
	command.Flags().Var(&o.within, "within", "largest difference that counts as none, for example 10%")
	command.Flags().Var(&o.betweenRuns, "between-runs",
		"standard deviation between results of equal runs, for example 2%; 0 if a restart of the server changes nothing")
	command.Flags().BoolVarP(&o.yes, "yes", "y", false, "create what the bundle specifies without asking")
	return command
}

func (o *reproduction) reproduce(
	ctx context.Context, cl client.Client, namespace string, b *bundle.Bundle,
) (*report.Compared, error) {
	there, err := report.FromResults(b.Results)
	if err != nil {
		return nil, err
	}
	wanted, err := runIn(b, there)
	if err != nil {
		return nil, err
	}
	wanted.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: cmp.Or(o.name, wanted.Name)}
	if err := o.create(ctx, cl, wanted); err != nil {
		return nil, err
	}
	// What is shown on the way must not mix with the answer. It is an error if the run fails; variants without an answer have values
	// all the same.
	noAnswer := verdictError{}
	err = o.wait(ctx, o.streams.ErrOut, cl, client.ObjectKeyFromObject(wanted))
	if err != nil && !errors.As(err, &noAnswer) {
		return nil, err
	}
	run, err := find(ctx, cl, wanted.Namespace, wanted.Name)
	if err != nil {
		return nil, err
	}
	here, err := published(ctx, cl, run)
	if err != nil {
		return nil, err
	}
	return report.Reproduce(there, here.Report, [2]string{"there", "here"}, o.within.fraction, o.betweenRuns.fraction)
}

// create a run, unless there is one that asks for the same.
func (o *reproduction) create(ctx context.Context, cl client.Client, run *v1alpha1.BenchmarkRun) error {
	err := cl.Get(ctx, client.ObjectKeyFromObject(run), new(v1alpha1.BenchmarkRun))
	switch {
	case err == nil:
		return alreadyThere(ctx, cl, run)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("looking for run %s: %w", run.Name, err)
	}
	if err := consented(o.streams, run, o.yes); err != nil {
		return err
	}
	err = cl.Create(ctx, run, client.FieldOwner("kubectl-benchrun"))
	switch {
	case apierrors.IsAlreadyExists(err):
		return alreadyThere(ctx, cl, run)
	case err != nil:
		return fmt.Errorf("creating run %s: %w", run.Name, err)
	}
	_, err = fmt.Fprintf(o.streams.ErrOut, "run %s is created in namespace %s\n", run.Name, run.Namespace)
	return err
}

// runIn is the run that a bundle specifies: its name and its specification, which is the one that the bundle's results are of.
func runIn(b *bundle.Bundle, results *report.Report) (*v1alpha1.BenchmarkRun, error) {
	if b.Manifest.Kind != plan.RunKind {
		return nil, fmt.Errorf("this version of kubectl benchrun does not know the kind %q", b.Manifest.Kind)
	}
	run := new(v1alpha1.BenchmarkRun)
	if err := yaml.UnmarshalStrict(b.Benchmark, run); err != nil {
		return nil, fmt.Errorf("reading %s: %w", bundle.BenchmarkFile, err)
	}
	digest, err := plan.Digest(&run.Spec)
	if err == nil && digest != results.SpecDigest {
		err = fmt.Errorf("%s has the digest %s, but the results are of %s: the bundle was made by another version of Benchrun",
			bundle.BenchmarkFile, digest, results.SpecDigest)
	}
	run.Spec.Suspend = nil
	return &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: run.Name}, Spec: run.Spec}, err
}

// alreadyThere is an error if the run that has the name asks for something else. The API server has set the defaults of both.
func alreadyThere(ctx context.Context, cl client.Reader, wanted *v1alpha1.BenchmarkRun) error {
	run, err := find(ctx, cl, wanted.Namespace, wanted.Name)
	if err != nil {
		return err
	}
	ours, err := plan.Digest(&wanted.Spec)
	theirs, err2 := plan.Digest(&run.Spec)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if ours != theirs {
		return fmt.Errorf("run %s already exists with another specification: use --name", run.Name)
	}
	return nil
}

var errNoConsent = errors.New("nothing was created: the input is not a terminal, and --yes is not set. Read above what the " +
	"bundle runs, then repeat the command with --yes")

// consented shows what the specification of a stranger would run, and asks unless that was answered by a flag.
func consented(streams genericiooptions.IOStreams, run *v1alpha1.BenchmarkRun, yes bool) error {
	object, err := apischema.Object(run)
	if err != nil {
		return err
	}
	say(streams.ErrOut, fmt.Sprintf("The bundle runs this as run %s in namespace %s:", run.Name, run.Namespace))
	// Any field may reach a program that runs with the rights of the namespace. In JSON, no text looks like another field.
	enc := json.NewEncoder(streams.ErrOut)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(object["spec"]); err != nil {
		return err
	}
	if yes {
		return nil
	}
	file, isFile := streams.In.(*os.File)
	if !isFile || !term.IsTerminal(int(file.Fd())) {
		return errNoConsent
	}
	return confirmed(streams)
}

func confirmed(streams genericiooptions.IOStreams) error {
	if _, err := io.WriteString(streams.ErrOut, "Create it? [y/N] "); err != nil {
		return err
	}
	answer, err := bufio.NewReader(streams.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was created")
}
