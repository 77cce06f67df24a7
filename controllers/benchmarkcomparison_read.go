// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// readAttempts reads the records in the results of a run, if these are what the operator wrote: the status of the run has their
// digest.
func (r *BenchmarkComparisonReconciler) readAttempts(ctx context.Context, run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
	r.decoding.Lock()
	defer r.decoding.Unlock()
	name := run.Status.Results.ConfigMap
	contents, err := clusterfiles.Read(ctx, r.Live, run.Namespace, name)
	if err != nil {
		return nil, err
	}
	if contents == nil {
		return nil, &changedError{fmt.Sprintf("ConfigMap %s, the results of run %s, was deleted", name, run.Name)}
	}
	text, err := result.UnpackFile(report.JSONFile, contents)
	if err != nil || result.NamedDigest(text) != run.Status.Results.Digest {
		return nil, &changedError{fmt.Sprintf("ConfigMap %s, the results of run %s, is not what the operator wrote", name, run.Name)}
	}
	attempts, err := report.Attempts(text)
	if err != nil {
		return nil, &changedError{fmt.Sprintf("ConfigMap %s, the results of run %s: %v", name, run.Name, err)}
	}
	return attempts, nil
}

// readVariables reads those of the server from the document of the first accepted attempt. If that is gone they are not known: no
// answer depends on them.
func (r *BenchmarkComparisonReconciler) readVariables(
	ctx context.Context, run *v1alpha1.BenchmarkRun, attempts []*result.Record,
) (map[string]string, error) {
	i := slices.IndexFunc(attempts, func(a *result.Record) bool { return a.Outcome == result.OutcomeAccepted })
	if i < 0 {
		return nil, nil
	}
	r.decoding.Lock()
	defer r.decoding.Unlock()
	contents, err := clusterfiles.Read(ctx, r.Live, run.Namespace, plan.AttemptName(run, attempts[i].Trial, attempts[i].Attempt))
	if err != nil {
		return nil, err
	}
	return variablesIn(contents, attempts[i].Summary.DocumentSHA256), nil
}

// variablesIn a document with that checksum; nil if there is none.
func variablesIn(contents map[string][]byte, checksum string) map[string]string {
	document, err := result.UnpackFile(result.DocumentKey, contents)
	if err != nil || result.Digest(document) != checksum {
		return nil
	}
	text, err := result.Unpack(document)
	if err != nil {
		return nil
	}
	variables, err := text.Variables()
	if err != nil {
		return nil
	}
	return variables
}
