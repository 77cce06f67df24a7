// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/stats"
)

// headlines are the results of the runs that were complete last. Names of runs and of metrics are chosen by users: the number of
// series is bounded by the number of runs.
type headlines struct {
	most int

	mutex sync.Mutex
	// list has the oldest first.
	list []headline
}

type headline struct {
	uid                           types.UID
	namespace, name, metric, unit string
	value                         float64
}

func newHeadlines(most int) *headlines { return &headlines{most: most} }

// Headline keeps the answer of a run that is complete, if headlines are asked for: the median of its best point. points is called
// only then.
func (m *Metrics) Headline(run *v1alpha1.BenchmarkRun, points func() []stats.Point) {
	if m == nil || m.headlines.most == 0 {
		return
	}
	list := points()
	best := stats.Best(list)
	if best < 0 {
		return
	}
	p := &list[best]
	m.headlines.add(headline{run.UID, run.Namespace, run.Name, p.Metric.Name, p.Metric.Unit, p.Summary.Median})
}

func (h *headlines) add(one headline) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.list = append(h.list, one)
	h.list = h.list[max(0, len(h.list)-h.most):]
}

// collect the headlines of the runs that still exist, and forget the others.
func (h *headlines) collect(runs []v1alpha1.BenchmarkRun, gauge func(*prometheus.Desc, float64, ...string)) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.list) == 0 {
		return
	}
	exists := make(map[types.UID]bool, len(runs))
	for i := range runs {
		exists[runs[i].UID] = true
	}
	kept := h.list[:0]
	for _, one := range h.list {
		if exists[one.uid] {
			kept = append(kept, one)
			gauge(headlineDesc, one.value, one.namespace, one.name, one.metric, one.unit)
		}
	}
	h.list = kept
}
