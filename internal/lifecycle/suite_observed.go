// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

// SuiteObserved is everything that a decision about a suite depends on.
type SuiteObserved struct {
	// SuiteRuns are its runs, and what they measured.
	analysis.SuiteRuns
	// Checked: the API server has accepted the run of every variant, without creating it.
	Checked bool
	// Judged is what the whole rounds say.
	Judged analysis.Verdicts
	// Images that the suite has pinned, or the installation's.
	Images podutil.Images
	// Results are the published results, or nil.
	Results *v1alpha1.ResultsReference
	// Lane of the suite.
	Lane Lane
	// Lingering: something of the suite's runs may put load on a node.
	Lingering bool
	// Current is the run that the suite has made last, or its zero value.
	Current v1alpha1.RunReference
	// Instances of the database that the runs share.
	Instances []Instance
	// Predecessor names objects of an earlier suite of the same name that are still being deleted.
	Predecessor []string
	Hindrances
}
