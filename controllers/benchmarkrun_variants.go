// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// checkVariants has the API server check what each variant asks for as a run of its own, without creating it.
func (r *BenchmarkRunReconciler) checkVariants(ctx context.Context, s *runStep) error {
	w := r.writer(s.run)
	for i, v := range s.run.Spec.Variants {
		one := plan.Side(s.run, i, 1)
		one = &v1alpha1.BenchmarkRun{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.run.Namespace, GenerateName: "variant-"}, Spec: one.Spec,
		}
		err := w.createUnchecked(ctx, one, false, client.DryRunAll, client.FieldValidation("Strict"))
		refused := new(terminalError)
		if errors.As(err, &refused) && refused.failure.Reason == v1alpha1.ReasonRejected {
			return &terminalError{*lifecycle.InvalidVariant(fmt.Errorf("variant %s: %s", v.Name, refused.failure.Message))}
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	r.memories.of(s.run).checked, s.seen.Checked = true, true
	return nil
}

// sidesOf an attempt are where each of its variants was measured; nil of a run without variants.
func (r *BenchmarkRunReconciler) sidesOf(ctx context.Context, s *runStep, a *lifecycle.Attempt) []result.SideRecord {
	if len(s.run.Spec.Variants) == 0 {
		return nil
	}
	var sides []result.SideRecord
	for _, number := range lifecycle.InstancesOf(s.run, a.Instance) {
		side := result.SideRecord{
			Variant: s.run.Spec.Variants[plan.VariantOf(s.run, number)].Name, Instance: number, Place: placeOf(s.seen, number),
		}
		side.Place.RetainedClass = r.retainedClass(ctx, s.seen, number)
		for _, i := range s.seen.Instances {
			if i.Number == number && i.Provisioner != v1alpha1.ProvisionerExternal && i.Pod != nil {
				side.Fingerprint = lifecycle.PodFingerprint(i.Pod)
			}
		}
		sides = append(sides, side)
	}
	return sides
}

// judgeSides invalidates an attempt one of whose servers was held back at its CPU limit. Its document says that, which alone has
// what was measured of each.
func judgeSides(run *v1alpha1.BenchmarkRun, a *lifecycle.Attempt, doc *document) {
	for i := range doc.Sides {
		number := lifecycle.InstancesOf(run, a.Instance)[i]
		summary := doc.Sides[i].Summarize(result.EncodedDocument{})
		if a.Verdict = lifecycle.Throttled(run, a, &summary, number); a.Verdict.Outcome != result.OutcomeAccepted {
			return
		}
	}
}

// variables of the servers by variant, as the first document of each has them. A document that is gone is not looked for again:
// no answer depends on it.
func (r *BenchmarkRunReconciler) variables(ctx context.Context, run *v1alpha1.BenchmarkRun, records []*result.Record) error {
	m := r.memories.of(run)
	for _, v := range run.Spec.Variants {
		if _, known := m.variables[v.Name]; known {
			continue
		}
		for _, record := range records {
			if record.Outcome != result.OutcomeAccepted || !record.Measures(v.Name) {
				continue
			}
			name := plan.AttemptName(run, record.Trial, record.Attempt)
			doc, err := pages{r.Live, &r.decoding}.document(ctx, run.Namespace, name, record)
			if err != nil && !errors.Is(err, result.ErrDocumentInvalid) {
				return err
			}
			if m.variables == nil {
				m.variables = map[string]map[string]string{}
			}
			m.variables[v.Name] = nil
			if doc != nil {
				m.variables[v.Name] = doc.Side(v.Name).Server.Variables
			}
			break
		}
	}
	return nil
}
