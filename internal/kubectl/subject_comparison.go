// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/bundle"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// comparisonSubject is a comparison.
type comparisonSubject struct {
	comparison *v1alpha1.BenchmarkRun
}

func (comparisonSubject) kind() *kind { return comparisonKind }

func (s comparisonSubject) object() client.Object { return s.comparison }

func (s comparisonSubject) snapshot() *snapshot {
	of := &s.comparison.Status
	return &snapshot{
		kind: comparisonKind, namespace: s.comparison.Namespace, name: s.comparison.Name, unit: "rounds", conditions: of.Conditions,
		mayEndEarly: s.comparison.Spec.Rounds.Until != v1alpha1.RoundsAll, needsDecision: true,
		done: int(ptr.Deref(of.Rounds.Measured, 0)), planned: int(ptr.Deref(of.Rounds.Planned, 0)),
		invalidated: int(ptr.Deref(of.Runs.Invalidated, 0)), started: of.StartTime, completed: of.CompletionTime,
		deadline: of.Deadline, expires: of.ExpirationTime, retention: s.comparison.Spec.Results.Retention, elapsed: of.Elapsed,
		suspended: seconds(of.SuspendedSeconds), answer: of.Answer, soFar: soFar(of.Pairs), results: of.Results,
		hints: closer(s.comparison),
	}
}

// closer says how the numbers of a round can be measured closer together, if a comparison of whole runs has no answer.
func closer(c *v1alpha1.BenchmarkRun) []string {
	open := slices.ContainsFunc(c.Status.Pairs, func(p v1alpha1.PairStatus) bool { return p.Verdict == v1alpha1.VerdictCannotSay })
	if !open || c.Status.CompletionTime == nil || c.Status.Alternation.Together() {
		return nil
	}
	var hints []string
	alternation, impossible := v1alpha1.AlternateSlices, trial.NotInSlices(&c.Spec) != ""
	if why := c.Status.AlternationReason; why != "" {
		hints = append(hints, "Why whole runs were measured, and no slices: "+why)
		if !impossible {
			return hints
		}
	}
	if impossible {
		alternation = v1alpha1.AlternateTrials
	}
	return append(hints, fmt.Sprintf("What to do: with `alternation: %s`, the variants are measured some seconds or less apart, "+
		"not minutes, and an answer usually takes fewer rounds; more rounds (`maxRounds`) help, too.", alternation))
}

func (s comparisonSubject) reportSoFar(ctx context.Context, from client.Reader) (anyReport, error) {
	r, err := judgedSoFar(ctx, from, s.comparison)
	return comparisonReport{r}, err
}

func (s comparisonSubject) warnings(context.Context, client.Reader) []string {
	return s.comparison.Status.Warnings
}

func (s comparisonSubject) contender() lifecycle.Contender {
	return lifecycle.ContenderOfComparison(s.comparison)
}

func (s comparisonSubject) trials() (*v1alpha1.BenchmarkRun, error) {
	return nil, fmt.Errorf("%s is a comparison; trials belong to its runs: `kubectl get brun -l %s=%s` lists them",
		s.comparison.Name, v1alpha1.LabelComparison, s.comparison.Name)
}

func (s comparisonSubject) databaseLabel() client.MatchingLabels { return labelOf(s) }

func (s comparisonSubject) copyWith(meta metav1.ObjectMeta) subject {
	comparison := &v1alpha1.BenchmarkRun{ObjectMeta: meta, Spec: *s.comparison.Spec.DeepCopy()}
	comparison.Spec.Suspend = nil
	return comparisonSubject{comparison}
}

func (s comparisonSubject) fingerprint() (string, error) {
	spec := s.comparison.Spec.DeepCopy()
	spec.Suspend = nil
	text, err := json.Marshal(spec)
	return string(text), err
}

// comparisonReport is the report of a comparison.
type comparisonReport struct{ *report.Comparison }

func (r comparisonReport) write(w io.Writer, f report.Format) error {
	return f.Comparison(w, r.Comparison)
}

func (r comparisonReport) read(ctx context.Context, docs *documents) {
	docs.ofComparison(ctx, r.Comparison)
}

func (r comparisonReport) drawings(docs *documents) *page.Drawings {
	return page.ComparisonDrawings(r.Comparison, &docs.comparison)
}

func (r comparisonReport) uid() string { return r.UID }

func (r comparisonReport) baseline(metric string) (*report.Compared, error) {
	return report.CompareBaseline(r.Comparison, metric)
}

func (r comparisonReport) variants(before, after, metric string) (*report.Compared, error) {
	return report.CompareVariants(r.Comparison, before, after, metric)
}

var errWholeComparison = errors.New("a comparison has several variants: name it alone, or two of them as COMPARISON:VARIANT")

func (r comparisonReport) side(variant, metric, name string) (*report.Side, error) {
	if variant == "" {
		return nil, errWholeComparison
	}
	return report.VariantSide(r.Comparison, variant, metric, name)
}

func (r comparisonReport) reproducedBy(here anyReport, within, _ float64) *report.Reproduction {
	//nolint:forcetypeassert // of the same kind
	return report.ReproduceComparison(r.Comparison, here.(comparisonReport).Comparison, within)
}

func (comparisonReport) specDigest() string { return "" }

// addAttempts adds the results and attempts of the runs, or the attempts of a run with variants.
func (r comparisonReport) addAttempts(ctx context.Context, g *gathering, of *snapshot) error {
	if len(r.Records) > 0 {
		return g.addAttempts(ctx, "", of, r.Records)
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Results == "" {
			continue
		}
		member, err := measuredMember(ctx, g.from, of.namespace, run)
		if err != nil {
			return err
		}
		prefix := bundle.RunsFolder + run.Name + "/"
		if err := g.addResults(prefix, member.contents); err != nil {
			return err
		}
		if err := g.addAttempts(ctx, prefix, runSubject{member.run}.snapshot(), member.Records); err != nil {
			return err
		}
	}
	return nil
}

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

// contenders are all runs and comparisons that may be listed.
func contenders(ctx context.Context, from client.Reader, opts ...client.ListOption) ([]lifecycle.Contender, error) {
	var (
		runs        v1alpha1.BenchmarkRunList
		comparisons v1alpha1.BenchmarkRunList
		all         []lifecycle.Contender
	)
	if err := from.List(ctx, &runs, opts...); err != nil {
		return nil, err
	}
	if err := from.List(ctx, &comparisons, opts...); err != nil {
		return nil, err
	}
	for i := range runs.Items {
		all = append(all, lifecycle.ContenderOf(&runs.Items[i]))
	}
	for i := range comparisons.Items {
		all = append(all, lifecycle.ContenderOfComparison(&comparisons.Items[i]))
	}
	return all, nil
}
