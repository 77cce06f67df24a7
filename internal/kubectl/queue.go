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
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// position is the place of a subject in the queue of its lane, and what holds the lane. The status does not have it: it would
// have to be written for all whenever one comes or goes. It returns nothing for a subject that is not queued.
func position(ctx context.Context, from client.Reader, s subject) ([]string, error) {
	one := s.contender()
	if s.snapshot().ready().Reason != v1alpha1.ReasonQueued || !one.Wants {
		return nil, nil
	}
	where := ""
	all, err := contenders(ctx, from)
	if apierrors.IsForbidden(err) {
		where = " in this namespace (you are not allowed to list the others)"
		all, err = contenders(ctx, from, client.InNamespace(one.Namespace))
	}
	if err != nil {
		return nil, err
	}
	text := []string{}
	for _, c := range all {
		if c.Lane == one.Lane && c.Wants && c.Admitted && c.Holder != one.Holder {
			text = append(text, fmt.Sprintf("%s is admitted to lane %s.", c.Holder, c.Lane))
		}
	}
	all = slices.DeleteFunc(all, func(c lifecycle.Contender) bool { return c.Admitted })
	line := lifecycle.Line(one, all, nil)
	return append(text, fmt.Sprintf("Queue of lane %s: position %d of %d%s.",
		one.Lane, slices.Index(line, one.Holder)+1, len(line), where)), nil
}

// contenders are all runs that may be listed.
func contenders(ctx context.Context, from client.Reader, opts ...client.ListOption) ([]lifecycle.Contender, error) {
	var runs v1alpha1.BenchmarkRunList
	if err := from.List(ctx, &runs, opts...); err != nil {
		return nil, err
	}
	all := make([]lifecycle.Contender, 0, len(runs.Items))
	for i := range runs.Items {
		all = append(all, lifecycle.ContenderOf(&runs.Items[i]))
	}
	return all, nil
}
