// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/clusterfiles"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// documents reads those of the attempts that count, one after another, so that not more than one is in memory. One that
// cannot be read is counted: plots are drawn without it.
type documents struct {
	from      client.Reader
	namespace string
	// outputs of those that are read; nil if they are not wanted.
	outputs *outputs
	// missing is how many could not be read, and why the first of them.
	missing int
	why     error
}

var errDocumentGone = errors.New("it was deleted, or is not what the operator wrote")

func (d *documents) lack(n int, why error) {
	d.missing += n
	d.why = cmp.Or(d.why, why)
}

// words say what is missing; empty if nothing is.
func (d *documents) words() string {
	if d.missing == 0 {
		return ""
	}
	what := "plots"
	if d.outputs != nil && len(d.outputs.files) > 0 {
		what += " and outputs"
	}
	return fmt.Sprintf("The %s are incomplete: %s of the attempts cannot be read: %s",
		what, stats.Counted(d.missing, "document"), explained(d.why))
}

// ofRun gives add the documents of a run.
func (d *documents) ofRun(ctx context.Context, rep *report.Report, add func(*result.Record, *result.Document)) {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: rep.Run.Name}}
	for _, record := range rep.Accepted() {
		name := plan.AttemptName(run, record.Trial, record.Attempt)
		doc, err := clusterfiles.Document(ctx, d.from, d.namespace, name, record)
		switch {
		case err != nil:
			d.lack(1, err)
		case doc == nil:
			d.lack(1, fmt.Errorf("ConfigMap %s: %w", name, errDocumentGone))
		default:
			d.outputs.add(name, doc)
			add(record, doc)
		}
	}
}

// ofComparison gives details the documents of the runs of a comparison.
func (d *documents) ofComparison(ctx context.Context, rep *report.Comparison, details *page.ComparisonDetails) {
	for i := range rep.Runs {
		of := &rep.Runs[i]
		if of.Results == "" {
			continue
		}
		member, err := measuredMember(ctx, d.from, d.namespace, of)
		if err != nil {
			d.lack(max(1, len(of.Values)), err)
			continue
		}
		d.ofRun(ctx, member.Report, func(record *result.Record, doc *result.Document) { details.Add(of.Variant, record, doc) })
	}
}
