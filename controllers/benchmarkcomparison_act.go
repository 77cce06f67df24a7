// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// act carries out an action.
func (r *BenchmarkComparisonReconciler) act(ctx context.Context, s *comparisonStep, action lifecycle.Action) error {
	w := r.writer(s.owner)
	switch a := action.(type) {
	case lifecycle.Wait:
		return nil
	case lifecycle.TakeLane:
		return r.takeLane(ctx, s)
	case lifecycle.ReleaseLane:
		return r.lanes().release(ctx, s.owner.Spec.Template.Spec.Lane, a.Holder)
	case lifecycle.RemoveOrphan:
		return w.removeOrphan(ctx, a.Object)
	case lifecycle.CheckVariants:
		return r.check(ctx, s)
	case lifecycle.CreateMember:
		run, err := memberRun(s.owner, a)
		if err != nil {
			return err
		}
		return r.createMember(ctx, s, run, a)
	case lifecycle.SuspendMember:
		return r.suspendMember(ctx, s.owner, a)
	case lifecycle.RemoveMember:
		return w.remove(ctx, &v1alpha1.BenchmarkRun{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.owner.Namespace, Name: a.Name, UID: a.UID},
		})
	case lifecycle.RemoveDatabase:
		return w.removeInstance(ctx, s.plan.Variants[0].Run.Spec.Database.Provisioner, a.Instance)
	case lifecycle.RemoveDataCopies:
		return w.removeDataCopies(ctx)
	case lifecycle.ReleaseNodes:
		return w.removeOfInstance(ctx, a.Instance, &policyv1.PodDisruptionBudgetList{})
	case lifecycle.PublishComparison:
		return r.publish(ctx, s, a.Outcome)
	case lifecycle.DeleteComparison:
		return w.remove(ctx, s.owner)
	default:
		return fmt.Errorf("unknown action %T", a)
	}
}

// takeLane takes the comparison's lane, and adds that to what was seen.
func (r *BenchmarkComparisonReconciler) takeLane(ctx context.Context, s *comparisonStep) error {
	one := lifecycle.ContenderOfComparison(s.owner)
	if err := r.lanes().take(ctx, r.writer(s.owner), one); err != nil {
		return err
	}
	s.seen.Lane.Holder, s.seen.Lane.Next = &one.Holder, lifecycle.Holder{}
	return nil
}

// memberRun is the run of a member, bound to nodes if there are any, with what pilots have decided, and told to share the
// comparison's database if it is to.
func memberRun(comparison *v1alpha1.BenchmarkComparison, a lifecycle.CreateMember) (*v1alpha1.BenchmarkRun, error) {
	run := plan.MemberRun(comparison, a.Member)
	run.Annotations = map[string]string{}
	if a.DatabaseNode != "" {
		run.Annotations[v1alpha1.AnnotationDatabaseNode] = a.DatabaseNode
	}
	if a.LoaderNodes != "" {
		run.Annotations[v1alpha1.AnnotationLoaderNodes] = a.LoaderNodes
	}
	if len(a.Rows) > 0 {
		rows, err := json.Marshal(a.Rows)
		if err != nil {
			return nil, fmt.Errorf("encoding the rows that pilots have decided: %w", err)
		}
		run.Annotations[v1alpha1.AnnotationRows] = string(rows)
	}
	if a.Shared != nil {
		plan.Share(run, *a.Shared)
	}
	return run, nil
}

// createMember creates a run, which the comparison then knows as its own. One that exists already is not in the cache yet.
func (r *BenchmarkComparisonReconciler) createMember(
	ctx context.Context, s *comparisonStep, run *v1alpha1.BenchmarkRun, a lifecycle.CreateMember,
) error {
	err := r.writer(s.owner).createUnchecked(ctx, run, true, client.FieldValidation("Strict"))
	if apierrors.IsAlreadyExists(err) {
		return r.existing(ctx, s.owner, run)
	}
	if err == nil && run.UID != "" { // a namespace that is being deleted has taken nothing
		s.seen.Current = a.Current(run)
	}
	return err
}

// existing is what the run means that has the name of another one.
func (r *BenchmarkComparisonReconciler) existing(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, run *v1alpha1.BenchmarkRun,
) error {
	var there v1alpha1.BenchmarkRun
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(run), &there); err != nil {
		return fmt.Errorf("reading run %s, which exists already: %w", run.Name, err)
	}
	w := r.writer(comparison)
	if w.owner.owns(&there, true) {
		return errStale // created before the operator was killed, or by somebody else, and not in the cache yet
	}
	return w.owner.taken("BenchmarkRun", run.Name)
}

// check has the API server check the runs of the first round, one of each variant, without creating them.
func (r *BenchmarkComparisonReconciler) check(ctx context.Context, s *comparisonStep) error {
	for _, m := range s.plan.Members[:len(s.plan.Variants)] {
		err := r.checkRun(ctx, s.owner, plan.MemberRun(s.owner, m))
		refused := new(terminalError)
		if errors.As(err, &refused) && refused.failure.Reason == v1alpha1.ReasonRejected {
			return &terminalError{*lifecycle.InvalidVariant(
				fmt.Errorf("variant %s: %s", s.owner.Spec.Variants[m.Variant].Name, refused.failure.Message))}
		}
		if err != nil {
			return err
		}
	}
	r.memories.of(s.owner).checked, s.seen.Checked = true, true
	return nil
}

// checkRun creates a run without keeping it.
func (r *BenchmarkComparisonReconciler) checkRun(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, run *v1alpha1.BenchmarkRun,
) error {
	w := r.writer(comparison)
	err := w.createUnchecked(ctx, run, true, client.DryRunAll, client.FieldValidation("Strict"))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	return r.existing(ctx, comparison, run)
}

// suspendMember suspends or resumes a run.
func (r *BenchmarkComparisonReconciler) suspendMember(
	ctx context.Context, comparison *v1alpha1.BenchmarkComparison, a lifecycle.SuspendMember,
) error {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: comparison.Namespace, Name: a.Name}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, a.Suspend))
	if err := r.Patch(ctx, run, patch, client.FieldOwner(v1alpha1.FieldOwner)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("setting spec.suspend of run %s: %w", a.Name, err)
	}
	return nil
}

// publish writes the results of the comparison, once, and adds them to what was seen.
func (r *BenchmarkComparisonReconciler) publish(ctx context.Context, s *comparisonStep, outcome string) error {
	r.publishing.Lock()
	defer r.publishing.Unlock()
	rep, err := report.OfComparison(s.owner, s.plan, &s.seen.ComparisonRuns, s.seen.Judged, outcome,
		lifecycle.WhyStopped(s.owner, s.plan, s.seen, s.now))
	if err != nil {
		return err
	}
	files, err := report.ComparisonFiles(rep)
	if err != nil {
		return err
	}
	shown, err := r.page(ctx, s, rep)
	if err != nil {
		return err
	}
	files = append(files, shown...)
	published := &v1alpha1.ResultsReference{ConfigMap: plan.ComparisonResultsName(s.owner), Digest: digestOf(files)}
	meta := metav1.ObjectMeta{
		Name: published.ConfigMap, Labels: plan.ComparisonLabels(s.owner),
		Annotations: map[string]string{digestAnnotation: published.Digest},
	}
	meta.Labels[v1alpha1.LabelComponent] = v1alpha1.ComponentResults
	if err := r.writer(s.owner).storeResults(ctx, meta, files, s.owner.Spec.Results.Retention); err != nil {
		return err
	}
	s.seen.Results = published
	return nil
}

// page of what was measured so far.
func (r *BenchmarkComparisonReconciler) page(
	ctx context.Context, s *comparisonStep, rep *report.Comparison,
) ([]result.File, error) {
	var members []pagedRun
	for i, m := range s.plan.Members {
		if seen := s.seen.Members[i]; seen.Measured != nil {
			members = append(members, pagedRun{seen.Run, s.owner.Spec.Variants[m.Variant].Name})
		}
	}
	return pages{r.Live, &r.decoding}.ofComparison(ctx, rep, members, func(run *v1alpha1.BenchmarkRun) ([]*result.Record, error) {
		attempts, err := r.readAttempts(ctx, run)
		if lost := new(changedError); errors.As(err, &lost) {
			return nil, nil // the comparison has failed for that, and says so
		}
		return attempts, err
	})
}
