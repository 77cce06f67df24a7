// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// ComparisonObserved is everything that a decision about a comparison depends on.
type ComparisonObserved struct {
	// ComparisonRuns are its runs, and what they measured.
	analysis.ComparisonRuns
	// Checked: the API server has accepted the run of every variant, without creating it.
	Checked bool
	// Judged is what the whole rounds say.
	Judged analysis.Verdicts
	// Images that the comparison has pinned, or the installation's.
	Images podutil.Images
	// Results are the published results, or nil.
	Results *v1alpha1.ResultsReference
	// Lane of the comparison.
	Lane Lane
	// Lingering: something of the comparison's runs may put load on a node.
	Lingering bool
	// Left is what its runs that are not under way have left on nodes.
	Left Leftover
	// Current are the runs that the comparison has made for the round that is under way, or for the last one.
	Current []v1alpha1.CurrentRun
	// Instances of the database that the runs share.
	Instances []Instance
	// DataCopies: there are copies of prepared data, which nobody deletes yet.
	DataCopies bool
	Predecessor
	Blockers
}
