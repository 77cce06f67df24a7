// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strconv"
	"time"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
)

// wanted is the number of the instance that the next attempt measures: a fresh one for each attempt, or one for all. One
// that has served an attempt and was restarted, replaced or removed since is never measured again.
func (s *situation) wanted() int {
	highest, served := 0, ""
	for _, r := range s.seen.Records {
		if r.Instance >= highest {
			highest, served = r.Instance, r.Place.DatabasePodUID
		}
	}
	if s.run.Spec.Trials.Database == v1alpha1.DatabaseFresh {
		return highest + 1
	}
	if highest == 0 {
		return 1
	}
	if i := s.seen.instance(highest); i != nil && i.Intact(served) {
		return highest
	}
	return highest + 1
}

// retired removes instances that are not wanted any more, and waits until nothing of them is left: two databases on a node
// disturb each other, and a volume that is going must not be taken for a new one. What a node that is cut off never gives
// back is not waited for: the next instance gets another node, or says that it cannot have this one.
func retired(s *situation) *Decision {
	wanted := s.wanted()
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

// provided provides the wanted instance and waits until it answers.
func provided(s *situation) *Decision {
	wanted := s.wanted()
	d := Decision{Action: Wait{}, Reason: v1alpha1.ReasonProvisioningDatabase}
	instance := s.seen.instance(wanted)
	if instance == nil || instance.Root() == nil {
		provide := ProvideDatabase{Instance: wanted}
		if s.run.Spec.Placement == v1alpha1.PlacementSameNode {
			provide.Node = s.seen.bound().DatabaseNode
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
	d.Message, d.After = state.Waiting, min(left, lookAgain)
	return &d
}

// lookAgain is when something that waits is looked at again although nothing was heard of it: the cluster's warnings, and the
// MariaDB operator's resource, are not watched.
const lookAgain = 5 * time.Second
