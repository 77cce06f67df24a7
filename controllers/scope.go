// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// Scope has the namespaces that a manager works in; empty is all.
type Scope []string

// Includes says whether a namespace is one of them.
func (s Scope) Includes(namespace string) bool { return len(s) == 0 || slices.Contains(s, namespace) }

// owners are all runs and comparisons, as the reader has them: they must not be changed. A manager of some namespaces may not
// list in all, so that it lists in one after the other.
func (s Scope) owners(
	ctx context.Context, reader client.Reader,
) ([]v1alpha1.BenchmarkRun, []v1alpha1.BenchmarkComparison, error) {
	namespaces := []string(s)
	if len(s) == 0 {
		namespaces = []string{""}
	}
	var (
		allRuns        []v1alpha1.BenchmarkRun
		allComparisons []v1alpha1.BenchmarkComparison
	)
	for _, namespace := range namespaces {
		var (
			runs        v1alpha1.BenchmarkRunList
			comparisons v1alpha1.BenchmarkComparisonList
		)
		for _, list := range []client.ObjectList{&runs, &comparisons} {
			if err := reader.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
				return nil, nil, fmt.Errorf("listing %T: %w", list, err)
			}
		}
		if len(namespaces) == 1 {
			return runs.Items, comparisons.Items, nil
		}
		allRuns, allComparisons = append(allRuns, runs.Items...), append(allComparisons, comparisons.Items...)
	}
	return allRuns, allComparisons, nil
}
