// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
)

// kind of resource that has a report.
type kind struct {
	// name in arguments, in messages and in results.json; aliases are its other names in arguments.
	name    string
	aliases []string
	// resource is the kind in a manifest.
	resource string
	// label of its Pods and ConfigMaps, whose value is the name of the object.
	label string
	// object and list are empty.
	object func() client.Object
	list   func() client.ObjectList
	// subject that an object of this kind is.
	subject func(client.Object) subject
	// decode reads its results.json.
	decode func([]byte) (anyReport, error)
}

var runKind = &kind{
	name: "run", aliases: []string{"brun", "benchmarkrun"}, resource: plan.RunKind, label: v1alpha1.LabelRun,
	object: func() client.Object { return new(v1alpha1.BenchmarkRun) },
	list:   func() client.ObjectList { return new(v1alpha1.BenchmarkRunList) },
	subject: func(o client.Object) subject {
		return runSubject{o.(*v1alpha1.BenchmarkRun)} //nolint:forcetypeassert // it is of this kind
	},
	decode: func(text []byte) (anyReport, error) {
		r, err := report.FromResults(text)
		return runReport{r}, err
	},
}

var comparisonKind = &kind{
	name: "comparison", aliases: []string{"bcmp", "benchmarkcomparison"}, resource: plan.ComparisonKind,
	label:  v1alpha1.LabelComparison,
	object: func() client.Object { return new(v1alpha1.BenchmarkComparison) },
	list:   func() client.ObjectList { return new(v1alpha1.BenchmarkComparisonList) },
	subject: func(o client.Object) subject {
		return comparisonSubject{o.(*v1alpha1.BenchmarkComparison)} //nolint:forcetypeassert // it is of this kind
	},
	decode: func(text []byte) (anyReport, error) {
		r, err := report.DecodeComparison(text)
		return comparisonReport{r}, err
	},
}

var kinds = []*kind{runKind, comparisonKind}

// kindNamed is the kind with that name or alias; nil if there is none.
func kindNamed(word string) *kind {
	return kindWhere(func(k *kind) bool { return k.name == word || slices.Contains(k.aliases, word) })
}

// kindOfResource is the kind of a manifest; nil if it is not one of ours.
func kindOfResource(resource string) *kind {
	return kindWhere(func(k *kind) bool { return k.resource == resource })
}

func unknownKind(resource string) error {
	return fmt.Errorf("this version of kubectl benchrun does not know the kind %q", resource)
}

func kindWhere(is func(*kind) bool) *kind {
	if i := slices.IndexFunc(kinds, is); i >= 0 {
		return kinds[i]
	}
	return nil
}

// get reads the object of this kind with that name; nil if there is none.
func (k *kind) get(ctx context.Context, from client.Reader, key client.ObjectKey) (subject, error) {
	object := k.object()
	err := from.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", k.name, key.Name, err)
	}
	return k.subject(object), nil
}
