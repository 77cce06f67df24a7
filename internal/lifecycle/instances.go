// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/analysis"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
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

// ImagesOf are the images that a run or comparison uses: those that it has pinned or, before that, the installation's.
func ImagesOf(pinned v1alpha1.ImagesStatus, installation podutil.Images) podutil.Images {
	if pinned.Loader == "" {
		return installation
	}
	images := podutil.Images{
		Loader: string(pinned.Loader), Sysbench: string(pinned.Sysbench), Registry: string(pinned.Registry),
		Databases: map[string]string{}, PullSecrets: installation.PullSecrets,
	}
	for name, image := range pinned.Databases {
		images.Databases[name] = string(image)
	}
	return images
}

// LoaderRefused is why a run whose workload needs the loader with sysbench cannot have it, or nil.
func LoaderRefused(run *v1alpha1.BenchmarkRun, images podutil.Images) *Failure {
	if run.Spec.Workload.Type != v1alpha1.WorkloadSysbench || images.HasSysbench() {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonInvalidSpecification, Message: "this installation has no loader with sysbench: use " +
		"another workload, or have an administrator name its image (loader.sysbenchImage in the Helm chart, the operator's flag " +
		"--sysbench-image)"}
}

// pinImages are the full names of images.
func pinImages(images podutil.Images) v1alpha1.ImagesStatus {
	name := func(image string) v1alpha1.ImageName { return v1alpha1.ImageName(cut(images.Name(image), maxImage)) }
	pinned := v1alpha1.ImagesStatus{
		Loader: name(images.Loader), Sysbench: name(images.Sysbench), Registry: v1alpha1.ImageName(cut(images.Registry, maxImage)),
		Databases: map[string]v1alpha1.ImageName{},
	}
	for engine, image := range database.Images(images) {
		pinned.Databases[engine] = v1alpha1.ImageName(cut(image, maxImage))
	}
	return pinned
}

// maxImage bounds the name of an image.
const maxImage = 512

// images that the run has pinned: none before it is admitted. From its first accepted attempt on they are named by the digests
// that it ran, where nodes can pull these: a tag may be moved.
func (s *situation) images(d Decision) v1alpha1.ImagesStatus {
	before := s.run.Status.Images
	if s.seen.Images.Loader == "" || before.Loader == "" && d.Pauses() {
		return before
	}
	pinned := pinImages(s.seen.Images)
	first := s.seen.firstAccepted()
	if first == nil {
		return pinned
	}
	ran := func(name *v1alpha1.ImageName, image string) {
		*name = v1alpha1.ImageName(cut(podutil.ByDigest(string(*name), image), maxImage))
	}
	ran(&pinned.Loader, first.Place.LoaderImage)
	ran(&pinned.Sysbench, first.Place.LoaderImage)
	if db := &s.run.Spec.Database; db.Image == "" {
		name := pinned.Databases[string(db.Engine)]
		ran(&name, first.Place.DatabaseImage)
		pinned.Databases[string(db.Engine)] = name
	}
	return pinned
}

// firstAccepted is the record of the first attempt that counts, or nil.
func (o *Observed) firstAccepted() *result.Record {
	for _, r := range o.Records {
		if r.Outcome == result.OutcomeAccepted {
			return r
		}
	}
	return nil
}

// images that the runs of the comparison begin with: those that the comparison began with, by the digests that its runs have
// found.
func (s *comparisonSituation) images(d Decision) v1alpha1.ImagesStatus {
	before := s.comparison.Status.Images
	if s.seen.Images.Loader == "" || before.Loader == "" && d.Pauses() {
		return before
	}
	pinned := pinImages(s.seen.Images)
	for i := range s.seen.Members {
		m := &s.seen.Members[i]
		if !m.Is(v1alpha1.ConditionComplete) || m.Run.Status.Images.Loader == "" {
			continue
		}
		found := &m.Run.Status.Images
		pinned.Loader, pinned.Sysbench = found.Loader, found.Sysbench
		maps.Copy(pinned.Databases, map[string]v1alpha1.ImageName{
			string(m.Run.Spec.Database.Engine): found.Databases[string(m.Run.Spec.Database.Engine)],
		})
	}
	return pinned
}

// MariaDBOperatorRefused is why a run that wants its database from the MariaDB operator cannot have it, or nil. It is allowed
// unless the administrator has taken the manager's rights on that operator's kind away.
func MariaDBOperatorRefused(run *v1alpha1.BenchmarkRun, allowed bool) *Failure {
	if run.Spec.Database.Provisioner != v1alpha1.ProvisionerMariaDBOperator || allowed {
		return nil
	}
	return &Failure{Reason: v1alpha1.ReasonMariaDBOperatorMissing, Message: "this installation does not use the MariaDB operator: " +
		"use provisioner StatefulSet, or have an administrator set mariadbOperator.enabled: true in the Helm chart (the operator's " +
		"flag --mariadb-operator)"}
}
