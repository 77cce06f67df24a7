// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/report"
)

// reproduction is the command and its flags.
type reproduction struct {
	// wait returns when an object has finished, as cluster.watch does.
	wait    func(context.Context, genericiooptions.IOStreams, client.WithWatch, *kind, client.ObjectKey) error
	streams genericiooptions.IOStreams
	name    string
	output  string
	within  percentage
	// betweenRuns is the standard deviation between equal runs.
	betweenRuns percentage
	// yes: create what the bundle specifies without asking.
	yes bool
}

func newReproduce(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	o := &reproduction{wait: c.watch, streams: streams, output: "text", within: percentage{below: 1000}, betweenRuns: betweenRuns()}
	command := &cobra.Command{
		Use:   "reproduce BUNDLE",
		Short: "Measure a bundle again in this cluster, and compare point by point",
		Long: `Verify a bundle that "kubectl benchrun export" has written, create its run or comparison in this cluster, wait until it
has finished, and compare.

A point of a run is reproduced if no difference between the two measurements is shown, although a factor of two would have been.
With --within 10%, it is reproduced if a difference of 10% is excluded. A comparison is reproduced if its ratios are, under the
same conditions.

Only the specification of the bundle is created, without labels, annotations and other metadata. Before that, the command shows
all of it, and asks for confirmation; --yes confirms.
Programs of the bundle run with the rights of Pods of the namespace, and can read what the specification mounts.

You can repeat the command: a run or comparison with that name and the same specification is used and not created again.
Exit codes: 0 everything is reproduced, 1 something differs, 2 something cannot be compared, 3 error.`,
		Example: `  # Repeat somebody else's measurement.
  kubectl benchrun reproduce commit-size.tgz

  # In a script, without a terminal for the confirmation.
  kubectl benchrun reproduce commit-size.tgz --yes

  # Under another name. Differences of less than 10% do not count.
  kubectl benchrun reproduce commit-size.tgz --name again --within 10%`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			if o.output != "text" && o.output != "json" {
				return fmt.Errorf("-o %s is not known; use text or json", o.output)
			}
			b, err := openBundle(arguments[0])
			if err != nil {
				return err
			}
			cl, namespace, err := c.connect()
			if err != nil {
				return err
			}
			return o.reproduce(command.Context(), cl, namespace, b)
		},
	}
	command.Flags().StringVar(&o.name, "name", "", "name of the run or comparison here (default: that in the bundle)")
	command.Flags().StringVarP(&o.output, "output", "o", o.output, "text or json")
	command.Flags().Var(&o.within, "within", "largest difference that counts as none, for example 10%")
	command.Flags().Var(&o.betweenRuns, "between-runs",
		"standard deviation between results of equal runs, for example 2%; 0 if a restart of the server changes nothing")
	command.Flags().BoolVarP(&o.yes, "yes", "y", false, "create what the bundle specifies without asking")
	return command
}

// reproduce measures and compares. Its error is an exit code if there is an answer.
func (o *reproduction) reproduce(ctx context.Context, cl client.WithWatch, namespace string, b *bundle.Bundle) error {
	there, err := printableOf(b)
	if err != nil {
		return err
	}
	s, err := o.create(ctx, cl, namespace, b)
	if err != nil {
		return err
	}
	if s, err = o.waitFor(ctx, cl, s); err != nil {
		return err
	}
	here, err := published(ctx, cl, s)
	if err != nil {
		return err
	}
	r := there.reproducedBy(here.anyReport, o.within.fraction, o.betweenRuns.fraction)
	if err := o.print(r); err != nil {
		return err
	}
	return exitOf(r)
}

// exitOf is nil if everything is reproduced, and otherwise an exit code: something differs, or something cannot be compared.
func exitOf(r *report.Reproduction) error {
	counts := r.Counts()
	switch {
	case counts[report.Reproduced] == len(r.Points) && len(r.Points) > 0:
		return nil
	case counts[report.NotComparable]+counts[report.Reproduced] == len(r.Points):
		return verdictError{ExitCannotSay}
	}
	return verdictError{ExitRegression}
}

func (o *reproduction) print(r *report.Reproduction) error {
	if o.output == "text" {
		return r.Print(o.streams.Out)
	}
	enc := json.NewEncoder(o.streams.Out)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}

// create the run or comparison of a bundle, unless there is one that asks for the same.
func (o *reproduction) create(ctx context.Context, cl client.Client, namespace string, b *bundle.Bundle) (subject, error) {
	s, err := subjectIn(b)
	if err != nil {
		return nil, err
	}
	object := s.object()
	s = s.copyWith(metav1.ObjectMeta{Namespace: namespace, Name: cmp.Or(o.name, object.GetName())})
	object = s.object()
	existing := object.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy has the same type
	err = cl.Get(ctx, client.ObjectKeyFromObject(object), existing)
	switch {
	case err == nil:
		return alreadyThere(ctx, cl, s)
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("looking for %s %s: %w", s.kind().name, object.GetName(), err)
	}
	if err := consented(o.streams, s, o.yes); err != nil {
		return nil, err
	}
	err = cl.Create(ctx, object, client.FieldOwner("kubectl-benchrun"))
	switch {
	case apierrors.IsAlreadyExists(err):
		return alreadyThere(ctx, cl, s)
	case err != nil:
		return nil, fmt.Errorf("creating %s %s: %w", s.kind().name, object.GetName(), err)
	}
	_, err = fmt.Fprintf(o.streams.ErrOut, "%s %s is created in namespace %s\n", s.kind().name, object.GetName(), namespace)
	return s, err
}

// subjectIn is the resource in a bundle, with a specification that its results are of.
func subjectIn(b *bundle.Bundle) (subject, error) {
	k := kindOfResource(b.Manifest.Kind)
	if k == nil {
		return nil, unknownKind(b.Manifest.Kind)
	}
	object := k.object()
	if err := yaml.UnmarshalStrict(b.Benchmark, object); err != nil {
		return nil, fmt.Errorf("reading %s: %w", bundle.BenchmarkFile, err)
	}
	s := k.subject(object)
	if b.Manifest.SpecDigest == "" {
		return s, nil
	}
	digest, err := s.fingerprint()
	if err == nil && digest != b.Manifest.SpecDigest {
		err = fmt.Errorf("%s has the digest %s, but the results are of %s: the bundle was made by another version of Benchrun",
			bundle.BenchmarkFile, digest, b.Manifest.SpecDigest)
	}
	return s, err
}

// alreadyThere is the run or comparison that has the name, if it asks for the same.
func alreadyThere(ctx context.Context, cl client.Reader, wanted subject) (subject, error) {
	object := wanted.object()
	s, err := find(ctx, cl, object.GetNamespace(), wanted.kind().name+"/"+object.GetName())
	if err != nil {
		return nil, err
	}
	same, err := sameSpecification(wanted, s)
	if err == nil && !same {
		err = fmt.Errorf("%s %s already exists with another specification: use --name", wanted.kind().name, object.GetName())
	}
	return s, err
}

// sameSpecification compares two subjects of a kind. The API server has set the defaults of both.
func sameSpecification(a, b subject) (bool, error) {
	ours, err := a.fingerprint()
	theirs, err2 := b.fingerprint()
	return ours == theirs, errors.Join(err, err2)
}

// waitFor returns a run or comparison when it has finished. It is an error if it failed; a comparison without an answer has
// values all the same.
func (o *reproduction) waitFor(ctx context.Context, cl client.WithWatch, s subject) (subject, error) {
	object := s.object()
	// What is shown on the way must not mix with the answer.
	streams := o.streams
	streams.Out = streams.ErrOut
	answer := verdictError{}
	if err := o.wait(ctx, streams, cl, s.kind(), client.ObjectKeyFromObject(object)); err != nil && !errors.As(err, &answer) {
		return nil, err
	}
	return find(ctx, cl, object.GetNamespace(), s.kind().name+"/"+object.GetName())
}
