// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/plan"
)

// wantedInstance is the number of the instance that the next attempt measures: a new one for each attempt, or one for all. An
// instance that was restarted, replaced or removed is not measured again, whether or not it was measured before. A run that
// shares its database goes on with the instance of the run before.
func (s *situation) wantedInstance() int {
	removed := int(ptr.Deref(s.run.Status.RemovedInstances, 0))
	before, _ := plan.SharedBy(s.run)
	last := analysis.LastServed(s.seen.Records, before)
	if last.Number > removed && s.run.Spec.Trials.Server != v1alpha1.ServerFresh {
		if i := s.seen.instance(last.Number); i != nil && i.Intact(last.PodUID) {
			return last.Number
		}
	}
	return max(last.Number, removed) + 1
}

// removal is the next step on the way to no instance, or nil.
func removal(instances []Instance) Action {
	for _, i := range instances {
		if i.Removable() {
			return RemoveDatabase{Instance: i.Number}
		}
	}
	return nil
}

// cleanUp is the next step of spec.cleanup, or nil. A database that stays loses its PodDisruptionBudget, which would hold up the
// drain of a node for nothing.
func cleanUp(instances []Instance, keep bool) Action {
	if !keep {
		return removal(instances)
	}
	for _, i := range instances {
		if i.Budget != nil && i.Budget.DeletionTimestamp == nil {
			return ReleaseNodes{Instance: i.Number}
		}
	}
	return nil
}

// retired removes instances that are no longer wanted, and waits until their objects are gone: two databases on a node disturb
// each other, and a volume that is being deleted must not be mistaken for a new one. It does not wait for what loads no node and
// stays because of others, by a finalizer or on a node that does not answer: the next instance has another name, and its own
// message says if that node is not available.
func retired(s *situation) *Decision {
	wanted := s.wantedInstance()
	for _, i := range s.seen.Instances {
		usable := i.Number == wanted && !i.Foreign && (!i.Going() || i.PartlyMade() || s.refusedIn(&i))
		if usable || i.Abandoned(s.now) {
			continue
		}
		d := Decision{
			Action: Wait{}, Reason: v1alpha1.ReasonProvisioningDatabase, After: time.Second,
			Message: "database instance " + strconv.Itoa(i.Number) + " is being removed",
		}
		if i.Removable() {
			d.Action = RemoveDatabase{Instance: i.Number}
		}
		return &d
	}
	return nil
}

// refusedIn says whether the cluster refuses an object of an instance that has no server yet. What is there already is kept for
// it: a claim that is as new as it is empty.
func (s *situation) refusedIn(i *Instance) bool {
	return int(ptr.Deref(s.run.Status.Refusal.Instance, 0)) == i.Number && i.Root() == nil && i.Set == nil && i.Pod == nil
}

// provided creates the wanted instance and waits until its server answers.
func provided(s *situation) *Decision {
	wanted := s.wantedInstance()
	d := Decision{Action: Wait{}, Reason: v1alpha1.ReasonProvisioningDatabase}
	instance := s.seen.instance(wanted)
	if instance == nil || instance.Root() == nil {
		provide := ProvideDatabase{Instance: wanted}
		if s.run.Spec.Placement == v1alpha1.PlacementSameNode {
			provide.Node = s.boundPlace().DatabaseNode
		}
		d.Action, d.Message = provide, "the database is being created"
		return &d
	}
	if text := classNotEffective(s.run, instance); text != "" {
		return fail(Failure{Reason: v1alpha1.ReasonBlockIOClassNotEffective, Message: text})
	}
	state := instance.State()
	left := s.remaining(instance.Root().GetCreationTimestamp().Time)
	switch {
	case state.Ready:
		return nil
	case state.Refused != "":
		return fail(Failure{Reason: v1alpha1.ReasonServerRefusedConfiguration, Message: "the server reported: " + state.Refused})
	case state.Broken != "":
		return fail(Failure{Reason: v1alpha1.ReasonDatabaseNotStarted, Message: state.Broken})
	case left == 0:
		return fail(Failure{
			Reason:  v1alpha1.ReasonDatabaseNotStarted,
			Message: s.deadlineMessage("the database was not up", state.Waiting),
		})
	}
	d.waitsFor(state.Held, state.NoRoom)
	d.Message, d.After = state.Waiting, min(left, pollInterval)
	return &d
}

// pollInterval is the time between two reconciles while something waits: the cluster's warnings and the resource of the MariaDB
// operator are not watched.
const pollInterval = 5 * time.Second
