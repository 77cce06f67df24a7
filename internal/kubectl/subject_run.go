// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
)

// runSubject is a run.
type runSubject struct{ run *v1alpha1.BenchmarkRun }

func (runSubject) kind() *kind { return runKind }

func (s runSubject) object() client.Object { return s.run }

func (s runSubject) snapshot() *snapshot {
	of := &s.run.Status
	return &snapshot{
		kind: runKind, namespace: s.run.Namespace, name: s.run.Name, unit: "trials", conditions: of.Conditions,
		mayEndEarly: s.run.Spec.Trials.Precision != nil,
		done:        int(ptr.Deref(of.Trials.Measured, 0)), planned: int(ptr.Deref(of.Trials.Planned, 0)),
		invalidated: int(ptr.Deref(of.Trials.Invalidated, 0)), started: of.StartTime, completed: of.CompletionTime,
		deadline: of.Deadline, expires: of.ExpirationTime, retention: s.run.Spec.Results.Retention, elapsed: of.Elapsed,
		suspended: seconds(of.SuspendedSeconds), answer: of.Headline, results: of.Results, records: of.Records,
	}
}

func (s runSubject) reportSoFar(ctx context.Context, from client.Reader) (anyReport, error) {
	r, err := measuredSoFar(ctx, from, s.run)
	return runReport{r}, err
}

// warnings of the results or, as long as there are none that can be read, of the status. Those of results are values, so that
// several that differ only in what they measured are one.
func (s runSubject) warnings(ctx context.Context, from client.Reader) []string {
	all := slices.Clone(s.run.Status.Environment.Warnings)
	if s.run.Status.Results.ConfigMap != "" {
		if p, err := readRun(ctx, from, s.run); err == nil { // or report says what is wrong with them
			return append(all, eachOnce(p.Points)...)
		}
	}
	for i := range s.run.Status.Points {
		all = append(all, s.run.Status.Points[i].Warnings...)
	}
	return all
}

func (s runSubject) contender() lifecycle.Contender { return lifecycle.ContenderOf(s.run) }

func (s runSubject) trials() *v1alpha1.BenchmarkRun { return s.run }

func (s runSubject) copyWith(meta metav1.ObjectMeta) subject {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: meta, Spec: *s.run.Spec.DeepCopy()}
	run.Spec.Suspend = nil
	return runSubject{run}
}

func (s runSubject) fingerprint() (string, error) { return plan.Digest(&s.run.Spec) }

// publishedRun is a run with its published results.
type publishedRun struct {
	*report.Report
	run      *v1alpha1.BenchmarkRun
	contents map[string][]byte
}

func readRun(ctx context.Context, from client.Reader, run *v1alpha1.BenchmarkRun) (*publishedRun, error) {
	text, contents, err := readResults(ctx, from, runSubject{run})
	if err != nil {
		return nil, err
	}
	r, err := report.FromResults(text)
	return &publishedRun{r, run, contents}, err
}

// runReport is the report of a run.
type runReport struct{ *report.Report }

// errOfComparisons is why a run has no report in some format.
var errOfComparisons = errors.New("this format is for comparisons: a run has no variants")

func (r runReport) write(w io.Writer, f report.Format) error {
	if f.Run == nil {
		return fmt.Errorf("-o %s: %w", f.Name, errOfComparisons)
	}
	return f.Run(w, r.Report)
}

func (r runReport) read(ctx context.Context, docs *documents) {
	docs.ofRun(ctx, r.Report, docs.run.Add)
}

func (r runReport) drawings(docs *documents) *page.Drawings {
	return page.RunDrawings(r.Report, &docs.run)
}

func (r runReport) uid() string { return r.Run.UID }

var errOneArgument = errors.New(
	"name two runs, or two variants as COMPARISON:VARIANT; only a comparison can be compared by itself",
)

func (runReport) baseline(string) (*report.Compared, error) { return nil, errOneArgument }

func (r runReport) variants(string, string, string) (*report.Compared, error) {
	return nil, r.noVariants()
}

func (r runReport) noVariants() error {
	return fmt.Errorf("%s is a run, which has no variants", r.Run.Name)
}

func (r runReport) side(variant, metric, name string) (*report.Side, error) {
	if variant != "" {
		return nil, r.noVariants()
	}
	return report.RunSide(r.Report, metric, name)
}

func (r runReport) reproducedBy(here anyReport, within, betweenRuns float64) *report.Reproduction {
	return report.Reproduce(r.Report, here.(runReport).Report, within, betweenRuns) //nolint:forcetypeassert // of the same kind
}

func (r runReport) specDigest() string { return r.Run.SpecDigest }

func (r runReport) addAttempts(ctx context.Context, g *gathering, of *snapshot) error {
	return g.addAttempts(ctx, of, r.Records)
}
