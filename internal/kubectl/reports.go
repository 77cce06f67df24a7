// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/report"
	"github.com/benchrun-dev/benchrun/internal/report/page"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// anyReport is the report of a run without variants or with them.
type anyReport interface {
	// write the report in a format.
	write(io.Writer, report.Format) error
	// Request has it show plots and tables.
	Request(*report.Requested) error
	// read the documents of the attempts, and what is missing of the metrics that are requested.
	read(ctx context.Context, docs *documents)
	// drawings are the plots: with those that are made of documents, if these were read.
	drawings(docs *documents) *page.Drawings
	RequestedTables() []report.RequestedTable
	// uid of the run in the cluster.
	uid() string
	// baseline compares the variants with the baseline.
	baseline(metric string) (*report.Compared, error)
	// variants compares two of them.
	variants(before, after, metric string) (*report.Compared, error)
	// side of a comparison of two reports, which calls it by that name.
	side(variant, metric, name string) (*report.Side, error)
	// reproducedBy compares it with another report. A difference within this fraction counts as none; equal runs differ by the
	// fraction betweenRuns.
	reproducedBy(here anyReport, within, betweenRuns float64) (*report.Reproduction, error)
	// specDigest is that of the specification that was measured.
	specDigest() (string, error)
	// attempts are the records of all of them.
	attempts() []*result.Record
}

var errVariantsDiffer = errors.New("one of the two runs has variants, and the other has none: nothing can be compared")

// runReport is the report of a run without variants.
type runReport struct{ *report.Report }

// errNeedsVariants is why such a run has no report in some format.
var errNeedsVariants = errors.New("this format is for runs with variants")

func (r runReport) write(w io.Writer, f report.Format) error {
	if f.Run == nil {
		return fmt.Errorf("-o %s: %w", f.Name, errNeedsVariants)
	}
	return f.Run(w, r.Report)
}

func (r runReport) read(ctx context.Context, docs *documents) {
	docs.each(ctx, r.Run.Name, r.Accepted(), docs.run.Add)
}

func (r runReport) drawings(docs *documents) *page.Drawings {
	return page.RunDrawings(r.Report, &docs.run)
}

func (r runReport) uid() string { return r.Run.UID }

var errOneArgument = errors.New("name two runs, two variants as RUN:VARIANT, or one run with variants")

func (runReport) baseline(string) (*report.Compared, error) { return nil, errOneArgument }

func (r runReport) variants(string, string, string) (*report.Compared, error) {
	return nil, r.noVariants()
}

func (r runReport) noVariants() error { return fmt.Errorf("run %s has no variants", r.Run.Name) }

func (r runReport) side(variant, metric, name string) (*report.Side, error) {
	if variant != "" {
		return nil, r.noVariants()
	}
	return report.RunSide(r.Report, metric, name)
}

func (r runReport) reproducedBy(here anyReport, within, betweenRuns float64) (*report.Reproduction, error) {
	other, is := here.(runReport)
	if !is {
		return nil, errVariantsDiffer
	}
	return report.Reproduce(r.Report, other.Report, within, betweenRuns), nil
}

func (r runReport) specDigest() (string, error) { return r.Run.SpecDigest, nil }

func (r runReport) attempts() []*result.Record { return r.Records }

// variantsReport is the report of a run with variants.
type variantsReport struct{ *report.Comparison }

func (r variantsReport) write(w io.Writer, f report.Format) error {
	return f.Comparison(w, r.Comparison)
}

func (r variantsReport) read(ctx context.Context, docs *documents) {
	for i := range r.Runs {
		of := &r.Runs[i]
		of.Add(r.Missing(of), r.MemberReport(of))
	}
	accepted := (&report.Report{Records: r.Records}).Accepted()
	docs.each(ctx, r.Name, accepted, func(record *result.Record, doc *result.Document) {
		for _, side := range record.Sides {
			one, of := record.Side(side.Variant), doc.Side(side.Variant)
			one.Summary.Latencies = of.Latencies
			docs.variants.Add(side.Variant, one, of)
		}
	})
}

func (r variantsReport) drawings(docs *documents) *page.Drawings {
	return page.ComparisonDrawings(r.Comparison, &docs.variants)
}

func (r variantsReport) uid() string { return r.UID }

func (r variantsReport) baseline(metric string) (*report.Compared, error) {
	return report.CompareBaseline(r.Comparison, metric)
}

func (r variantsReport) variants(before, after, metric string) (*report.Compared, error) {
	return report.CompareVariants(r.Comparison, before, after, metric)
}

func (r variantsReport) side(variant, metric, name string) (*report.Side, error) {
	if variant == "" {
		return nil, fmt.Errorf("run %s has variants: name it alone, or two of them as RUN:VARIANT", r.Name)
	}
	return report.VariantSide(r.Comparison, variant, metric, name)
}

func (r variantsReport) reproducedBy(here anyReport, within, _ float64) (*report.Reproduction, error) {
	other, is := here.(variantsReport)
	if !is {
		return nil, errVariantsDiffer
	}
	return report.ReproduceComparison(r.Comparison, other.Comparison, within), nil
}

func (r variantsReport) specDigest() (string, error) {
	var spec v1alpha1.BenchmarkRunSpec
	if err := json.Unmarshal(r.Spec, &spec); err != nil {
		return "", fmt.Errorf("reading the specification in %s: %w", report.JSONFile, err)
	}
	return plan.Digest(&spec)
}

func (r variantsReport) attempts() []*result.Record { return r.Records }
