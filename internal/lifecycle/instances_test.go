// Copyright The Benchrun Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/benchrun-dev/benchrun/api/v1alpha1"
	"github.com/benchrun-dev/benchrun/internal/finding"
	"github.com/benchrun-dev/benchrun/internal/plan"
	"github.com/benchrun-dev/benchrun/internal/podutil"
	"github.com/benchrun-dev/benchrun/internal/result"
	"github.com/benchrun-dev/benchrun/internal/testutil"
	"github.com/benchrun-dev/benchrun/internal/testutil/must"
	"github.com/benchrun-dev/benchrun/internal/trial"
)

func TestWantedInstance(t *testing.T) {
	served := func(instances ...int) (list []*result.Record) {
		for i, n := range instances {
			r := testutil.Record(i+1, 1, nil, 1000)
			r.Instance = n
			list = append(list, r)
		}
		return list
	}
	replaced := served(1, 1)
	replaced[1].Place.DatabasePodUID = "earlier"
	unknown := served(1)
	unknown[0].Place.DatabasePodUID = ""
	one := func(changes ...func(*Instance)) []Instance { return []Instance{instanceOf(1, "db-pod", changes...)} }
	podGoing := func(i *Instance) { i.Pod.DeletionTimestamp = i.Set.CreationTimestamp.DeepCopy() }
	cases := map[string]struct {
		lifetime  v1alpha1.ServerLifetime
		records   []*result.Record
		instances []Instance
		want      int
	}{
		"reused, the first":                       {v1alpha1.ServerReused, nil, nil, 1},
		"reused, the first is there":              {v1alpha1.ServerReused, nil, one(), 1},
		"reused, the first was restarted, unused": {v1alpha1.ServerReused, nil, one(restarted), 1},
		"reused, intact":                          {v1alpha1.ServerReused, served(1, 1), one(), 1},
		"reused, a later one":                     {v1alpha1.ServerReused, served(1, 3), []Instance{instanceOf(3, "db-pod")}, 3},
		"reused, restarted":                       {v1alpha1.ServerReused, served(1), one(restarted), 2},
		"reused, not ready":                       {v1alpha1.ServerReused, served(1), one(starting), 2},
		"reused, Pod was replaced":                {v1alpha1.ServerReused, served(1), []Instance{instanceOf(1, "another")}, 2},
		"reused, Pod was replaced in between":     {v1alpha1.ServerReused, replaced, one(), 2},
		"reused, Pod is not known":                {v1alpha1.ServerReused, unknown, one(), 2},
		"reused, Pod is going":                    {v1alpha1.ServerReused, served(1), one(podGoing), 2},
		"reused, Pod is gone":                     {v1alpha1.ServerReused, served(1), one(withoutPod), 2},
		"reused, being removed":                   {v1alpha1.ServerReused, served(1), one(removed), 2},
		"reused, StatefulSet is gone":             {v1alpha1.ServerReused, served(1), one(setGone), 2},
		"reused, gone":                            {v1alpha1.ServerReused, served(1, 2), nil, 3},
		"fresh, the first":                        {v1alpha1.ServerPerTrial, nil, one(), 1},
		"fresh, after the first":                  {v1alpha1.ServerPerTrial, served(1), one(), 2},
		"fresh, after the highest":                {v1alpha1.ServerPerTrial, served(4, 2), nil, 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := oneAxis(1, 9)
			run.Spec.Trials.Server = tc.lifetime
			s := newSituation(run, planOf(t, run), &Observed{Records: tc.records, Instances: tc.instances}, now)
			must.Same(t, "instance", tc.want, s.wantedInstance())
		})
	}
}

func provisioning(a Action, message string) Decision {
	return Decision{Action: a, Reason: v1alpha1.ReasonProvisioningDatabase, Message: message}
}

func TestRetiredInstances(t *testing.T) {
	going := func(a Action) Decision {
		return after(provisioning(a, "database instance 1 is being removed"), time.Second)
	}
	onlyClaim, onlyPod := Instance{Number: 1, Claims: []*corev1.PersistentVolumeClaim{{}}}, Instance{Number: 1, Pod: &corev1.Pod{}}
	podAndService := Instance{Number: 1, Pod: &corev1.Pod{}, Others: true}
	created := provisioning(ProvideDatabase{Instance: 2, Node: "worker"}, "the database is being created")
	checkDecisions(t, map[string]decision{
		"restarted":               {seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod", restarted)}}, want: going(RemoveDatabase{1})},
		"being removed":           {seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod", removed)}}, want: created},
		"its Pod is left":         {seen: Observed{Records: records(1), Instances: []Instance{onlyPod}}, want: created},
		"its volume is left":      {seen: Observed{Records: records(1), Instances: []Instance{onlyClaim}}, want: created},
		"its Pod and Service are": {seen: Observed{Records: records(1), Instances: []Instance{podAndService}}, want: going(RemoveDatabase{1})},
		"its Service is left":     {seen: Observed{Records: records(1), Instances: []Instance{{Number: 1, Others: true}}}, want: going(RemoveDatabase{1})},
		"cut off": {
			seen: Observed{Records: records(1), Instances: []Instance{{Number: 1, Claims: []*corev1.PersistentVolumeClaim{{}}, Pod: cutOff(31 * time.Second)}}}, want: created,
		},
		"perhaps cut off": {
			seen: Observed{Records: records(1), Instances: []Instance{{Number: 1, Claims: []*corev1.PersistentVolumeClaim{{}}, Pod: cutOff(29 * time.Second)}}},
			want: created,
		},
		"perhaps cut off, and the new one is there": {
			seen: Observed{Records: records(1), Instances: []Instance{
				{Number: 1, Claims: []*corev1.PersistentVolumeClaim{{}}, Pod: cutOff(29 * time.Second)}, instanceOf(2, "new"),
			}},
			want: going(Wait{}),
		},
		"nothing is left":            {seen: Observed{Records: records(1)}, want: created},
		"the new one is there, too":  {seen: Observed{Records: records(1), Instances: []Instance{onlyClaim, instanceOf(2, "new")}}, want: going(Wait{})},
		"wanted, and being removed":  {seen: Observed{Instances: []Instance{instanceOf(1, "u", removed)}}, want: going(Wait{})},
		"wanted, its volume is left": {seen: Observed{Instances: []Instance{onlyClaim}}, want: going(Wait{})},
		"wanted, made in part": {
			seen: Observed{Instances: []Instance{{Number: 1, Others: true}}},
			want: provisioning(ProvideDatabase{Instance: 1}, "the database is being created"),
		},
		"fresh": {
			run:  func(r *v1alpha1.BenchmarkRun) { r.Spec.Trials.Server = v1alpha1.ServerPerTrial },
			seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod")}}, want: going(RemoveDatabase{1}),
		},
	})
}

// cutOff is a Pod that should have ended so long ago.
func cutOff(ago time.Duration) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.NewTime(now.Add(-ago)))}}
}

func TestProvidedInstance(t *testing.T) {
	anywhere := func(r *v1alpha1.BenchmarkRun) { r.Spec.Placement = v1alpha1.PlacementAny }
	late := func(i *Instance) { i.Set.CreationTimestamp = ago(300 * time.Second) }
	refused := func(i *Instance) { testutil.RefusedDatabasePod(i.Pod, "[ERROR] unknown variable 'x'\n") }
	unplaced := records(1)
	unplaced[0].Place.LoaderNode = ""
	startOf := func(number, instance int, node string) Decision {
		message := trialOne
		if number == 2 {
			message = trialTwo
		}
		var nodes []string
		if node != "" {
			nodes = []string{node}
		}
		return measuring(StartAttempt{trial.Attempt{
			Trial: plan.Trial{Number: number, Round: number}, Point: plan.Point{Parameters: parameters}, Number: 1, Instance: instance, Nodes: nodes,
			Address: testutil.DatabaseAddress,
		}}, message)
	}
	const creating = "the database is being created"
	checkDecisions(t, map[string]decision{
		"the first is bound to no node": {want: provisioning(ProvideDatabase{Instance: 1}, creating)},
		"later ones are bound":          {seen: Observed{Records: records(1)}, want: provisioning(ProvideDatabase{Instance: 2, Node: "worker"}, creating)},
		"placement Any binds none":      {run: anywhere, seen: Observed{Records: records(1)}, want: provisioning(ProvideDatabase{Instance: 2}, creating)},
		"half a place binds none":       {seen: Observed{Records: unplaced}, want: provisioning(ProvideDatabase{Instance: 2}, creating)},
		"no Pod yet": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", withoutPod)}},
			want: after(provisioning(Wait{}, "the database's Pod is being created"), pollInterval),
		},
		"starting": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", starting)}}, want: after(provisioning(Wait{}, "the server is starting"), pollInterval),
		},
		"starting, soon too late": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", starting, func(i *Instance) { i.Set.CreationTimestamp = ago(298 * time.Second) })}},
			want: after(provisioning(Wait{}, "the server is starting"), 2*time.Second),
		},
		"the cluster warns": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", withoutPod, func(i *Instance) { i.Warning = "exceeded quota" })}},
			want: after(provisioning(Wait{}, "the database's Pod is being created: exceeded quota"), pollInterval),
		},
		"too late": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", starting, late)}},
			want: failsWith(v1alpha1.ReasonDatabaseNotStarted, "the database was not up within trials.startDeadlineSeconds (300): the server is starting"),
		},
		"refused": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", refused)}},
			want: failsWith(v1alpha1.ReasonServerConfigurationRejected, "the server reported: unknown variable 'x'"),
		},
		"refused, told rather than that it is late": {
			seen: Observed{Instances: []Instance{instanceOf(1, "u", refused, late)}},
			want: failsWith(v1alpha1.ReasonServerConfigurationRejected, "the server reported: unknown variable 'x'"),
		},
		"up in time, asked later":            {seen: Observed{Instances: []Instance{instanceOf(1, "u", late)}}, want: startOf(1, 1, "")},
		"up":                                 {seen: Observed{Instances: []Instance{instanceOf(1, "u")}}, want: startOf(1, 1, "")},
		"up, later loaders are bound":        {seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod")}}, want: startOf(2, 1, "worker2")},
		"up, placement Any binds no loaders": {run: anywhere, seen: Observed{Records: records(1), Instances: []Instance{instanceOf(1, "db-pod")}}, want: startOf(2, 1, "")},
	})
}

// The nodes are those of the first attempt that ran anywhere, whatever became of it.
func TestBoundNodes(t *testing.T) {
	list := records(1, 2, 3)
	list[0].Place = result.Place{DatabaseNode: "a"}
	list[1].Place, list[1].Outcome = result.Place{DatabaseNode: "b", LoaderNode: "c"}, result.OutcomeInvalidated
	for name, tc := range map[string]struct {
		records []*result.Record
		want    result.Place
	}{
		"nothing":    {nil, result.Place{}},
		"an attempt": {list, result.Place{DatabaseNode: "b", LoaderNode: "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := (&situation{run: oneAxis(1, 1), seen: &Observed{Records: tc.records}}).boundPlace()
			must.Same(t, "place", tc.want, got)
		})
	}
}

// A variant with a loader of its own is bound to the nodes of its own first attempt: it may have more Pods.
func TestBoundLoaders(t *testing.T) {
	run := testutil.Pair()
	run.Spec.Variants[1].Loader = &v1alpha1.LoaderSpec{Pods: 2}
	p := must.Get(plan.New(run, v1alpha1.AlternateRuns))(t)
	nodes := [][]string{{"a"}, {"b", "c"}}
	var seen []*result.Record
	for i, next := range p.Trials[:4] {
		s := situation{run: run, plan: p, seen: &Observed{Records: seen}}
		s.next = &next
		side := next.Sides[0]
		want := nodes[side]
		if i < 2 { // nothing like it was measured before
			want = nil
		}
		must.Same(t, fmt.Sprintf("trial %d of %s", next.Number, p.Variants[side]), want, s.boundLoaders())
		r := testutil.Record(next.Number, 1, nil, 800)
		r.Place = result.Place{DatabaseNode: "db", LoaderNode: nodes[side][0]}
		if r.Place.LoaderNodes = nodes[side]; side == 0 {
			r.Place.LoaderNodes = nil
		}
		seen = append(seen, r)
	}
}

// An operator that was killed before it wrote that the run goes on trial by trial begins no further attempt in slices.
func TestBusyInPausesIsRemembered(t *testing.T) {
	run := testutil.Pair()
	run.Spec.Alternation = ""
	p := must.Get(plan.New(run, v1alpha1.AlternateSlices))(t)
	r := testutil.Record(1, 1, nil, 800)
	r.Outcome, r.Cause, r.Message = result.OutcomeInvalidated, result.CauseBusyInPauses, "b was busy"
	want := Decision{Action: Wait{}, Reason: v1alpha1.ReasonProvisioningDatabase, Message: "b was busy", After: time.Second}
	must.Same(t, "decision", want, Next(run, p, &Observed{Checked: true, Lane: held(run), Records: []*result.Record{r}}, now))
}

// Trial by trial, two variants need twice the trials: a run that would have too many goes on in slices.
func TestBusyInPausesOfManyTrials(t *testing.T) {
	run, busy := testutil.Pair(), []finding.Finding{finding.BusyWhileIdle(3)}
	run.Spec.Alternation = ""
	for repetitions, want := range map[int32]result.Outcome{1: result.OutcomeInvalidated, 100: result.OutcomeAccepted} {
		run.Spec.Trials.Repetitions, run.Spec.Rounds.AtMost = ptr.To(repetitions), 40
		a := &Attempt{Verdict: trial.Verdict{Outcome: result.OutcomeAccepted}}
		must.Same(t, "outcome", want, (&Observed{}).BusyInPauses(run, a, busy, 1).Outcome)
	}
}

// The attempt that makes the data that further servers begin with does not count: once for each variant, where servers are new, and
// where there is a copy.
func TestCopied(t *testing.T) {
	prepared := &result.Document{Tool: &result.ToolFacts{Data: result.DataPrepared}}
	before := testutil.Record(1, 1, nil, 800)
	before.Outcome, before.Cause = result.OutcomeInvalidated, result.CauseDataCopied
	single := oneAxis(1, 2)
	for name, tc := range map[string]struct {
		run  *v1alpha1.BenchmarkRun
		data v1alpha1.DataLifetime
		doc  *result.Document
		seen []*result.Record
		want result.Outcome
	}{
		"made":                {testutil.Pair(), v1alpha1.DataRestore, prepared, nil, result.OutcomeInvalidated},
		"made of the other":   {testutil.Pair(), v1alpha1.DataRestore, prepared, []*result.Record{before}, result.OutcomeInvalidated},
		"made again":          {testutil.Pair(), v1alpha1.DataRestore, prepared, []*result.Record{before, before}, result.OutcomeAccepted},
		"kept":                {testutil.Pair(), v1alpha1.DataKeep, prepared, nil, result.OutcomeAccepted},
		"one server for all":  {single, v1alpha1.DataRestore, prepared, nil, result.OutcomeAccepted},
		"made by no program":  {testutil.Pair(), v1alpha1.DataRestore, &result.Document{}, nil, result.OutcomeAccepted},
		"begun with":          {testutil.Pair(), v1alpha1.DataRestore, &result.Document{Tool: &result.ToolFacts{Data: result.DataKept}}, nil, result.OutcomeAccepted},
		"could not be copied": {testutil.Pair(), v1alpha1.DataRestore, &result.Document{Tool: prepared.Tool, Findings: []finding.Finding{finding.NotCopied("no")}}, nil, result.OutcomeAccepted},
	} {
		tc.run.Spec.Trials.Data = tc.data
		a := &Attempt{Verdict: trial.Verdict{Outcome: result.OutcomeAccepted}}
		must.Same(t, name, tc.want, (&Observed{Records: tc.seen}).Copied(tc.run, a, tc.doc).Outcome)
	}
}

// An instance is numbered once, also if it was removed before anything was measured.
func TestRemovedInstanceIsNotNumberedAgain(t *testing.T) {
	run := oneAxis(1, 2)
	run.Spec.Suspend = ptr.To(true)
	run.Status = statusOf(t, run, &Observed{Instances: []Instance{instanceOf(1, "db-pod")}}, now)
	if got := ptr.Deref(run.Status.RemovedInstances, 0); got != 1 {
		t.Fatalf("%d instances were removed, want 1", got)
	}
	run.Spec.Suspend = nil
	d := next(t, run, &Observed{}, now)
	must.Same(t, "decision", provisioning(ProvideDatabase{Instance: 2}, "the database is being created"), d)
}

// installed are the images of an installation of that release.
func installed(release string) podutil.Images {
	return podutil.Images{
		Loader: "registry.example.com/loader:" + release, Sysbench: "sysbench:" + release, Registry: "mirror",
		Databases: map[string]string{"MariaDB": "mariadb:" + release}, PullSecrets: []string{"of-" + release},
	}
}

// A run keeps the images that it was admitted with, whatever the operator is upgraded to. Who may pull them is no part of them.
func TestImagesArePinned(t *testing.T) {
	run := oneAxis(1, 2)
	status := statusOf(t, run, &Observed{Images: installed("1"), Lane: heldByOther}, now)
	must.Same(t, fmt.Sprintf("queued, it has pinned %+v", status.Images), v1alpha1.ImageName(""), status.Images.Loader)
	run.Status = statusOf(t, run, &Observed{Images: installed("1")}, now)
	upgraded := installed("2")
	upgraded.Registry = "other"
	images := ImagesOf(run.Status.Images, upgraded)
	want := podutil.Images{
		Loader: "registry.example.com/loader:1", Sysbench: "mirror/sysbench:1", Registry: "mirror",
		Databases:   map[string]string{"MariaDB": "mirror/mariadb:1", "MySQL": "mirror/mysql:8.4", "PostgreSQL": "mirror/postgres:17"},
		PullSecrets: []string{"of-2"},
	}
	must.Same(t, "images", want, images)
	must.Same(t, "pinned again", run.Status.Images, statusOf(t, run, &Observed{Images: images}, now).Images)
	if images := statusOf(t, run, &Observed{Blockers: Blockers{ObserveFailed: true}}, now).Images; !cmp.Equal(images, run.Status.Images) {
		t.Errorf("when nothing can be read: %+v", images)
	}
}

// From its first accepted attempt on, a run names its images by the digests that it ran, if nodes can pull them by these.
func TestImagesByDigest(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0", 64)
	for name, tc := range map[string]struct {
		image, loader, server string
		want                  []v1alpha1.ImageName // of the loader, of sysbench and of MariaDB
	}{
		"pulled": {
			loader: "registry.example.com/loader" + digest, server: "mirror/mariadb" + digest,
			want: []v1alpha1.ImageName{"registry.example.com/loader" + v1alpha1.ImageName(digest), "mirror/sysbench:1", "mirror/mariadb:1"},
		},
		"loaded":       {loader: "sha256:1", server: "docker.io/library/import-2026-01-02" + digest},
		"a user's own": {image: "mirror.example.com/mariadb:7", server: "mirror.example.com/mariadb" + digest},
	} {
		run := oneAxis(1, 2)
		run.Spec.Database.Image = tc.image
		seen := &Observed{Records: records(1), Images: installed("1")}
		seen.Records[0].Place.LoaderImage, seen.Records[0].Place.DatabaseImage = tc.loader, tc.server
		got := statusOf(t, run, seen, now).Images
		want := tc.want
		if want == nil {
			want = []v1alpha1.ImageName{"registry.example.com/loader:1", "mirror/sysbench:1", "mirror/mariadb:1"}
		}
		must.Same(t, name, want, []v1alpha1.ImageName{got.Loader, got.Sysbench, got.Databases["MariaDB"]})
	}
}

// An installation that has no loader with sysbench refuses runs of Sysbench at once, in one sentence, and no others.
func TestMissingLoaderIsRefusedAtOnce(t *testing.T) {
	for image, missing := range map[string]bool{
		"": true, "unset.invalid/loader-sysbench": true, "unset.invalid/loader-sysbench@sha256:1": true,
		"example.com/loader-sysbench:1": false, "localhost/benchrun/loader-sysbench:x": false,
	} {
		limits := &Limits{Images: podutil.Images{Loader: "loader", Sysbench: image}}
		run := oneAxis(1, 1)
		if f := limits.Refused(run); f != nil {
			t.Errorf("%q: a run that needs no sysbench is refused: %s", image, f.Message)
		}
		run.Spec.Workload = v1alpha1.WorkloadSpec{Type: v1alpha1.WorkloadSysbench, Sysbench: &v1alpha1.SysbenchWorkload{}}
		f := limits.Refused(run)
		must.Same(t, fmt.Sprintf("%q: %+v", image, f), missing, f != nil)
		if f != nil && (f.Reason != v1alpha1.ReasonInvalidSpecification || len(f.Message) > 250 || !strings.Contains(f.Message, "--sysbench-image")) {
			t.Errorf("%q: %+v", image, f)
		}
	}
}
