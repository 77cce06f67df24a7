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
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/lifecycle"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/result"
)

const (
	// statePending is that of a run that has no status yet.
	statePending = "Pending"
	// stateFailed is that of all that have failed, for whatever reason.
	stateFailed = "Failed"
	// stateStarted is that of an attempt that has a Job and no record.
	stateStarted = "Started"
)

// Transition from one state to another, of a run or of one of its attempts.
type Transition struct {
	// Namespace and Name of the run.
	Namespace, Name string
	// Trial and Attempt are those of an attempt; 0 for the run itself.
	Trial, Attempt int
	From, To       string
	// Reason and Message say why. An attempt that counts has none.
	Reason, Message string

	// record of an attempt that has ended.
	record *result.Record
	// dead is the time between the end of the attempt before and the start of this one, or nil if that is not known.
	dead *time.Duration
}

// StateOf a run is what the column STATUS shows, but for failures, which are one state.
func StateOf(conditions []metav1.Condition) string {
	if apimeta.IsStatusConditionTrue(conditions, v1alpha1.ConditionFailed) {
		return stateFailed
	}
	if ready := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionReady); ready != nil {
		return ready.Reason
	}
	return statePending
}

// OfRun has the transitions from an old status of a run to its current one: of its attempts, in their order, and of the run
// itself. The records are all that the status was computed from.
func OfRun(run *v1alpha1.BenchmarkRun, old *v1alpha1.BenchmarkRunStatus, records []*result.Record) []Transition {
	start := started(run, old)
	var list []Transition
	for i := firstNew(run, old, records); i < len(records); i++ {
		r := records[i]
		t := Transition{
			Namespace: run.Namespace, Name: run.Name, Trial: r.Trial, Attempt: r.Attempt,
			From: stateStarted, To: string(r.Outcome), Reason: string(r.Cause), Message: r.Message, record: r,
		}
		if i > 0 {
			t.dead = deadTime(records[i-1], r, run.Status.Conditions)
		}
		if start != nil && start.Trial == t.Trial && start.Attempt == t.Attempt {
			list, start = append(list, *start), nil
		}
		list = append(list, t)
	}
	if start != nil {
		list = append(list, *start)
	}
	from, to := StateOf(old.Conditions), StateOf(run.Status.Conditions)
	if from == to {
		return list
	}
	t := Transition{Namespace: run.Namespace, Name: run.Name, From: from, To: to}
	why := apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionReady)
	if to == stateFailed {
		why = apimeta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFailed)
	}
	if why != nil {
		t.Reason, t.Message = why.Reason, why.Message
	}
	return append(list, t)
}

// started is the transition of an attempt that has got its Job, or nil.
func started(run *v1alpha1.BenchmarkRun, old *v1alpha1.BenchmarkRunStatus) *Transition {
	trial, attempt, found := plan.AttemptOf(run, run.Status.Attempt.Name)
	if !found || run.Status.Attempt == old.Attempt {
		return nil
	}
	return &Transition{
		Namespace: run.Namespace, Name: run.Name, Trial: trial, Attempt: attempt, From: statePending, To: stateStarted,
	}
}

// firstNew is the index of the first record that the old status does not count, or the number of records: if the status names one
// that is not among them, it is unknown which are new.
func firstNew(run *v1alpha1.BenchmarkRun, old *v1alpha1.BenchmarkRunStatus, records []*result.Record) int {
	if old.Records.ConfigMap == "" {
		return 0
	}
	at := slices.IndexFunc(records, func(r *result.Record) bool {
		return plan.AttemptName(run, r.Trial, r.Attempt) == old.Records.ConfigMap
	})
	if at < 0 {
		return len(records)
	}
	return at + 1
}

// deadTime from the end of one loader to the start of the next. The run must have held its lane all that time: a pause is not
// dead time. Clocks of two nodes may differ: what is negative is not known.
func deadTime(last, next *result.Record, conditions []metav1.Condition) *time.Duration {
	if last.Summary == nil || next.Summary == nil {
		return nil
	}
	ended, started := last.Summary.Identity.Ended, next.Summary.Identity.Started
	if ended.IsZero() || started.IsZero() || started.Before(ended) {
		return nil
	}
	admitted := apimeta.FindStatusCondition(conditions, v1alpha1.ConditionAdmitted)
	if admitted != nil && admitted.Status == metav1.ConditionTrue && admitted.LastTransitionTime.After(ended) {
		return nil
	}
	dead := started.Sub(ended)
	return &dead
}

// maxLogged bounds the message in a log line.
const maxLogged = 1024

// KeysAndValues of a transition for a structured log.
func (t *Transition) KeysAndValues() []any {
	list := []any{"run", t.Namespace + "/" + t.Name}
	if t.Trial > 0 {
		list = append(list, "trial", t.Trial, "attempt", t.Attempt)
	}
	list = append(list, "from", t.From, "to", t.To)
	if t.Reason != "" {
		list = append(list, "reason", t.Reason, "message", result.Truncate(t.Message, maxLogged))
	}
	return list
}

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
	states := map[string]int{}
	for _, state := range runStates {
		states[state] = 0
	}
	for i := range runs {
		states[StateOf(runs[i].Status.Conditions)]++
	}
	for state, n := range states {
		gauge(runsDesc, float64(n), state)
	}
	for _, q := range bounded(queuesOf(runs, s.Clock.Now())) {
		gauge(queueDesc, float64(q.length), q.lane)
		gauge(headDesc, q.age.Seconds(), q.lane)
	}
}

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
