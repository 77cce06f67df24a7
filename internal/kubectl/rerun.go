// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/apischema"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

func newRerun(c *cluster, streams genericiooptions.IOStreams) *cobra.Command {
	o := newCreation(c, streams)
	name, seed := "", int64(0)
	command := &cobra.Command{
		Use:   "rerun NAME",
		Short: "Repeat a run or comparison with the same specification",
		Long: `Repeat a run or comparison: create a new one with the same specification. Of its labels, only those of Kueue are
copied. A run of a comparison is repeated as a standalone run.

The digest of the specification is printed. Runs with the same digest measure the same thing.`,
		Example: `  # The same again, under the next free name: commit-size-2.
  kubectl benchrun rerun commit-size

  # In another order and with other data.
  kubectl benchrun rerun commit-size --name commit-size-seed-7 --seed 7 --watch`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: c.names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			ctx := command.Context()
			cl, of, err := c.subject(ctx, arguments[0])
			if err != nil {
				return err
			}
			var newSeed *int64
			if command.Flags().Changed("seed") {
				newSeed = &seed
			}
			again := repeated(of, newSeed)
			if name == "" {
				if name, err = freeName(ctx, cl, of.object()); err != nil {
					return err
				}
			}
			again.object().SetName(name)
			object, err := manifestFor(again)
			if err != nil {
				return err
			}
			if err := compareDigests(streams.ErrOut, of, again); err != nil {
				return err
			}
			return o.all(ctx, []*unstructured.Unstructured{object})
		},
	}
	command.Flags().StringVar(&name, "name", "", "name of the new run or comparison (default: the next free one)")
	command.Flags().Int64Var(&seed, "seed", 0, "seed of the new run or comparison (default: the same)")
	o.addFlags(command)
	return command
}

// repeated is a new run or comparison with the same specification.
func repeated(s subject, seed *int64) subject {
	o := s.object()
	return s.copyWith(metav1.ObjectMeta{Namespace: o.GetNamespace(), Labels: plan.QueueLabels(o.GetLabels())}, seed)
}

// manifestFor is the object as a file would have it.
func manifestFor(s subject) (*unstructured.Unstructured, error) {
	object, err := apischema.Object(s.object())
	if err != nil {
		return nil, err
	}
	delete(object, "status")
	u := &unstructured.Unstructured{Object: object}
	u.SetAPIVersion(v1alpha1.GroupVersion.String())
	u.SetKind(s.kind().resource)
	return u, nil
}

// maxName is how long the name of a run or comparison may be.
const maxName = 40

// freeName is the name of an object with a number from 2 on, the first that no object of its kind has.
func freeName(ctx context.Context, from client.Reader, of client.Object) (string, error) {
	for n := 2; ; n++ {
		name := shortened(of.GetName(), fmt.Sprintf("-%d", n), maxName)
		other := of.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy has the same type
		err := from.Get(ctx, client.ObjectKey{Namespace: of.GetNamespace(), Name: name}, other)
		switch {
		case apierrors.IsNotFound(err):
			return name, nil
		case err != nil:
			return "", err
		}
	}
}

// shortened is a name with a suffix, of which there are so many characters at most.
func shortened(name, suffix string, most int) string {
	return strings.TrimRight(name[:min(len(name), most-len(suffix))], "-") + suffix
}

// compareDigests says of both whether they ask for the same.
func compareDigests(w io.Writer, of, again subject) error {
	before, err := of.digests()
	if err != nil {
		return err
	}
	after, err := again.digests()
	if err != nil {
		return err
	}
	for i, digest := range after {
		words := "same as " + of.object().GetName()
		if digest.digest != before[i].digest {
			words = "differs from " + of.object().GetName() + " (" + before[i].digest + "): the measurements are not the same"
		}
		say(w, fmt.Sprintf("specification%s: %s, %s", digest.variant, digest.digest, words))
	}
	return nil
}

// specDigest is the digest of a run, or of what a variant of a comparison measures in the first round.
type specDigest struct{ variant, digest string }
