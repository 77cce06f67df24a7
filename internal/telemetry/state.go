// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
)

// State computes the gauges at each scrape. Only the manager that leads has any: the sum over all managers is then right.
type State struct {
	// Read all runs of an installation, from a cache. They are only read.
	Read func(context.Context) ([]v1alpha1.BenchmarkRun, error)
	// Leads is closed when this manager leads.
	Leads <-chan struct{}
	Clock clock.PassiveClock
	Log   logr.Logger
}

// maxLanes is how many lanes have series of their own, those with the longest queues; anybody who may create a run may name a new
// lane. The others are summed up as otherLanes, which no lane can be called.
const (
	maxLanes   = 100
	otherLanes = "_others"
)

// readTimeout bounds the wait for a cache that is not filled yet.
const readTimeout = 5 * time.Second

var (
	runsDesc  = desc("runs", "Runs by state, as the column STATUS shows it; those that have failed are Failed.", "state")
	queueDesc = desc("lane_queue_length", "Runs that wait for their lane.", "lane")
	headDesc  = desc("lane_queue_head_age_seconds", "How long the next run of a lane's queue has waited.", "lane")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(prefix, "", name), help, labels, nil)
}

// Describe implements prometheus.Collector.
func (s *State) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{runsDesc, queueDesc, headDesc} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector.
func (s *State) Collect(samples chan<- prometheus.Metric) {
	select {
	case <-s.Leads:
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	runs, err := s.Read(ctx)
	if err != nil {
		s.Log.Error(err, "Reading runs for the metrics")
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		samples <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for state, n := range statesOf(runs) {
		gauge(runsDesc, float64(n), state)
	}
	for _, q := range bounded(queuesOf(runs, s.Clock.Now())) {
		gauge(queueDesc, float64(q.length), q.lane)
		gauge(headDesc, q.age.Seconds(), q.lane)
	}
}

func statesOf(runs []v1alpha1.BenchmarkRun) map[string]int {
	counts := map[string]int{}
	for _, state := range runStates {
		counts[state] = 0
	}
	for i := range runs {
		counts[StateOf(runs[i].Status.Conditions)]++
	}
	return counts
}

// laneQueue is the queue of a lane: how many wait in it, and for how long the next one.
type laneQueue struct {
	lane   string
	length int
	age    time.Duration
}

// queuesOf all lanes that anybody is in: one that holds its lane, or waits for it.
func queuesOf(runs []v1alpha1.BenchmarkRun, now time.Time) []laneQueue {
	waiting, since := map[string][]lifecycle.Contender{}, map[lifecycle.Holder]time.Time{}
	for i := range runs {
		c := lifecycle.ContenderOf(&runs[i])
		if !c.Wants {
			continue
		}
		list := waiting[c.Lane]
		if !c.Admitted {
			list = append(list, c)
			since[c.Holder] = c.Ready.Time
		}
		waiting[c.Lane] = list // a lane that is held has a queue, too: an empty one
	}
	queues := make([]laneQueue, 0, len(waiting))
	for lane, list := range waiting {
		q := laneQueue{lane: lane, length: len(list)}
		if len(list) > 0 {
			q.age = max(0, now.Sub(since[lifecycle.NextInLine(list[0], list[1:], nil)]))
		}
		queues = append(queues, q)
	}
	return queues
}

// bounded are the longest queues, and what there is in the others.
func bounded(queues []laneQueue) []laneQueue {
	if len(queues) <= maxLanes {
		return queues
	}
	slices.SortFunc(queues, func(a, b laneQueue) int { return cmp.Or(b.length-a.length, cmp.Compare(a.lane, b.lane)) })
	rest := laneQueue{lane: otherLanes}
	for _, q := range queues[maxLanes:] {
		rest.length, rest.age = rest.length+q.length, max(rest.age, q.age)
	}
	return append(queues[:maxLanes:maxLanes], rest)
}
