// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// measuredSoFar is the report of a run whose results are not published: of the attempts that are recorded. Its outcome is
// Unfinished, or Failed if the run has failed. Claims are judged when all trials are measured, and not before.
func measuredSoFar(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun) (*report.Report, error) {
	p, err := plan.ForRun(&run.Spec)
	if err != nil {
		return nil, fmt.Errorf("planning run %s: %w", run.Name, err)
	}
	records, err := readRecords(ctx, from, run)
	if err != nil {
		return nil, err
	}
	outcome := report.Unfinished
	if apimeta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFailed) {
		outcome = v1alpha1.ConditionFailed
	}
	rep, err := report.OfRun(run, p, records, outcome)
	if err != nil {
		return nil, err
	}
	rep.Claims = nil
	if outcome == report.Unfinished {
		rep.Run.Message = notWhole(run.Status.Conditions)
	}
	return rep, nil
}

// notWhole says of what has not finished that its report is not whole, and what it does now.
func notWhole(conditions []metav1.Condition) string {
	text := "this is what has been measured so far"
	if ready := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionReady); ready != nil && ready.Message != "" {
		text += "; " + ready.Message
	}
	return text
}

// readRecords reads the records of a run's attempts, the oldest first: the status names the newest, and each record the
// one before it. It is an error if one of them was deleted, or is not what the operator wrote. The chain is not circular: no
// record can have the digest of a record that follows from it.
func readRecords(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
	var records []*result.Record
	for ref := run.Status.Records; ref.ConfigMap != ""; {
		var cm corev1.ConfigMap
		err := from.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: ref.ConfigMap}, &cm)
		switch {
		case apierrors.IsNotFound(err):
			return nil, fmt.Errorf("ConfigMap %s, the record of an attempt, was deleted", ref.ConfigMap)
		case err != nil:
			return nil, fmt.Errorf("reading the record in ConfigMap %s: %w", ref.ConfigMap, err)
		}
		text := cm.Data[result.RecordKey]
		if result.NamedDigest([]byte(text)) != ref.Digest {
			return nil, fmt.Errorf("ConfigMap %s, the record of an attempt, is not what the operator wrote", ref.ConfigMap)
		}
		record, err := result.DecodeRecord(text)
		if err != nil {
			return nil, fmt.Errorf("ConfigMap %s: %w", ref.ConfigMap, err)
		}
		records = append(records, record)
		ref = v1alpha1.RecordReference(ptr.Deref(record.Previous, result.Reference{}))
	}
	slices.Reverse(records)
	return records, nil
}
