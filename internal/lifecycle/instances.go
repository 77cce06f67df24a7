// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// wantedInstance is the number of the instance that the next attempt measures: a new one for each attempt, or one for all. An
// instance that was restarted, replaced or removed is not measured again, whether or not it was measured before.
func (s *situation) wantedInstance() int {
	removed := int(ptr.Deref(s.run.Status.RemovedInstances, 0))
	measured, served := 0, ""
	for _, r := range s.seen.Records {
		if r.Instance >= measured {
			measured, served = r.Instance, r.Place.DatabasePodUID
		}
	}
	if measured > removed && s.run.Spec.Trials.Database != v1alpha1.DatabaseFresh {
		if i := s.seen.instance(measured); i != nil && i.Intact(served) {
			return measured
		}
	}
	return max(measured, removed) + 1
}

// retired removes instances that are no longer wanted, and waits until their objects are gone: two databases on a node disturb
// each other, and a volume that is being deleted must not be mistaken for a new one. It does not wait for a Pod on a node that
// does not answer: the next instance gets another node, or its own message says that this node is not available.
func retired(s *situation) *Decision {
	wanted := s.wantedInstance()
	for _, i := range s.seen.Instances {
		if i.Number == wanted && (!i.Going() || i.PartlyMade()) || i.CutOff(s.now) {
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
	state := instance.State()
	left := s.remaining(instance.Root().GetCreationTimestamp().Time)
	switch {
	case state.Ready:
		return nil
	case state.Refused != "":
		return fail(Failure{Reason: v1alpha1.ReasonServerRefusedConfiguration, Message: "the server says: " + state.Refused})
	case left == 0:
		return fail(Failure{
			Reason:  v1alpha1.ReasonDatabaseNotStarted,
			Message: s.deadlineMessage("the database was not up", state.Waiting),
		})
	}
	if state.Held {
		d.Reason = v1alpha1.ReasonWaitingForKueue
	}
	d.Message, d.After = state.Waiting, min(left, pollInterval)
	return &d
}

// pollInterval is the time between two reconciles while something waits: the cluster's warnings and the resource of the MariaDB
// operator are not watched.
const pollInterval = 5 * time.Second
