// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/database"
	"github.com/benchrun-dev/benchrun/internal/judge"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

// Observed is everything that a decision depends on.
type Observed struct {
	// Records of the run's attempts, in the order in which they were recorded.
	Records []*result.Record
	// Attempts that have a Job.
	Attempts []Attempt
	// Made is what the operator has made itself. Unclaimed are Jobs with the run's controller reference that are not among it.
	Made      v1alpha1.MadeObjects
	Unclaimed []Attempt
	// Orphaned says of a run that is being deleted that something of it may load a node, with or without its controller reference:
	// with --cascade=orphan, references go before the run.
	Orphaned bool
	// Lane of the run.
	Lane Lane
	// Lingering are Pods of loaders whose Job is gone already.
	Lingering []corev1.Pod
	// Instances of the database that have at least one object.
	Instances []Instance
	// DataCopies: there is a copy of prepared data of its own, which is not being deleted yet.
	DataCopies bool
	// TunedNodes are all nodes that are tuned at the moment, by this run or by others; none if the run does not ask for that.
	TunedNodes []TunedNode
	// Compared is what was made of the records of variants before, and Variables are those of their servers, as far as they are
	// known. Checked: the API server has accepted the run of every variant, without creating it.
	Compared  *judge.Compared
	Variables map[string]map[string]string
	Checked   bool
	// Missing says which ConfigMaps of a finished run are gone, or is empty.
	Missing string
	// Newest is the newest record, or its zero value.
	Newest v1alpha1.RecordReference
	// Results are the published results, or nil.
	Results *v1alpha1.ResultsReference
	// Unreadable: its records could not be read, because one was deleted or changed.
	Unreadable bool
	Predecessor
	// Images that the run uses: those that it has pinned, or the installation's.
	Images podutil.Images
	Blockers
}

// Predecessor is what is left of an earlier run of the same name.
type Predecessor struct {
	// Remains are the names of its objects.
	Remains []string
	// Orphan is one of them not yet being deleted, or nil. The garbage collector of Kubernetes should, and sometimes does not: a
	// deletion that happens while it starts to watch a kind anew, as after a change of a CustomResourceDefinition, escapes it.
	Orphan database.Object
}

// Blockers are what keeps a run from going on.
type Blockers struct {
	// ObserveFailed: what it has could not be read.
	ObserveFailed bool
	// RetryError is the error of the step that the operator has tried several times and tries again, or empty. Unwritten says that
	// this step writes records or results.
	RetryError string
	Unwritten  bool
	// MaxTurn is for how long the installation lets a run have its lane; 0 is without a bound.
	MaxTurn time.Duration
	// DefaultTTL is after how long a finished run is deleted that does not say so itself; 0 is never.
	DefaultTTL time.Duration
	// Refused is the object that the cluster refuses for now, or nil.
	Refused *Refusal
	// Terminal is a final answer of the cluster, which trying again does not change: a name is taken, or an object is not valid.
	Terminal *Failure
	// Strangers are the names of objects that are another owner's, or are kept from an earlier run of the same name.
	// Only a name that is needed is in the way.
	Strangers []string
}

// Attempt is a Job, its Pods and what they mean.
type Attempt struct {
	Trial, Number, Instance int
	// Instances that it measures, the first of which is Instance: in slices those of several variants.
	Instances []int
	Job       *batchv1.Job
	Pods      []corev1.Pod
	// Delivery is what its loader has written to its log, or nil as long as that is not known to be whole.
	Delivery *trial.Delivery
	// Verdict is set by Observed.Judge.
	Verdict trial.Verdict
	// Warning is the cluster's latest warning about a Pod that does not start, or empty.
	Warning string
}

// Judge sets the verdict of every attempt. It is called once, when everything was observed; the decision, the record and the
// look-up of the cluster's warnings read Attempt.Verdict.
func (o *Observed) Judge(run *v1alpha1.BenchmarkRun) {
	for i := range o.Attempts {
		a := &o.Attempts[i]
		a.Verdict = trial.Judge(a.Job, a.Pods, a.Delivery)
		var sides []side
		for _, number := range a.Instances {
			sides = append(sides, side{number, o.Instance(number), plan.VariantName(run, number)})
		}
		for _, side := range sides {
			a.Verdict = side.says(verdict(a, side.instance, run.Spec.Database.Provisioner))
			if a.Verdict.Stage == trial.StageEnded && a.Verdict.Outcome != result.OutcomeAccepted {
				break
			}
		}
		if a.Verdict.Outcome != result.OutcomeAccepted {
			continue
		}
		for _, side := range sides {
			if changed := o.changedImage(a, side); changed != "" {
				a.Verdict = side.says(a.Verdict.Because(result.CauseImageChanged, changed))
				break
			}
		}
		if len(sides) == 1 && a.Verdict.Outcome == result.OutcomeAccepted {
			a.Verdict = Throttled(run, a, a.Verdict.Summary, sides[0].number)
		}
	}
}

type side struct {
	number   int
	instance *Instance
	variant  string
}

var ofServer = []result.Cause{result.CauseDatabaseLost, result.CauseNodeNotReady, result.CauseImageChanged}

func (s *side) says(v trial.Verdict) trial.Verdict {
	if s.variant != "" && v.Outcome != result.OutcomeAccepted && v.Message != "" && slices.Contains(ofServer, v.Cause) {
		v.Message = "variant " + s.variant + ": " + v.Message
	}
	return v
}

// Throttled is the verdict about an accepted attempt, with what a loader has reported of an instance: invalid if a CPU limit held
// that back.
func Throttled(run *v1alpha1.BenchmarkRun, a *Attempt, summary *result.Summary, instance int) trial.Verdict {
	spec := &plan.Side(run, plan.VariantOf(run, instance), 1).Spec
	held := throttled(spec, summary)
	if held == "" {
		return a.Verdict
	}
	return a.Verdict.Because(result.CauseThrottled, ofVariant(run, instance)+held)
}

// changedImage says which image of an attempt is another than that of the run's first accepted attempt with the same variant, or
// is empty: a tag was moved meanwhile.
func (o *Observed) changedImage(a *Attempt, of side) string {
	record := o.FirstAccepted(of.variant)
	if record == nil {
		return ""
	}
	server, loader := "", podutil.ImageID(a.Verdict.Pod, trial.Container)
	if of.instance != nil {
		server = of.instance.Image()
	}
	first := record.Side(of.variant).Place
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	switch {
	case differ(server, first.DatabaseImage):
		return fmt.Sprintf("the server's image is %s, but the first attempt used %s", server, first.DatabaseImage)
	case differ(loader, first.LoaderImage):
		return fmt.Sprintf("the loader's image is %s, but the first attempt used %s", loader, first.LoaderImage)
	}
	return ""
}

// verdict about an attempt and one of its databases, which is nil if it has no objects. A lost database ends the attempt,
// whatever the loader reports and even if it still waits. A whole result counts nevertheless, unless the database's node did not
// answer for a part of the attempt.
func verdict(a *Attempt, db *Instance, provisioner v1alpha1.Provisioner) trial.Verdict {
	v := a.Verdict
	if v.Stage == trial.StageEnded && v.Outcome == result.OutcomeAccepted {
		if interrupted := db.Interrupted(a.Job.CreationTimestamp.Time); interrupted != "" {
			return v.Because(result.CauseNodeNotReady, interrupted)
		}
		return v
	}
	if db == nil && provisioner == v1alpha1.ProvisionerExternal {
		return v
	}
	if lost := db.Lost(); lost != "" {
		return v.Because(result.CauseDatabaseLost, lost)
	}
	return v
}

// Instance is what exists of a database instance.
type Instance = database.Instance

// Failure is why a run ends.
type Failure struct{ Reason, Message string }

func (o *Observed) recorded(trial, attempt int) bool {
	return slices.ContainsFunc(o.Records, func(r *result.Record) bool { return r.Trial == trial && r.Attempt == attempt })
}

// Instance with that number, or nil.
func (o *Observed) Instance(number int) *Instance {
	return podutil.Find(o.Instances, func(i *Instance) bool { return i.Number == number })
}

// boundPlace has the nodes of the first attempt that ran on any: later attempts are bound to them. For an external server, whose
// node is not known, Unknown counts as a node.
func (s *situation) boundPlace() result.Place {
	return s.placeOfFirst(func(*result.Record) bool { return true })
}

// boundLoaders are the nodes of the loaders of the next attempt: those of the first attempt with a loader like its own.
func (s *situation) boundLoaders() []string {
	place := s.placeOfFirst(func(r *result.Record) bool {
		return equality.Semantic.DeepEqual(s.loaderOf(&s.plan.Trials[r.Trial-1]), s.loaderOf(s.next))
	})
	return place.Loaders()
}

func (s *situation) loaderOf(t *plan.Trial) *v1alpha1.LoaderSpec {
	if len(t.Sides) != 1 {
		return nil
	}
	return s.run.Spec.Variants[t.Sides[0]].Loader
}

func (s *situation) placeOfFirst(like func(*result.Record) bool) result.Place {
	for _, r := range s.seen.Records {
		if r.Place.DatabaseNode != "" && r.Place.LoaderNode != "" && like(r) {
			return r.Place
		}
	}
	return result.Place{}
}
