// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// SuiteObserved is everything that a decision about a suite depends on.
type SuiteObserved struct {
	// Members in the order of the plan.
	Members []SuiteMember
	// Variables of the servers, as the first complete run of each variant read them; nil where they are not known.
	Variables []map[string]string
	// Checked: the API server has accepted the run of every variant, without creating it.
	Checked bool
	// Judged is what the whole rounds say.
	Judged Judged
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

// SuiteMember is a run of the suite, and what it measured.
type SuiteMember struct {
	// Run is nil if it does not exist.
	Run *v1alpha1.BenchmarkRun
	// Measured is nil unless the run is Complete.
	Measured *Measurements
}

// Measurements are the values of a run's headline metric, in the order of the points of its plan. A point without a value has
// NaN.
type Measurements struct {
	Metric result.Metric
	Values []float64
	// Served is the newest database instance that was measured, and Servers are the UIDs of the Pods that served what counts.
	Served  plan.Served
	Servers []string
	// Others are the metrics besides it that are looked at: those that claims, plots and tables are about and, if there are few
	// enough points to show them, costs of a unit of work.
	Others []MetricValues
	// Rows that the run's pilots have decided, by the label of the point.
	Rows map[string]int64
	// Warnings of the points, each once.
	Warnings []stats.Warning
}

// MetricValues are the values of a metric by the points of the plan. Value in the metric is of no meaning.
type MetricValues struct {
	Metric result.Metric
	Values []float64
}

// Finished says whether the member's run has finished.
func (m *SuiteMember) Finished() bool { return m.is(v1alpha1.ConditionFinished) }

// is says whether a condition of the member's run is true.
func (m *SuiteMember) is(condition string) bool {
	return m.Run != nil && apimeta.IsStatusConditionTrue(m.Run.Status.Conditions, condition)
}
