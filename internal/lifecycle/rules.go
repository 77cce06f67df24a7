// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle decides what a run does next, and computes its whole status. It has no client: it takes the specification,
// the plan, the observed objects and the time, and returns one action.
//
// Rules are asked one after another (rules.go), in the order of next.go; the first that applies decides:
//
//	deleted?      -> nothing                     finished?   -> publish, clean up, leave the lane, delete after its time to live
//	retained?     -> Complete
//	obstructed?   -> Failed                      suspended?  -> remove Job and database, leave the lane
//	not its turn? -> wait, or take the lane      predecessor -> wait until its objects are gone
//	recorded?     -> remove the Job              ended?      -> record the attempt
//	failed, or invalid too often? -> Failed      running?    -> wait
//	all measured? -> publish, then Complete      old database? -> remove it
//	not checked?  -> check what variants ask for no room?      -> measure one variant at a time
//	not tuned?    -> tune its node               no database?  -> provide one, wait for it
//	otherwise     -> start the next attempt
//
// What the records say, package judge knows: this package writes it into the status, and asks it whether variants need more
// rounds.
//
// The records of its attempts are the only memory of what a run has done. The status is computed from them each time, so that an
// operator that is killed between any two writes continues where it was.
//
// A verdict about an attempt is made once, when it was observed (Observed.Judge). Conditions are set in one place
// (conditions.go).
package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
)

func (s *situation) is(condition string) bool {
	return apimeta.IsStatusConditionTrue(s.run.Status.Conditions, condition)
}

// rule decides, or returns nil: then the next one is asked.
type rule func(*situation) *Decision

func (s *situation) decide() Decision {
	if s.seen.ObserveFailed {
		switch {
		case s.run.DeletionTimestamp != nil:
			return s.beingDeleted()
		case s.is(v1alpha1.ConditionFailed), s.is(v1alpha1.ConditionFinished):
			return Decision{Action: Wait{}}
		}
		return bound(s, Decision{Action: Wait{}})
	}
	if d := first(s, ends); d != nil {
		return *d
	}
	return bound(s, *first(s, steps)) // the last of them always decides
}

func first(s *situation, rules []rule) *Decision {
	for _, r := range rules {
		if d := r(s); d != nil {
			return d
		}
	}
	return nil
}

// finished does what is left after the end: it removes what is left, gives the lane to the next, and deletes the run when its
// time to live is over.
func finished(s *situation) *Decision {
	if !s.is(v1alpha1.ConditionFinished) {
		return nil
	}
	d := Decision{Action: Wait{}}
	if a := s.cleanUp(); a != nil {
		d.Action = a
		return &d
	}
	if leave(s, &d); d.Action == (Wait{}) {
		s.expire(&d)
	}
	return &d
}

func obstructed(s *situation) *Decision {
	if t := s.seen.Terminal; t != nil {
		return fail(t.Reason, t.Message)
	}
	i := slices.IndexFunc(s.seen.Strangers, s.needs)
	if i < 0 {
		return nil
	}
	return fail(v1alpha1.ReasonNameTaken, s.seen.Strangers[i]+" does not belong to this run, or was kept from an earlier run of "+
		"this name: delete it, or use another name for the run")
}

func (s *situation) needs(name string) bool {
	if name == plan.ResultsName(s.run) && s.seen.Results == nil {
		return true
	}
	if s.next == nil {
		return false
	}
	return name == plan.AttemptName(s.run, s.next.Number, s.attempt) || slices.ContainsFunc(s.wantedInstances(), func(n int) bool {
		return ofInstance(name, plan.InstanceName(s.run, n))
	})
}

func ofInstance(name, instance string) bool {
	for _, prefix := range []string{"data-", "storage-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return name == instance || strings.HasPrefix(name, instance+"-")
}

// Limits are what an administrator lets the runs of an installation ask for.
type Limits struct {
	// HostTuning has the namespaces whose runs may have the kernel settings of their database's node changed.
	HostTuning []string
	// MariaDBOperator: runs may have their database from it. Otherwise the manager has no rights on its kind.
	MariaDBOperator bool
	// Images of the loader.
	Images podutil.Images
	// Lanes are those that may be asked for; none is all. A user who names a lane of his own does not wait, and measures beside
	// others, who are disturbed.
	Lanes []string
	// MaxTurn is for how long a run may have its lane; 0 is without a bound.
	MaxTurn time.Duration
	// DefaultTTL is after how long a finished run is deleted that sets no spec.ttlSecondsAfterFinished; 0 is never.
	DefaultTTL time.Duration
}

// Refused is why a run cannot have what it, or one of its variants, asks for, or nil. One that has begun keeps its lane, and goes
// on to the end of its turn.
func (l *Limits) Refused(run *v1alpha1.BenchmarkRun) *Failure {
	for variant := range plan.Sides(run) {
		switch spec := &plan.Side(run, variant, 1).Spec; {
		case spec.Database.HostTuning != nil && !slices.Contains(l.HostTuning, run.Namespace):
			return &Failure{v1alpha1.ReasonHostTuningNotAllowed, "database.hostTuning changes kernel settings of a node, and this " +
				"installation allows that to no run of this namespace: leave it out, or have an administrator add the namespace to " +
				"hostTuning.namespaces in the Helm chart (the operator's flag --host-tuning-namespaces)"}
		case spec.Database.Provisioner == v1alpha1.ProvisionerMariaDBOperator && !l.MariaDBOperator:
			return &Failure{v1alpha1.ReasonMariaDBOperatorMissing, "this installation does not use the MariaDB operator: use " +
				"provisioner StatefulSet, or have an administrator set mariadbOperator.enabled: true in the Helm chart (the operator's " +
				"flag --mariadb-operator)"}
		case spec.Workload.Type == v1alpha1.WorkloadSysbench && !l.Images.HasSysbench():
			return Invalid(errors.New("this installation has no loader with sysbench: use another workload, or have an administrator " +
				"name its image (loader.sysbenchImage in the Helm chart, the operator's flag --sysbench-image)"))
		}
	}
	requested, lane := ptr.Deref(run.Spec.DeadlineSeconds, 0), run.Spec.Lane
	switch {
	case run.Status.StartTime != nil:
	case l.MaxTurn > 0 && time.Duration(requested)*time.Second > l.MaxTurn:
		return Invalid(fmt.Errorf("spec.deadlineSeconds is %d but must be at most %d: this installation limits how long a run may "+
			"hold its lane (--max-turn)", requested, int64(l.MaxTurn/time.Second)))
	case len(l.Lanes) > 0 && !slices.Contains(l.Lanes, lane):
		return Invalid(fmt.Errorf("spec.lane is %s, but the lanes of this installation are: %s; use one of them, or ask an "+
			"administrator for another (--lanes)", lane, strings.Join(l.Lanes, ", ")))
	}
	return nil
}

func predecessor(s *situation) *Decision {
	if len(s.seen.Remains) == 0 {
		return nil
	}
	d := Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonWaitingForPredecessor, After: time.Second,
		Message: "objects of an earlier run of this name are still being deleted: " + strings.Join(s.seen.Remains, ", "),
	}
	if s.seen.Orphan != nil {
		d.Action = RemoveOrphan{Object: s.seen.Orphan}
	}
	return &d
}

// leave releases the lane of a run that takes no further step, as soon as nothing of it disturbs the next one.
func leave(s *situation, d *Decision) {
	switch {
	case !s.holds():
	case s.disturbs():
		d.After = time.Second // a server that a MariaDB resource stands for, and a node that does not answer, are not watched
	default:
		d.Action = ReleaseLane{Holder: HolderOf(s.run)}
	}
}

const (
	// firstRefused and lastRefused are the shortest and the longest time after which an object that was refused is created again:
	// a quota is recounted within a second, and an administrator takes minutes.
	firstRefused, lastRefused = time.Second, 30 * time.Second
	// refusedShare of the time for which an object has been refused passes before the next try.
	refusedShare = 4
	// maxRefused bounds the name of the object in the status.
	maxRefused = 512
)

// Refusal is the answer of an API server that does not let an object in, and may let it in later: a quota is full, a permission
// is missing, or a policy or a webhook denies it.
type Refusal struct {
	// Object is its kind and its name.
	Object string
	// Message is the API server's.
	Message string
	// Instance is the number of the database instance that the object is a part of, or 0.
	Instance int
}

// since is when the object was refused first, according to the status: an operator that has just started goes on counting.
func (r *Refusal) since(before v1alpha1.RefusalStatus, now time.Time) time.Time {
	if before.Object != r.object() || before.StartTime == nil {
		return now
	}
	return before.StartTime.Time
}

func (r *Refusal) object() string { return cut(r.Object, maxRefused) }

// decide to wait until the object is let in or, from the start deadline on, to fail.
func (r *Refusal) decide(before v1alpha1.RefusalStatus, startDeadlineSeconds int32, now time.Time) Decision {
	refused := now.Sub(r.since(before, now))
	left := time.Duration(startDeadlineSeconds)*time.Second - refused
	message := fmt.Sprintf("the cluster refuses %s: %s", r.Object, r.Message)
	if left <= 0 {
		return *fail(v1alpha1.ReasonRejected, fmt.Sprintf(
			"%s (refused throughout trials.startDeadlineSeconds, %d)", message, startDeadlineSeconds))
	}
	return Decision{
		Action: Wait{}, Reason: v1alpha1.ReasonRefused, Message: message,
		After: min(left, lastRefused, max(firstRefused, refused/refusedShare)),
	}
}

// refusalStatus is what the status keeps of a refusal. A step that failed for another reason has not asked again.
func (h *Blockers) refusalStatus(before v1alpha1.RefusalStatus, now time.Time) v1alpha1.RefusalStatus {
	switch {
	case h.Refused != nil:
		status := v1alpha1.RefusalStatus{
			Object: h.Refused.object(), StartTime: ptr.To(metav1.NewTime(h.Refused.since(before, now).Truncate(time.Second))),
		}
		if h.Refused.Instance > 0 {
			status.Instance = count(h.Refused.Instance)
		}
		return status
	case h.ObserveFailed, h.RetryError != "":
		return before
	}
	return v1alpha1.RefusalStatus{}
}
