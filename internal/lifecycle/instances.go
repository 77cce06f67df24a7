// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
)

// wantedInstance is the number of the instance that the next attempt measures, without variants: a new one for each attempt, or
// one for all. An instance that was restarted, replaced or removed is not measured again, whether or not it was measured before.
func (s *situation) wantedInstance() int {
	removed := int(ptr.Deref(s.run.Status.RemovedInstances, 0))
	last := judge.LastServed(s.seen.Records)
	if last.Number > removed && s.run.Spec.Trials.Server != v1alpha1.ServerPerTrial {
		if i := s.seen.Instance(last.Number); i != nil && i.Intact(last.PodUID) {
			return last.Number
		}
	}
	return max(last.Number, removed) + 1
}

// wantedInstances are all that are to be up for the next attempt: those of the set that the round before has not used, or of the
// one that this round goes on with, unless the last attempt made the data that new ones begin with.
func (s *situation) wantedInstances() []int {
	if len(s.run.Spec.Variants) == 0 {
		return []int{s.wantedInstance()}
	}
	last, copied := int(ptr.Deref(s.run.Status.RemovedInstances, 0)), false
	for _, r := range s.seen.Records {
		last, copied = max(last, r.LastInstance()), r.Cause == result.CauseDataCopied
	}
	set := plan.SetOf(s.run, last)
	if copied || !s.goesOn() {
		set++
	}
	var wanted []int
	for i := range s.run.Spec.Variants {
		up := s.plan.Together() && (s.next == nil || s.compared.Needs(i, s.next.Round))
		if up || s.next != nil && slices.Contains(s.next.Sides, i) {
			wanted = append(wanted, plan.InstanceIn(s.run, set, i))
		}
	}
	if wanted == nil { // nothing is left to measure
		wanted = []int{plan.InstanceIn(s.run, set, 0)}
	}
	return wanted
}

// goesOn says whether the next trial of a run with variants is measured on the servers of the last one: in the same round, and
// none of them was removed, restarted or replaced.
func (s *situation) goesOn() bool {
	if len(s.seen.Records) == 0 || s.next == nil || s.run.Spec.Trials.Server == v1alpha1.ServerPerTrial {
		return false
	}
	last := s.seen.Records[len(s.seen.Records)-1]
	t := s.trial(last.Trial)
	if t == nil || t.Round != s.next.Round || last.LastInstance() <= int(ptr.Deref(s.run.Status.RemovedInstances, 0)) {
		return false
	}
	if !s.plan.Together() && !slices.Equal(t.Sides, s.next.Sides) {
		return false
	}
	set, served := plan.SetOf(s.run, last.LastInstance()), map[int]string{}
	for _, r := range s.seen.Records {
		for _, side := range r.Sides {
			if plan.SetOf(s.run, side.Instance) == set {
				served[side.Instance] = side.Place.DatabasePodUID
			}
		}
	}
	for number, pod := range served {
		if i := s.seen.Instance(number); i == nil || !i.Intact(pod) {
			return false
		}
	}
	return true
}

func (s *situation) trial(number int) *plan.Trial {
	if number < 1 || number > len(s.plan.Trials) {
		return nil
	}
	return &s.plan.Trials[number-1]
}

// retired removes instances that are no longer wanted. The next ones are made meanwhile, unless they have the same number.
func retired(s *situation) *Decision {
	return s.leaving(func(i *Instance) bool { return i.Removable() || slices.Contains(s.wantedInstances(), i.Number) })
}

// vacated waits until their objects are gone: two databases on a node disturb each other. It does not wait for what loads no node
// and stays because of others, by a finalizer or on a node that does not answer: the next instance has another name, and its own
// message says if that node is not available.
func vacated(s *situation) *Decision { return s.leaving(func(*Instance) bool { return true }) }

// leaving removes such an instance that is no longer wanted, or waits for it.
func (s *situation) leaving(such func(*Instance) bool) *Decision {
	wanted := s.wantedInstances()
	for _, i := range s.seen.Instances {
		usable := slices.Contains(wanted, i.Number) && !i.Foreign && (!i.Going() || i.PartlyMade() || s.refusedIn(&i))
		if usable || i.Abandoned(s.now) || !such(&i) {
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

func provided(s *situation) *Decision {
	wanted := s.wantedInstances()
	for _, number := range wanted {
		if instance := s.seen.Instance(number); instance == nil || instance.Root() == nil {
			return s.provide(number, wanted)
		}
	}
	for _, number := range wanted {
		if d := s.awaited(s.seen.Instance(number)); d != nil {
			return d
		}
	}
	return nil
}

func (s *situation) provide(number int, wanted []int) *Decision {
	provide := ProvideDatabase{Instance: number, Beside: len(wanted) - 1, Guarded: number != wanted[0]}
	d := &Decision{Reason: v1alpha1.ReasonProvisioningDatabase, Message: "the database is being created"}
	if len(wanted) > 1 {
		d.Message = "the databases are being created"
	}
	if s.run.Spec.Placement == v1alpha1.PlacementSameNode {
		provide.Node = s.boundPlace().DatabaseNode
		first := s.seen.Instance(wanted[0])
		if provide.Node == "" && number != wanted[0] && !external(s.run) {
			if first.Pod == nil || first.Pod.Spec.NodeName == "" {
				return s.awaited(first)
			}
			provide.Node = first.Pod.Spec.NodeName
		}
	}
	d.Action = provide
	return d
}

func external(run *v1alpha1.BenchmarkRun) bool {
	return run.Spec.Database.Provisioner == v1alpha1.ProvisionerExternal
}

// awaited waits until the server of an instance answers, or says why it does not; nil if it does.
func (s *situation) awaited(instance *Instance) *Decision {
	whose := ofVariant(s.run, instance.Number)
	if text := classNotEffective(s.side(instance.Number), instance); text != "" {
		return fail(v1alpha1.ReasonBlockIOClassNotEffective, whose+text)
	}
	state := instance.State()
	left := s.remaining(instance.Root().GetCreationTimestamp().Time)
	switch {
	case state.Ready:
		return nil
	case state.Refused != "":
		return fail(v1alpha1.ReasonServerConfigurationRejected, whose+"the server reported: "+state.Refused)
	case state.Broken != "":
		return fail(v1alpha1.ReasonDatabaseNotStarted, whose+state.Broken)
	case left == 0:
		return fail(v1alpha1.ReasonDatabaseNotStarted, whose+s.deadlineMessage("the database was not up", state.Waiting))
	}
	d := &Decision{Action: Wait{}, Reason: v1alpha1.ReasonProvisioningDatabase, Message: whose + state.Waiting}
	d.After = min(left, pollInterval)
	d.waitsFor(state.Held, state.NoRoom)
	return d
}

func (s *situation) side(instance int) *v1alpha1.BenchmarkRun {
	return plan.Side(s.run, plan.VariantOf(s.run, instance), 1)
}

// ofVariant begins a message about an instance; empty without variants.
func ofVariant(run *v1alpha1.BenchmarkRun, instance int) string {
	if name := plan.VariantName(run, instance); name != "" {
		return "variant " + name + ": "
	}
	return ""
}

// pollInterval is the time between two reconciles while something waits: the cluster's warnings and the resource of the MariaDB
// operator are not watched.
const pollInterval = 5 * time.Second

// ImagesOf are the images that a run uses: those that it has pinned or, before that, the installation's.
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

// images that the run has pinned: none before it is admitted. From its first accepted attempt on they are named by the digests
// that it ran, where nodes can pull these: a tag may be moved.
func (s *situation) images(d Decision) v1alpha1.ImagesStatus {
	before, images := s.run.Status.Images, s.seen.Images
	if images.Loader == "" || before.Loader == "" && d.Pauses() {
		return before
	}
	name := func(image string) v1alpha1.ImageName { return v1alpha1.ImageName(cut(image, maxImage)) }
	pinned := v1alpha1.ImagesStatus{
		Loader: name(images.Name(images.Loader)), Sysbench: name(images.Name(images.Sysbench)), Registry: name(images.Registry),
		Databases: map[string]v1alpha1.ImageName{},
	}
	for engine, image := range database.Images(images) {
		pinned.Databases[engine] = name(image)
	}
	ran := func(pinned v1alpha1.ImageName, image string) v1alpha1.ImageName {
		return name(podutil.ByDigest(string(pinned), image))
	}
	for variant := range plan.Sides(s.run) {
		one, label := plan.Side(s.run, variant, 1), plan.VariantName(s.run, variant+1)
		first := s.seen.FirstAccepted(label)
		if first == nil {
			continue
		}
		place := first.Side(label).Place
		pinned.Loader, pinned.Sysbench = ran(pinned.Loader, place.LoaderImage), ran(pinned.Sysbench, place.LoaderImage)
		if e, err := plan.EngineOf(&one.Spec.Database); err == nil && one.Spec.Database.Image == "" {
			pinned.Databases[e.Name] = ran(pinned.Databases[e.Name], place.DatabaseImage)
		}
	}
	return pinned
}

// FirstAccepted is the record of the first attempt that counts, of a variant if that is named; or nil.
func (o *Observed) FirstAccepted(variant string) *result.Record {
	for _, r := range o.Records {
		if r.Outcome == result.OutcomeAccepted && r.Measures(variant) {
			return r
		}
	}
	return nil
}
